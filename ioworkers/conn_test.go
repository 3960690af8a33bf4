package ioworkers

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/resp"
)

func pair(t *testing.T) (c *Conn, peer int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	require.NoError(t, errors.Join(unix.SetNonblock(fds[0], true), unix.SetNonblock(fds[1], true)))
	t.Cleanup(func() {
		_ = unix.Close(fds[0])
		_ = unix.Close(fds[1])
	})
	return &Conn{FD: fds[0]}, fds[1]
}

func send(t *testing.T, fd int, s string) {
	t.Helper()
	n, err := unix.Write(fd, []byte(s))
	require.NoError(t, err)
	require.Equal(t, len(s), n)
}

func readAll(pool *Pool, c *Conn) (commands []string) {
	pool.Lend(c)
	pool.Read([]*Conn{c})
	for args := c.Next(); args != nil; args = c.Next() {
		commands = append(commands, string(bytes.Join(args, []byte(" "))))
	}
	pool.Reclaim(c)
	return commands
}

func TestACommandMayArriveInPieces(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	send(t, peer, "PING\r\n*2\r\n$4\r\nEC")
	require.Equal(t, []string{"PING"}, readAll(pool, c))
	send(t, peer, "HO\r\n$2\r\nhi\r\n*1\r\n$4\r\nPING\r\n")
	require.Equal(t, []string{"ECHO hi", "PING"}, readAll(pool, c))
	require.Nil(t, c.in, "an idle connection holds no input buffer")
	require.Len(t, pool.inputs, 1)
}

func TestALargeArgumentGrowsTheBufferAndGivesItBack(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	want := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	msg := resp.AppendRequest(nil, []byte("ECHO"), want)
	var got []string
	for len(msg) > 0 || len(got) == 0 {
		if n, err := unix.Write(peer, msg); err == nil {
			msg = msg[n:]
		}
		got = append(got, readAll(pool, c)...)
	}
	require.Equal(t, []string{"ECHO " + string(want)}, got)
	require.Empty(t, pool.inputs, "a buffer that had to grow is not kept")
}

func TestAClientWithManyCommandsIsReadAChunkAtATime(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	commands := bytes.Repeat(resp.AppendRequest(nil, "ECHO", fmt.Sprintf("%500d", 1)), 10_000)
	for len(commands) > readChunk {
		if n, err := unix.Write(peer, commands); err == nil {
			commands = commands[n:]
		}
		pool.Lend(c)
		before := c.NetIn
		c.Read(nil)
		require.LessOrEqual(t, c.NetIn-before, int64(readChunk))
		for c.Next() != nil {
		}
		pool.Reclaim(c)
	}
	if c.in != nil {
		require.LessOrEqual(t, cap(c.in.buf), 4*readChunk)
	}
}

func TestAPipelineOfLargeCommandsKeepsItsBuffer(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	one := resp.AppendRequest(nil, "ECHO", fmt.Sprintf("%16384d", 1))
	commands := bytes.Repeat(one, 200)
	for left := commands; len(left) > 0; {
		if n, err := unix.Write(peer, left); err == nil {
			left = left[n:]
		}
		for range readAll(pool, c) {
			commands = commands[len(one):]
		}
		if c.in != nil {
			require.LessOrEqual(t, cap(c.in.buf), mostChunk)
		}
	}
	for len(commands) > 0 {
		for range readAll(pool, c) {
			commands = commands[len(one):]
		}
	}
	require.Nil(t, c.in)
	require.Len(t, pool.inputs, 1)
	require.Equal(t, mostChunk, cap(pool.inputs[0].buf))
}

func TestUnreadKeepsACommandForLater(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	send(t, peer, "GET a\r\nGET b\r\n")
	pool.Lend(c)
	c.Read(nil)
	require.Equal(t, "a", string(c.Next()[1]))
	require.Equal(t, "b", string(c.Next()[1]))
	c.Unread()
	pool.Reclaim(c)
	require.Equal(t, "b", string(c.Next()[1]))
	require.Nil(t, c.Next())
}

func TestWriteStopsAtItsLimitAndGoesOn(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	want := bytes.Repeat([]byte("x"), writeLimit+1000)
	c.Out.Buf = append(c.Out.Buf, want...)
	pool.Write([]*Conn{c})
	require.Equal(t, 1000, c.Unsent())
	var got []byte
	buf := make([]byte, 1<<20)
	for len(got) < len(want) {
		n, err := unix.Read(peer, buf)
		require.NoError(t, err)
		got = append(got, buf[:n]...)
		pool.Write([]*Conn{c})
	}
	require.Zero(t, c.Unsent())
	require.Equal(t, int64(len(want)), c.NetOut)
}

func TestWritingToAClosedPeerLosesTheConnection(t *testing.T) {
	c, peer := pair(t)
	require.NoError(t, unix.Shutdown(peer, unix.SHUT_RDWR))
	c.Out.Buf = []byte("+OK\r\n")
	c.Write(nil)
	require.True(t, c.Lost)
}

func TestTheEndOfInputIsNoted(t *testing.T) {
	c, peer := pair(t)
	send(t, peer, "PING\r\n")
	require.NoError(t, unix.Shutdown(peer, unix.SHUT_WR))
	pool := &Pool{}
	require.Equal(t, []string{"PING"}, readAll(pool, c))
	readAll(pool, c)
	require.True(t, c.EOF)
}

func TestReadingAndWritingDoNotAllocate(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	conns := []*Conn{c}
	request := resp.AppendRequest(nil, "SET", "k", "v")
	buf := make([]byte, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = unix.Write(peer, request)
		pool.Lend(c)
		pool.Read(conns)
		pool.LendOutput(c)
		for c.Next() != nil {
			c.Out.Buf = append(c.Out.Buf, "+OK\r\n"...)
		}
		pool.Write(conns)
		pool.Reclaim(c)
		_, _ = unix.Read(peer, buf)
	}))
}

// An announced length reserves no memory until the client has sent a fair part of the command.
func TestRoomIsMadeForAllOfACommandOnceMuchOfItIsThere(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	send(t, peer, "PING\r\n*2\r\n$4\r\nECHO\r\n$100000000\r\n")
	readAll(pool, c)
	sent := 0
	piece := bytes.Repeat([]byte("x"), readChunk)
	for ; cap(c.in.buf) < 100_000_000; sent += len(piece) {
		require.LessOrEqual(t, cap(c.in.buf), 2*(sent+readChunk))
		require.LessOrEqual(t, sent, 2*100_000_000/trusted)
		send(t, peer, string(piece))
		readAll(pool, c)
	}
	room := cap(c.in.buf)
	require.Less(t, room, 102_000_000)
	for want := 100_000_000; sent < want; sent += len(piece) {
		send(t, peer, string(piece[:min(len(piece), want-sent)]))
		readAll(pool, c)
	}
	require.Equal(t, room, cap(c.in.buf))
	send(t, peer, "\r\n")
	require.Len(t, readAll(pool, c), 1)
}
