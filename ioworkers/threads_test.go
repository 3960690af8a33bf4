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

// connections is several connections and the sockets of their clients.
type connections struct {
	conns []*Conn
	peers []int
}

func connect(t *testing.T, n int) *connections {
	k := &connections{}
	for range n {
		c, peer := pair(t)
		k.conns, k.peers = append(k.conns, c), append(k.peers, peer)
	}
	return k
}

// echo sends one request on each connection and answers it. It reports whether threads read, and
// whether they wrote.
func (k *connections) echo(t *testing.T, p *Pool) (reads, writes bool) {
	for i, c := range k.conns {
		send(t, k.peers[i], fmt.Sprintf("ECHO %d\r\n", i))
		p.Lend(c)
	}
	reads = p.Read(k.conns)
	for _, c := range k.conns {
		p.LendOutput(c)
		c.Out.Buf = append(append(append(c.Out.Buf, '+'), c.Next()[1]...), "\r\n"...)
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
			k := connect(t, n)
			for range 20 {
				reads, writes := k.echo(t, p)
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
		reads, writes := connect(t, n).echo(t, p)
		require.Equal(t, n >= 8, reads, n)
		require.Equal(t, n >= 8, writes, n)
		require.Equal(t, n >= 8, p.Active, n)
		require.Equal(t, n < 8, p.WorthWaiting(n), n)
		if n >= 8 {
			require.Equal(t, n >= 16, len(p.threads[1].conns) > 0, n)
		}
	}
	p.Write(nil)
	require.True(t, p.Active, "a pass without writes says nothing about the load")
}

func TestThreadsLeaveReadingAloneUnlessAskedTo(t *testing.T) {
	p := &Pool{}
	p.Start(2, false)
	defer p.Stop()
	reads, writes := connect(t, 8).echo(t, p)
	require.False(t, reads)
	require.True(t, writes)
	require.False(t, p.WorthWaiting(1), "threads do not read")
	p.Alone = true
	_, writes = connect(t, 8).echo(t, p)
	require.False(t, writes)
}

// ioThreads lists the I/O threads of this process by name, and their states as in ps: "S" sleeps.
func ioThreads(t *testing.T) (found []string, states string) {
	tasks, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, task := range tasks {
		stat, err := os.ReadFile("/proc/self/task/" + task.Name() + "/stat")
		if err != nil {
			continue // the thread has ended
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
	if runtime.GOOS != "linux" {
		t.Skip("it needs /proc, which Linux has")
	}
	p := &Pool{}
	p.Start(4, true)
	k := connect(t, 8)
	for range 10 {
		k.echo(t, p)
	}
	for states := ""; states != "S S S "; _, states = ioThreads(t) {
	}
	found, _ := ioThreads(t)
	require.ElementsMatch(t, []string{"io_thd_1", "io_thd_2", "io_thd_3"}, found)
	p.Stop()
	for ; len(found) > 0; found, _ = ioThreads(t) { // the kernel takes a moment
	}
	p.Stop() // does nothing
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
