package ioworkers

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// crowd is connections whose peers send and read.
type crowd struct {
	conns []*Conn
	peers []int
}

func newCrowd(t *testing.T, n int) *crowd {
	k := &crowd{}
	for range n {
		c, peer := pair(t)
		k.conns, k.peers = append(k.conns, c), append(k.peers, peer)
	}
	return k
}

// round has each connection echo one request.
func (k *crowd) round(t *testing.T, p *Pool) (reads, writes bool) {
	for i, c := range k.conns {
		send(t, k.peers[i], fmt.Sprintf("ECHO %d\r\n", i))
		p.Lend(c)
	}
	reads = p.Read(k.conns)
	for _, c := range k.conns {
		p.LendOutput(c)
		c.Out = append(append(append(c.Out, '+'), c.Next()[1]...), "\r\n"...)
		require.Nil(t, c.Next())
	}
	writes = p.Write(k.conns)
	buf := make([]byte, 100)
	for i, c := range k.conns {
		p.Reclaim(c)
		n, err := unix.Read(k.peers[i], buf)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("+%d\r\n", i), string(buf[:n]))
	}
	return reads, writes
}

func TestEveryConnectionIsReadAndWrittenOnce(t *testing.T) {
	for threads := 1; threads <= 5; threads++ {
		p := &Pool{}
		p.Eager()
		p.Start(threads, true)
		for n := 1; n <= 12; n++ {
			k := newCrowd(t, n)
			for range 20 {
				reads, writes := k.round(t, p)
				require.Equal(t, threads > 1, reads)
				require.Equal(t, threads > 1, writes)
			}
		}
		p.Stop()
	}
}

func TestAThreadIsWokenForEightConnections(t *testing.T) {
	p := &Pool{}
	p.Start(3, true)
	defer p.Stop()
	for n := range 30 {
		reads, writes := newCrowd(t, n).round(t, p)
		require.Equal(t, n >= 8, reads, n)
		require.Equal(t, n >= 8, writes, n)
		require.Equal(t, n >= 8, p.Active, n)
		require.Equal(t, n < 8, p.Hopes(n), n)
		if n >= 8 {
			require.Equal(t, n >= 16, len(p.threads[1].conns) > 0, n)
		}
	}
	p.Write(nil)
	require.True(t, p.Active, "nothing to write tells nothing of the load")
}

func TestThreadsLeaveReadingAloneUnlessAskedTo(t *testing.T) {
	p := &Pool{}
	p.Start(2, false)
	defer p.Stop()
	reads, writes := newCrowd(t, 8).round(t, p)
	require.False(t, reads)
	require.True(t, writes)
	require.False(t, p.Hopes(1), "nothing to wait for")
	p.Alone = true
	_, writes = newCrowd(t, 8).round(t, p)
	require.False(t, writes)
}

// names are the threads of this process that are I/O threads, and whether they run or
// sleep.
func names(t *testing.T) (found []string, states string) {
	tasks, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, task := range tasks {
		stat, err := os.ReadFile("/proc/self/task/" + task.Name() + "/stat")
		if err != nil {
			continue // gone meanwhile
		}
		_, rest, _ := strings.Cut(string(stat), "(")
		name, rest, _ := strings.Cut(rest, ") ")
		if fields := strings.Fields(rest); strings.HasPrefix(name, "io_thd_") {
			found = append(found, name)
			states += fields[0] + " "
		}
	}
	return found, states
}

func TestThreadsThatHaveNothingToDoSleepAndEndWhenTold(t *testing.T) {
	p := &Pool{}
	p.Start(4, true)
	k := newCrowd(t, 8)
	for range 10 {
		k.round(t, p)
	}
	for states := ""; states != "S S S "; _, states = names(t) {
	}
	found, _ := names(t)
	require.ElementsMatch(t, []string{"io_thd_1", "io_thd_2", "io_thd_3"}, found)
	p.Stop()
	for ; len(found) > 0; found, _ = names(t) { // the system takes a moment
	}
	p.Stop() // again, and harmless
}

func TestABellRungBeforeTheWaitIsNotLost(t *testing.T) {
	// Who is dedicated keeps its processor while it naps: with one for all, each ring would wait for the end of a nap.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 + runtime.NumCPU()))
	for _, dedicated := range []bool{false, true} {
		var b, here, there bell
		b.ring()
		b.wait(dedicated)
		require.Equal(t, uint32(quiet), b.state.Load())
		go func() {
			for range 10_000 {
				there.wait(false)
				here.ring()
			}
		}()
		for range 10_000 {
			there.ring()
			here.wait(dedicated)
		}
	}
}

func TestSharingOutDoesNotAllocate(t *testing.T) {
	p := &Pool{}
	p.Start(3, true)
	defer p.Stop()
	var conns []*Conn
	for range 9 {
		c, _ := pair(t)
		p.Lend(c)
		conns = append(conns, c)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { require.True(t, p.Read(conns)) }))
}
