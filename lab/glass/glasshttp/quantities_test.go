package glasshttp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/browser"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
)

// withoutStops returns a recording without its snapshots. The event of a stop has a line of its own before.
func withoutStops(r *glass.Recording) *glass.Recording {
	lines := slices.DeleteFunc(slices.Clone(r.Lines), func(m glass.Message) bool { return m.Kind == glass.KindStop })
	return &glass.Recording{Hello: r.Hello, Lines: lines}
}

func written(t *testing.T, r *glass.Recording) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteLines(&b))
	return b.String()
}

// numbered is what the page says of each event, in English: [[number of the event, sentence], ...].
const numbered = `(async (recordings) => {
	const [store, narrate, i18n] = await Promise.all(["store", "narrate", "i18n"].map(m => import("/" + m + ".js")))
	i18n.setLang("en")
	const plain = words => narrate.parts(words).map(p => p.code || p.client ? "" : p.text).join("")
	return recordings.map(text => {
		store.load(text)
		return store.frames.map(f => ({ seq: f.e.seq, words: plain(narrate.sentence(f, store.hello)) }))
	})
})`

// requireTrueQuantities compares each number in a sentence with the event that the sentence is about, and with the
// events before it. The page's own idea of the server's state has no part in this.
func requireTrueQuantities(t *testing.T, p *browser.Page, names, recordings []string) {
	t.Helper()
	text, err := json.Marshal(recordings)
	require.NoError(t, err)
	var told [][]struct {
		Seq   int64
		Words string
	}
	p.Eval(numbered+"("+string(text)+")", &told)
	for i, recording := range recordings {
		truths := quantities(t, recording)
		require.NotEmpty(t, told[i], names[i])
		for _, sentence := range told[i] {
			truth := truths[sentence.Seq]
			require.Contains(t, sentence.Words, truth.says, "%s: event %d", names[i], sentence.Seq)
			for _, n := range numbers(sentence.Words) {
				require.Contains(t, truth.may, n, "%s: event %d: %s", names[i], sentence.Seq, sentence.Words)
			}
		}
	}
}

// numbers returns the quantities that a sentence names. Names of calls, threads and addresses have numbers as well.
func numbers(words string) (all []string) {
	words = regexp.MustCompile(`\w+\(2\)|io_\d+|\d+\.\d+\.\d+\.\d+:\d+|replica \d+|[\d.]+ (µs|ms|s) for more`).
		ReplaceAllString(words, "")
	for _, n := range regexp.MustCompile(`\d[\d,]*`).FindAllString(words, -1) {
		all = append(all, strings.ReplaceAll(strings.TrimRight(n, ","), ",", ""))
	}
	return all
}

// truth is what is so of an event.
type truth struct {
	may  []string // the quantities that may be named
	says string   // what has to be said
}

// history is what the events so far add up to.
type history struct {
	fired       int
	unread      map[string]bool  // descriptors that a handler has noted, and nobody has read yet
	descriptors map[int64]string // of the clients
}

// quantities returns what is so of each event: its own quantities, and what the events before it add up to.
func quantities(t *testing.T, recording string) map[int64]truth {
	t.Helper()
	truths := map[int64]truth{}
	h := history{unread: map[string]bool{}, descriptors: map[int64]string{}}
	for _, line := range strings.Split(strings.TrimSpace(recording), "\n")[1:] {
		var stop struct {
			Stop struct{ Event json.RawMessage }
		}
		if json.Unmarshal([]byte(line), &stop) == nil {
			line = string(stop.Stop.Event)
		}
		var e trace.Event
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if truths[e.Seq].may != nil { // a stop comes behind its event
			continue
		}
		truths[e.Seq] = h.meet(&e)
	}
	return truths
}

// meet returns what is so of the next event.
func (h *history) meet(e *trace.Event) truth {
	says, may := "", []string{fmt.Sprint(e.A), fmt.Sprint(e.B)}
	switch e.Point {
	case trace.Woke:
		h.fired = int(e.A)
		clear(h.unread)
		may = append(may, figures(e.Text, "looked")...)
	case trace.Handler:
		may = []string{fmt.Sprint(e.A + 1), fmt.Sprint(h.fired)}
		if h.unread[fmt.Sprint(e.B)] {
			says = "already"
		}
		if e.Text == "read" {
			h.descriptors[e.Client] = fmt.Sprint(e.B)
			h.unread[fmt.Sprint(e.B)] = true
		}
	case trace.LooksAgain:
		list := regexp.MustCompile(`\d+`).FindAllString(e.Text, -1)
		h.fired = len(list)
		old := len(slices.DeleteFunc(slices.Clone(list), func(fd string) bool { return !h.unread[fd] }))
		may = []string{fmt.Sprint(len(list))}
		if fresh := len(list) - old; e.B == trace.ByGather {
			may, says = append(may, fmt.Sprint(fresh)), fmt.Sprintf("once more: %d ", fresh)
			if fresh == 0 {
				says = "nothing new is ready"
			}
		}
	case trace.Gathered, trace.Lent:
		if e.A < 8 { // ioworkers/threads.go: perThread
			says = map[trace.Point]string{trace.Gathered: "too few", trace.Lent: "otherwise it takes eight"}[e.Point]
		}
	case trace.ReadDone:
		delete(h.unread, h.descriptors[e.Client])
	case trace.Parsed:
		may = append(may, lacking(e.Text))
	case trace.Asleep:
		may = append(may, figures(e.Text, "inside", "waited")...)
	case trace.Replicated:
		may = append(may, e.Text)
	}
	return truth{may, says}
}

// What the page says must not depend on whether it has seen snapshots, or events alone.
func TestSnapshotsChangeNoSentence(t *testing.T) {
	names := []string{"pipeline of three", "two clients in one pass", "gather finds more", "gather finds nothing new",
		"transaction in one packet, with a script", "blocked list, served"}
	var both [2][]string
	for _, s := range situations() {
		if !slices.Contains(names, s.name) {
			continue
		}
		before := s.before
		s.before = func(p *player) {
			if before != nil {
				before(p)
			}
			p.view().Slow(time.Microsecond) // so that there is a snapshot at each point
		}
		r := s.tape(t)
		both[0] = append(both[0], written(t, r))
		both[1] = append(both[1], written(t, withoutStops(r)))
	}
	require.Greater(t, len(both[0]), len(names), "some have several multiplexers")
	p := chromium.Start(t)
	start(t).open(p, "replay", "en")
	var told [2][][]string
	for i := range both {
		text, err := json.Marshal(both[i])
		require.NoError(t, err)
		p.Eval(tell+"("+string(text)+", 'en')", &told[i])
		for j, lines := range told[i] { // a recording may begin in the middle of a pass, of which only a snapshot knows
			told[i][j] = lines[slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "w ") }):]
		}
	}
	require.Equal(t, told[1], told[0])
	require.Empty(t, p.Problems())
}

// figures returns the values of some names in the text of an event: "looked=12".
func figures(text string, names ...string) (all []string) {
	for _, name := range names {
		if m := regexp.MustCompile(`\b` + name + `=(\d+)`).FindStringSubmatch(text); m != nil {
			all = append(all, m[1])
		}
	}
	return all
}

// lacking returns how many bytes the last length in an incomplete command still promises.
func lacking(partial string) string {
	m := regexp.MustCompile(`(?s)^.*\$(\d+)(.*?)_?$`).FindStringSubmatch(partial)
	if m == nil {
		return "0"
	}
	promised, err := strconv.Atoi(m[1])
	if err != nil {
		return "0"
	}
	return fmt.Sprint(promised - len(strings.TrimSpace(m[2])))
}
