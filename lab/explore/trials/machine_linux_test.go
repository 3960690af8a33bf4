package trials

import (
	"os"
	"path/filepath"
	"runtime"
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
		d := &driver{Options: o, explorer: explore.New(o.Options), began: time.Now()}
		require.NoError(t, d.findJobs(t.Context(), explore.Trial{}))
		require.Equal(t, jobs, d.Jobs, name)
	}
}

// Two programs want one processor. The one that waits for it does not lose its time.
func TestTheTimeWithoutAProcessorIsMeasured(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("this system does not count how long a thread waits for a processor:", err)
	}
	d := &driver{Options: options(t, "spins")}
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
	redistest.Until(t, func() bool { return all[0].took()+all[1].took() > time.Millisecond })
	p, err := d.start([]string{"/bin/sh", "-c", "read line"}, nil)
	require.NoError(t, err)
	require.NoError(t, d.end(p))
	require.Zero(t, standstillOf(p).took(), "it has ended")
}
