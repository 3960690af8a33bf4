package proxy

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stuck waits until the proxy no longer reads from one side, because the other one takes nothing.
func (r *running) stuck() {
	for {
		got := make(chan bool)
		r.proxy.loop.Post(func() {
			full := false
			for c := range r.proxy.upstreams[0].pairs {
				full = full || c.requests.full || c.replies.full
			}
			got <- full
		})
		if <-got {
			return
		}
		runtime.Gosched()
	}
}

// flood writes a piece as often as it can. The channel gets the error that ends it, nil after times pieces.
func flood(to *net.TCPConn, piece string, times int) <-chan error {
	done, bytes := make(chan error, 1), []byte(piece)
	go func() {
		var err error
		for ; times > 0 && err == nil; times-- {
			_, err = to.Write(bytes)
		}
		done <- err
	}()
	return done
}

// Each side writes a string of 256 MB to one that begins to read when the proxy has stopped.
func TestTheSlowerSideBoundsTheMemory(t *testing.T) {
	piece := strings.Repeat("x", 1<<20)
	for _, toServer := range []bool{true, false} {
		r, client, server := between(t)
		from, to := server, client
		if toServer {
			from, to = client, server
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		head := fmt.Sprintf("*1\r\n$%d\r\n", 256<<20)
		send(t, from, head)
		done := flood(from, piece, 256)
		r.stuck()
		arrives(t, to, head)
		_, err := io.CopyN(io.Discard, to, 256<<20)
		require.NoError(t, err)
		require.NoError(t, <-done)
		send(t, from, "\r\n+OK\r\n")
		arrives(t, to, "\r\n+OK\r\n")
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "toServer %v", toServer)
		require.Empty(t, r.logged())
	}
}

func TestASideThatNeverReadsLeavesNothing(t *testing.T) {
	r, client, server := between(t)
	done := flood(server, strings.Repeat("+OK\r\n", 10_000), 1<<30)
	r.stuck()
	hardReset(t, client)
	require.Error(t, <-done)
	r.left(0)

	r, client, server = between(t)
	done = flood(client, strings.Repeat("PING\r\n", 10_000), 1<<30)
	r.stuck()
	hardReset(t, server)
	require.Error(t, <-done)
	r.left(0)
}
