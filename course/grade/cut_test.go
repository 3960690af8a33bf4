package grade

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
)

// The student's program takes a lost reply for a no. Its recording begins where the lab's rule throws the reply away,
// and the grader's own questions are not in it.
func TestARecordingBeginsWhereTheRuleStrikes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gradeOf(t, "L08", "again", func(o *Options) { o.Recordings, o.Opener = dir, "miniredisd watch" })
	f, err := os.Open(filepath.Join(dir, "L08-3.loop.gz"))
	require.NoError(t, err)
	defer f.Close()
	r, err := glass.ReadRecording(f)
	require.NoError(t, err)
	first, passes, strikes := eventOf(r.Lines[0]), map[int64]bool{}, 0
	for _, m := range r.Lines {
		e := eventOf(m)
		passes[e.Pass] = passes[e.Pass] || e.Client > 0
		if e.Point == trace.Struck && m.Kind == glass.KindEvent {
			strikes++
			require.Equal(t, first.Pass, e.Pass)
			require.Contains(t, e.Text, "lost DROP-REPLY +OK")
		}
		require.NotRegexp(t, "^(LAB FAULT|TYPE|GET lock)", e.Text)
	}
	require.Equal(t, 1, strikes)
	for pass, clients := range passes {
		require.True(t, clients, "pass %d is the grader's own", pass)
	}
}

func eventOf(m glass.Message) *trace.Event {
	if m.Kind == glass.KindStop {
		return &m.Stop.Event
	}
	return &m.Events[0]
}
