package ioworkers

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
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
	readCommand(t, pool, c, peer, fmt.Appendf(nil, "*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", len(want), want))
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
	readCommand(t, pool, c, peer, fmt.Appendf(nil, "*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", len(want), want))
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
		fmt.Appendf(nil, "*3\r\n$4\r\nMSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(half), half, len(half), half))
	require.Nil(t, c.LargeArg())
	require.Len(t, c.Next(), 3)
}

// The room of a value must not be that of the next command, which is copied out of it first.
func TestAnArgumentOfMegabytesHasRoomToGrow(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	want := bytes.Repeat([]byte("x"), 2<<20)
	readCommand(t, pool, c, peer, fmt.Appendf(nil, "*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", len(want), want))
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
