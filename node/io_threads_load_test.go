package node_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// part is one client of a load. In each round all parts send, and then all parts check their
// replies.
type part struct {
	send, check func(round int)
}

// load returns one client for each case that a thread could handle wrongly. Each client sends its
// own name and must be the only one to get it back.
func load(t *testing.T, addr string, id int) []part {
	name := strconv.Itoa(id)
	dial := func() *redistest.Conn { return redistest.Dial(t, addr) }
	send := func(c *redistest.Conn, args ...string) {
		require.NoError(t, c.Send(resp.AppendRequest(nil, args...)))
	}
	ignore := func(int) {}

	counter, big, script, waiter, giver := dial(), dial(), dial(), dial(), dial()
	slow, listener, speaker, monitor, held := dial(), dial(), dial(), dial(), dial()
	var leaver, vandal, victim *redistest.Conn
	listener.Do("SUBSCRIBE", "channel"+name)
	value := func(round int) string { return strings.Repeat(fmt.Sprint(id, "-", round, " "), 20_000) }
	return []part{
		{func(round int) {
			for range 20 {
				send(counter, "INCR", "n"+name)
			}
		}, func(round int) {
			for i := range 20 {
				require.Equal(t, int64(20*round+i+1), counter.Read().Int)
			}
		}},
		{func(round int) {
			set := resp.AppendRequest(nil, "SET", "big"+name, value(round))
			go big.Send(resp.AppendRequest(set, "GET", "big"+name))
		}, func(round int) {
			require.Equal(t, "OK", big.Read().Str)
			require.Equal(t, value(round), big.Read().Str)
		}},
		{func(round int) {
			send(script, "EVAL", "return {redis.call('INCR', KEYS[1]), ARGV[1]}", "1", "s"+name, value(0)[:100])
		}, func(round int) {
			reply := script.Read().Elems
			require.Equal(t, int64(round+1), reply[0].Int)
			require.Equal(t, value(0)[:100], reply[1].Str)
		}},
		{func(round int) {
			send(waiter, "BLPOP", "list"+name, "0")
			send(waiter, "ECHO", "behind")
		}, ignore},
		{func(round int) { send(giver, "RPUSH", "list"+name, fmt.Sprint(round)) }, func(round int) {
			require.Equal(t, int64(1), giver.Read().Int)
			require.Equal(t, fmt.Sprint(round), waiter.Read().Elems[1].Str)
			require.Equal(t, "behind", waiter.Read().Str)
		}},
		{func(round int) {
			for _, b := range resp.AppendRequest(nil, "ECHO", "slow"+name) {
				require.NoError(t, slow.Send([]byte{b}))
			}
		}, func(int) { require.Equal(t, "slow"+name, slow.Read().Str) }},
		{func(round int) { send(speaker, "PUBLISH", "channel"+name, fmt.Sprint(round)) }, func(round int) {
			require.Equal(t, int64(1), speaker.Read().Int)
			require.Equal(t, fmt.Sprint(round), listener.Read().Elems[2].Str)
		}},
		{func(round int) { // output without a request, until RESET
			send(monitor, "MONITOR")
			send(monitor, "RESET")
		}, func(int) {
			require.Equal(t, "OK", monitor.Read().Str)
			for line := ""; line != "RESET"; line = monitor.Read().Str {
			}
		}},
		{func(round int) {
			send(held, "CLIENT", "PAUSE", "1000", "WRITE")
			send(held, "CLIENT", "UNPAUSE")
		}, func(int) {
			require.Equal(t, "OK", held.Read().Str)
			require.Equal(t, "OK", held.Read().Str)
		}},
		{func(round int) {
			leaver = dial()
			send(leaver, "ECHO", "last")
			send(leaver, "QUIT")
			send(leaver, "ECHO", "never")
		}, func(int) {
			require.Equal(t, "last", leaver.Read().Str)
			require.Equal(t, "OK", leaver.Read().Str)
			requireClosed(t, leaver)
		}},
		{func(round int) {
			vandal = dial()
			require.NoError(t, vandal.Send([]byte("PING\r\n*1\r\n$-2\r\nPING\r\n")))
		}, func(int) {
			require.Equal(t, "PONG", vandal.Read().Str)
			require.Equal(t, "ERR Protocol error: invalid bulk length", vandal.Read().Str)
			requireClosed(t, vandal)
		}},
		{func(round int) { // killed while the server reads, executes or writes
			victim = dial()
			send(victim, "GET", "big"+name)
			send(counter, "CLIENT", "KILL", "ADDR", victim.Net.LocalAddr().String(), "SKIPME", "yes")
		}, func(int) {
			counter.Read() // 0 if the server has not accepted it yet
			victim.Close()
		}},
	}
}

// This test matters most under the race detector.
func TestThreadsServeABusyMixOfClients(t *testing.T) {
	t.Parallel()
	for _, eager := range []bool{true, false} {
		addr := startThreads(t, eager, "--io-threads-do-reads", "yes")
		observer := redistest.Dial(t, addr)
		var parts []part
		for id := range 4 {
			parts = append(parts, load(t, addr, id)...)
		}
		unused := func(counter string) bool { return infoField(observer, counter) == "0" }
		idle := func() bool { return unused("io_threaded_reads_processed") || unused("io_threaded_writes_processed") }
		for round := 0; round < amount.Count(10, 30) || idle(); round++ {
			for _, p := range parts {
				p.send(round)
			}
			for _, p := range parts {
				p.check(round)
			}
		}
		waitForField(observer, "connected_clients", strconv.Itoa(4*10+1))
	}
}
