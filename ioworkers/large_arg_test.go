package ioworkers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/resp"
)

// readCommand reads msg in pieces until a command is complete.
func readCommand(t *testing.T, pool *Pool, c *Conn, peer int, msg []byte) {
	t.Helper()
	for len(msg) > 0 {
		n := min(len(msg), 30_000)
		send(t, peer, string(msg[:n]))
		msg = msg[n:]
		pool.Lend(c)
		for left := n; left > 0; {
			before := c.NetIn
			c.Read(nil)
			left -= int(c.NetIn - before)
		}
	}
}

func TestALargeArgumentCanKeepItsBuffer(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	want := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	readCommand(t, pool, c, peer, resp.AppendRequest(nil, []byte("ECHO"), want))
	arg := c.LargeArg()
	require.Len(t, arg, len(want))
	require.Same(t, &c.Next()[1][0], &arg[0])
	require.Nil(t, c.LargeArg(), "its command is executed")
	c.LeaveInput()
	require.Nil(t, c.Next())
	send(t, peer, "PING\r\n")
	require.Equal(t, []string{"PING"}, readAll(pool, c))
	require.True(t, bytes.Equal(want, arg))
}

func TestWhatFollowsALargeArgumentIsNotLost(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	want := bytes.Repeat([]byte("x"), 320_000)
	readCommand(t, pool, c, peer, resp.AppendRequest(nil, []byte("ECHO"), want))
	in := c.in
	in.buf = append(in.buf, "PI"...)
	require.NotNil(t, c.Next())
	c.LeaveInput()
	send(t, peer, "NG\r\n")
	require.Equal(t, []string{"PING"}, readAll(pool, c))
}

func TestAnArgumentThatIsSmallForItsBufferDoesNotKeepIt(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	half := bytes.Repeat([]byte("x"), 100_000)
	readCommand(t, pool, c, peer,
		resp.AppendRequest(nil, []byte("MSET"), half, half))
	require.Nil(t, c.LargeArg())
	require.Len(t, c.Next(), 3)
}

// The room of a value must not be that of the next command, which is copied out of it first.
func TestAnArgumentOfMegabytesHasRoomToGrow(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	want := bytes.Repeat([]byte("x"), 2<<20)
	readCommand(t, pool, c, peer, resp.AppendRequest(nil, []byte("ECHO"), want))
	c.in.buf = append(c.in.buf, "PI"...)
	arg := c.LargeArg()
	require.True(t, bytes.Equal(want, arg))
	require.GreaterOrEqual(t, cap(arg)-len(arg), len(arg)/64)
	require.NotNil(t, c.Next())
	c.LeaveInput()
	_ = append(arg, "grown"...)
	send(t, peer, "NG\r\n")
	require.Equal(t, []string{"PING"}, readAll(pool, c))
}

func TestAnInlineArgumentGetsNoRoom(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	want := bytes.Repeat([]byte("x"), 40_000)
	readCommand(t, pool, c, peer, fmt.Appendf(nil, "ECHO '%s'\r\n", want))
	if arg := c.LargeArg(); arg != nil {
		require.True(t, bytes.Equal(want, arg))
	}
	require.True(t, bytes.Equal(want, c.Next()[1]))
}

func TestTheMemoryOfAReplacedValueTakesTheNextLargeCommand(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	old := largeArgument(t, pool, c, peer, 'a')
	c.LeaveInput()
	largeArgument(t, pool, c, peer, 'b')
	c.LeaveInput()
	pool.Keep(old)
	next := largeArgument(t, pool, c, peer, 'c')
	require.Same(t, &old[:cap(old)][cap(old)-1], &next[:cap(next)][cap(next)-1])
	require.Empty(t, pool.large.inputs)
}

func TestThePoolKeepsOnlyMemoryForLargeCommands(t *testing.T) {
	pool := &Pool{}
	pool.Keep(nil)
	pool.Keep(make([]byte, largeArg-1))
	pool.Keep(make([]byte, maxLarge+1))
	require.Empty(t, pool.large.inputs)
	pool.Keep(make([]byte, maxLarge-largeArg))
	pool.Keep(make([]byte, largeArg))
	pool.Keep(make([]byte, largeArg))
	require.Len(t, pool.large.inputs, 2)
	require.Nil(t, pool.takeLarge(largeArg/2), "a small value would keep too much memory")
	require.Equal(t, largeArg, cap(pool.takeLarge(largeArg).buf))
	pool.Trim()
	pool.Trim()
	require.Empty(t, pool.large.inputs, "nobody has needed it")
	require.Zero(t, pool.large.mem)
	pool.Frugal = true
	pool.Keep(make([]byte, largeArg))
	require.Empty(t, pool.large.inputs)
}

// A client continues with small commands after a large one.
func TestSmallCommandsAfterALargeOneAllocateNothing(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	old := largeArgument(t, pool, c, peer, 'a')
	c.LeaveInput()
	pool.Keep(old)
	request := []byte("PING\r\n")
	ping := func() { // nothing of testify, which allocates
		pool.Lend(c)
		if _, err := unix.Write(peer, request); err != nil || cap(c.in.buf) <= largeArg {
			t.Fatal("not the large buffer", err)
		}
		c.Read(nil)
		if c.Next() == nil {
			t.Fatal("no command")
		}
		pool.Reclaim(c)
	}
	ping()
	require.Zero(t, testing.AllocsPerRun(100, ping))
	require.Len(t, pool.large.inputs, 1)
}

// largeArgument reads a command of 100,000 bytes and returns its argument.
func largeArgument(t *testing.T, pool *Pool, c *Conn, peer int, of byte) []byte {
	t.Helper()
	want := bytes.Repeat([]byte{of}, 100_000)
	readCommand(t, pool, c, peer, resp.AppendRequest(nil, []byte("ECHO"), want))
	arg := c.LargeArg()
	require.True(t, bytes.Equal(want, arg))
	require.NotNil(t, c.Next())
	return arg
}

func TestACommandBehindALargeOneIsReadAtOnce(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	large := string(resp.AppendRequest(nil, "ECHO", strings.Repeat("x", 20_000)))
	reads := func(msg string) (n int) {
		t.Helper()
		send(t, peer, msg)
		for c.NetIn = 0; c.NetIn < int64(len(msg)); n++ {
			pool.Lend(c)
			c.Read(nil)
		}
		for c.Next() != nil {
		}
		pool.Reclaim(c)
		return n
	}
	require.Equal(t, 2, reads(large), "nobody knows how long it will be")
	require.Equal(t, 1, reads(large))
	require.Equal(t, 1, reads("PING\r\n"))
	require.Equal(t, 2, reads(large), "the last command was small")
	reads(large + large)
	require.Equal(t, 2, reads(large), "the last commands came together")
}

func TestReplacedMemoryServesManyCommandsOfOneLength(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	msg := resp.AppendRequest(nil, "SET", "key:00000001", string(make([]byte, largeArg)))
	readCommand(t, pool, c, peer, msg)
	var replaced []byte
	ends := map[*byte]bool{} // of each memory
	for range 50 {
		arg := c.LargeArg()
		require.Len(t, arg, largeArg)
		require.NotNil(t, c.Next())
		c.LeaveInput()
		pool.Keep(replaced) // it belongs to the value before
		replaced = arg
		ends[&arg[:cap(arg)][cap(arg)-1]] = true
		readCommand(t, pool, c, peer, msg)
	}
	require.Len(t, ends, 2, "of a value and of the next command, in turns")
}
