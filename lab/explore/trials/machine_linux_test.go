package trials

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/explore"
)

func TestAProgramThatNeedsToBeAloneIsAlone(t *testing.T) {
	t.Setenv("ALONE", filepath.Join(t.TempDir(), "alone"))
	for name, jobs := range map[string]int{"alone": 1, "in-turn": runtime.NumCPU()} {
		o := options(t, name)
		o.Finds = true
		d := newDriver(o)
		d.explorer = explore.New(o.Options)
		require.NoError(t, d.findJobs(t.Context(), explore.Trial{}))
		require.Equal(t, jobs, d.Jobs, name)
	}
}

// Two programs want one processor. The one that waits for it does not lose its time.
func TestTheTimeWithoutAProcessorIsMeasured(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("this system does not count how long a thread waits for a processor:", err)
	}
	d := newDriver(options(t, "spins"))
	var all []*standstill
	for range 2 {
		p, err := d.start(d.Program, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.end(p)) })
		var cpu unix.CPUSet
		cpu.Set(0)
		require.NoError(t, unix.SchedSetaffinity(p.cmd.Process.Pid, &cpu))
		all = append(all, standstillOf(p))
	}
	redistest.Until(t, func() bool { return all[0].took().still+all[1].took().still > time.Millisecond })
	p, err := d.start(options(t, "waits").Program, nil)
	require.NoError(t, err)
	require.NoError(t, d.end(p))
	require.Zero(t, standstillOf(p).took(), "it has ended")
}

func TestAProgramThatWaitsWantsNoProcessor(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("this system does not count what a thread does:", err)
	}
	waits := options(t, "waits").Program
	for name, c := range map[string]struct {
		words []string
		wants bool
	}{
		"it spins":                   {options(t, "spins").Program, true},
		"its children, soon over":    {[]string{"/bin/sh", "-c", "while :; do /bin/true; done"}, true},
		"it waits for a child":       {[]string{"/bin/sh", "-c", strings.Join(waits, " ") + "; true"}, false},
		"it has begun, and it waits": {waits, false},
	} {
		d := newDriver(options(t, "spins"))
		p, err := d.start(c.words, nil)
		require.NoError(t, err, name)
		t.Cleanup(func() { require.NoError(t, d.end(p)) })
		s := standstillOf(p)
		redistest.Until(t, func() bool {
			u := s.took()
			return u.known && (u.wanted > 0) == c.wants
		})
	}
}

func TestTheChildrenThatHaveEndedCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stat")
	write := func(user, system string) {
		text := "7 (a ) b) S 1 7 7 0 -1 4 1 2 3 4 10 11 " + user + " " + system + " 20 0 1 0 99\n"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	s := &standstill{before: map[string]time.Duration{}}
	write("3", "4")
	require.Equal(t, 70*time.Millisecond, s.ofChildren(path))
	write("5", "4")
	require.Equal(t, 20*time.Millisecond, s.ofChildren(path))
	require.NoError(t, os.Remove(path))
	require.Zero(t, s.ofChildren(path))
}

func TestALateLookCountsForAFewSteps(t *testing.T) {
	const step = 20 * time.Millisecond
	require.Equal(t, step, use{}.had(time.Second, step), "the system does not tell")
	require.Equal(t, 25*time.Millisecond, use{known: true}.had(25*time.Millisecond, step))
	require.Equal(t, 15*time.Millisecond, use{still: 10 * time.Millisecond, known: true}.had(25*time.Millisecond, step))
	require.Equal(t, 3*step, use{known: true}.had(time.Second, step))
	require.Zero(t, use{still: time.Second, known: true}.had(time.Second, step))
}
