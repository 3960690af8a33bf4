package stage

import (
	"strings"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
)

// Decisive returns the lines of a failed test that a student should see. They begin with the pass in which a rule of
// the lab struck last: what came before was right. The grader's own passes are left out, unless they move the clock,
// end the server or let a client go on: the story needs these.
func Decisive(lines []glass.Message) (kept []glass.Message) {
	first := int64(0)
	shown := map[int64]bool{} // by pass
	for _, m := range lines {
		e := eventOf(m)
		if e.Point == trace.Struck {
			first = e.Pass
		}
		shown[e.Pass] = shown[e.Pass] || e.Client > 0 || e.Point == trace.Expired || movesStory(e)
	}
	for _, m := range lines {
		if e := eventOf(m); e.Pass >= first && shown[e.Pass] {
			kept = append(kept, m)
		}
	}
	return kept
}

// eventOf returns the event of a line.
func eventOf(m glass.Message) *trace.Event {
	if m.Kind == glass.KindStop {
		return &m.Stop.Event
	}
	return &m.Events[0]
}

func movesStory(e *trace.Event) bool {
	if e.Point != trace.Executes || e.Client >= 0 {
		return false
	}
	for _, verb := range []string{"LAB CLOCK ", "LAB ALL CLOCK ", "LAB CRASH", "LAB HOLD RELEASE "} {
		if strings.HasPrefix(e.Text, verb) {
			return true
		}
	}
	return false
}
