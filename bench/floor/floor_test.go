//go:build linux

package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestAChunkGetsAReplyForEachOfItsRequests(t *testing.T) {
	r := newReplies("+OK\r\n")
	ping := "*1\r\n$4\r\nPING\r\n"
	require.Len(t, ping, shortest)
	for _, n := range []int{1, 16, inputSize / shortest} {
		require.Equal(t, strings.Repeat("+OK\r\n", n), string(r.to([]byte(strings.Repeat(ping, n)))))
	}
	require.Equal(t, "+PONG\r\n", string(r.to([]byte("PING\r\n"))))
}

func TestWrongArgumentsAreNamed(t *testing.T) {
	require.ErrorContains(t, run([]string{"127.0.0.1:0"}), "want an address and a reply")
	require.ErrorContains(t, run([]string{"nowhere", "+OK\r\n"}), "nowhere")
	require.ErrorContains(t, run([]string{"-by", "magic", "127.0.0.1:0", "+OK\r\n"}), "magic")
	require.Error(t, run([]string{"192.0.2.1:1", "+OK\r\n"}), "an address of another machine")
}

func TestEachWayAnswersEveryRequestOfEveryClient(t *testing.T) {
	program := filepath.Join(t.TempDir(), "floor")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, way := range []string{"epoll", "bounded", "spin", "zerocopy", "uring"} {
		t.Run(way, func(t *testing.T) {
			switch way {
			case "uring":
				skipWithoutUring(t)
			case "zerocopy":
				skipWithoutZerocopy(t)
			}
			addr := freeAddress(t)
			server := exec.Command(program, "-by", way, addr, "+OK\r\n")
			require.NoError(t, server.Start())
			t.Cleanup(func() {
				_ = server.Process.Kill()
				_ = server.Wait()
			})
			var conns []net.Conn
			for range 20 {
				conns = append(conns, dialFloor(t, addr))
			}
			for range 50 {
				for _, c := range conns {
					_, err := io.WriteString(c, strings.Repeat("*1\r\n$4\r\nPING\r\n", 3))
					require.NoError(t, err)
				}
				for _, c := range conns {
					reply := make([]byte, len("+OK\r\n")*3)
					_, err := io.ReadFull(bufio.NewReaderSize(c, len(reply)), reply)
					require.NoError(t, err)
					require.Equal(t, strings.Repeat("+OK\r\n", 3), string(reply))
				}
			}
		})
	}
}

// skipWithoutUring skips the test where the kernel or a container allows no io_uring.
func skipWithoutUring(t *testing.T) {
	r, err := newRing()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.NoError(t, unix.Close(int(r.fd)))
}

// skipWithoutZerocopy skips the test where the kernel does not know the option. Any other error fails it.
func skipWithoutZerocopy(t *testing.T) {
	fd, err := listen("127.0.0.1:0")
	require.NoError(t, err)
	defer unix.Close(fd)
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1)
	if errors.Is(err, unix.ENOPROTOOPT) || errors.Is(err, unix.EOPNOTSUPP) {
		t.Skipf("SO_ZEROCOPY: %v", err)
	}
	require.NoError(t, err)
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// dialFloor connects as soon as the server listens.
func dialFloor(t *testing.T, addr string) net.Conn {
	for deadline := time.Now().Add(time.Minute); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		require.True(t, time.Now().Before(deadline), err)
	}
}
