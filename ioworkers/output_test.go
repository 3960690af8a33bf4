package ioworkers

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/resp"
)

// readOutput reads what pool writes of c until all of it is written.
func readOutput(t *testing.T, pool *Pool, c *Conn, peer int) (got []byte) {
	t.Helper()
	buf := make([]byte, 10_000)
	for {
		pool.Write([]*Conn{c})
		for {
			n, err := unix.Read(peer, buf)
			if err == unix.EAGAIN {
				break
			}
			require.NoError(t, err)
			got = append(got, buf[:n]...)
		}
		if c.Drained() {
			return got
		}
	}
}

func TestReferencesAreWrittenInTheirPlaces(t *testing.T) {
	c, peer := pair(t)
	pool := &Pool{}
	c.Out.MayRefer = true
	copied := resp.Writer{}
	for i := range 3 * maxPieces {
		big := bytes.Repeat([]byte{byte(i)}, resp.RefMin+i*1000)
		c.Out.BulkRef(big)
		copied.Bulk(big)
		if i%3 == 0 {
			c.Out.OK()
			copied.OK()
		}
	}
	require.Equal(t, len(copied.Buf), c.Unsent())
	require.True(t, bytes.Equal(copied.Buf, readOutput(t, pool, c, peer)))
	require.Equal(t, int64(len(copied.Buf)), c.NetOut)
	pool.Reclaim(c)
	require.Zero(t, c.Mem(), "nothing is kept")
}

func TestAWriteMayEndAtAnyByte(t *testing.T) {
	for step := 1; step < 40; step++ {
		c := &Conn{}
		text := func(n int) []byte { return fmt.Appendf(nil, "%0*d", n, n) }
		c.Out.OK()
		c.Out.BulkRef(text(10))
		c.Out.BulkRef(text(7))
		c.Out.OK()
		all := c.Unsent()
		for left := all; left > 0; {
			n := min(step, left)
			c.advance(n)
			left -= n
			require.Equal(t, left, c.Unsent())
		}
		require.Equal(t, len(c.Out.Buf), c.sent)
		require.Equal(t, len(c.Out.Refs), c.ref)
		c.reuseOutput()
		require.Zero(t, c.Unsent())
	}
}

func TestDroppedOutputHasNoReferences(t *testing.T) {
	c := &Conn{}
	c.Out.BulkRef([]byte("x"))
	c.DropOutput()
	require.True(t, c.Drained())
	require.Zero(t, c.OutputRoom())
}
