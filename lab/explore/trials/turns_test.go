package trials

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// underWay returns a trial that the loop has begun.
func underWay(d *driver, id int) *trial {
	d.enter(id)
	t := explore.Trial{ID: id, Kind: explore.Single, Usual: time.Second}
	return &trial{driver: d, Trial: t, program: &program{over: make(chan struct{})}}
}

func TestATrialThatWantsNoProcessorLeavesItsPlace(t *testing.T) {
	d := newDriver(Options{Jobs: 2})
	first, second := underWay(d, 1), underWay(d, 2)
	require.Equal(t, 2, d.working(), "a trial that begins wants one")
	first.note(use{wanted: time.Millisecond, known: true}, 50*time.Millisecond, 50*time.Millisecond)
	require.Equal(t, 1, d.working())
	require.Len(t, d.turns, 1, "the loop looks again")
	first.note(use{wanted: 40 * time.Millisecond, known: true}, 50*time.Millisecond, time.Hour)
	require.Equal(t, 2, d.working(), "it goes on, however long it has taken")
	first.note(use{known: true}, 50*time.Millisecond, time.Hour)
	close(first.program.over)
	first.note(use{known: true}, 50*time.Millisecond, time.Hour)
	require.Equal(t, 2, d.working(), "the judge works")
	d.leave(1)
	first.note(use{wanted: time.Second, known: true}, time.Second, time.Hour)
	require.Equal(t, 1, d.working(), "what comes late does not count")
	d.leave(2)
	second.note(use{}, time.Second, time.Hour)
	require.Zero(t, d.working())
}

func TestATrialWithoutFiguresOfTheSystemWaitsWhenItTakesLong(t *testing.T) {
	d := newDriver(Options{Jobs: 2})
	only := underWay(d, 1)
	only.note(use{}, time.Second, time.Second)
	require.Equal(t, 1, d.working())
	only.note(use{}, time.Second, 2*time.Second)
	require.Zero(t, d.working())
}

func TestABaselineKeepsItsPlace(t *testing.T) {
	d := newDriver(Options{Jobs: 2})
	first := underWay(d, 1)
	first.Kind = explore.Baseline
	first.note(use{known: true}, time.Second, time.Hour)
	require.Equal(t, 1, d.working())
	require.Empty(t, d.turns, "the loop would look whether the time is over, and no run has ended yet")
}

func TestMoreTrialsWaitWhereThereIsMemory(t *testing.T) {
	for jobs, most := range map[int][]int{1: {1, 1}, 2: {8, 32}, 64: {256, 256}} {
		want := most[0]
		if hasMemory() {
			want = most[1]
		}
		require.Equal(t, want, newDriver(Options{Jobs: jobs}).most(), "%d jobs", jobs)
	}
}
