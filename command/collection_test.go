package command

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// driver runs commands against a keyspace of its own.
type driver struct {
	ex *Executor
	s  Session
	w  resp.Writer
}

func newDriver() *driver {
	return &driver{
		ex: New(config.Default(), store.NewKeyspace(store.Options{Seed: 1}), clock.New(), &testHost{}, NewCommands()),
		s:  Session{Authenticated: true, Proto: 2},
		w:  resp.Writer{Proto: 2},
	}
}

func words(line string) (args [][]byte) {
	for _, w := range strings.Fields(line) {
		args = append(args, []byte(w))
	}
	return args
}

func (d *driver) do(t *testing.T, line string) resp.Value {
	d.w.Buf = d.w.Buf[:0]
	d.ex.Do(&d.s, words(line), &d.w)
	v, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(d.w.Buf)))
	require.NoError(t, err)
	require.NotEqual(t, byte('-'), v.Kind, "%s: %s", line, v)
	return v
}

func (d *driver) fill(t *testing.T, n int) {
	for i := range n {
		d.do(t, fmt.Sprintf("HSET h f%d v%d", i, i))
		d.do(t, fmt.Sprintf("SADD s m%d", i))
		d.do(t, fmt.Sprintf("SADD i %d", i))
	}
}

func TestHotHashAndSetCommandsDoNotAllocate(t *testing.T) {
	for _, size := range []int{20, 1000} {
		d := newDriver()
		d.fill(t, size)
		for _, line := range []string{
			"HSET h f3 v3", "HSET h f3 v3 f4 v4", "HSETNX h f3 v", "HGET h f3", "HGET h none",
			"HMGET h f3 none", "HEXISTS h f3", "HLEN h",
			"HSTRLEN h f3", "HDEL h none", "HINCRBY h n 0",
			"SADD s m3", "SADD i 3", "SISMEMBER s m3", "SISMEMBER i 3", "SMISMEMBER s m3 none",
			"SCARD s", "SREM s none", "SREM i none",
			"SRANDMEMBER s", "SRANDMEMBER i", "HRANDFIELD h",
		} {
			d.do(t, line)
			args := words(line)
			require.Zero(t, testing.AllocsPerRun(100, func() {
				d.w.Buf = d.w.Buf[:0]
				d.ex.Do(&d.s, args, &d.w)
			}), "%s of %d", line, size)
		}
	}
}

func membersOf(v resp.Value) map[string]bool {
	all := map[string]bool{}
	for _, e := range v.Elems {
		all[e.Str] = true
	}
	return all
}

func TestRandomPicksAreAsManyAndAsDifferentAsAskedFor(t *testing.T) {
	for _, size := range []int{20, 600} {
		d := newDriver()
		d.fill(t, size)
		for _, command := range []string{"HRANDFIELD h", "SRANDMEMBER s", "SRANDMEMBER i"} {
			reached := map[string]bool{}
			for _, n := range []int{1, 2, size / 4, size / 2, size - 1, size, size + 1, 10 * size} {
				for range 5 {
					picked := d.do(t, fmt.Sprint(command, " ", n))
					require.Len(t, picked.Elems, min(n, size), command)
					require.Len(t, membersOf(picked), min(n, size), command)
				}
				again := d.do(t, fmt.Sprint(command, " -", n))
				require.Len(t, again.Elems, n, command)
				for m := range membersOf(again) {
					reached[m] = true
				}
			}
			// 14 draws of each on average; the seed is fixed.
			require.Len(t, reached, size, command)
		}
	}
}

func TestSpopTakesOutWhatItReturns(t *testing.T) {
	for _, size := range []int{20, 600} {
		for _, key := range []string{"s", "i"} {
			d := newDriver()
			d.fill(t, size)
			left := membersOf(d.do(t, "SMEMBERS "+key))
			for len(left) > 1 {
				for _, m := range d.do(t, fmt.Sprintf("SPOP %s %d", key, max(1, len(left)/3))).Elems {
					require.True(t, left[m.Str])
					delete(left, m.Str)
				}
				require.Equal(t, left, membersOf(d.do(t, "SMEMBERS "+key)))
			}
			require.True(t, left[d.do(t, "SPOP "+key).Str])
			require.Zero(t, d.do(t, "EXISTS "+key).Int)
		}
	}
}

// The same seed and the same commands give the same picks.
func TestPicksFollowFromTheSeed(t *testing.T) {
	a, b := newDriver(), newDriver()
	a.fill(t, 300)
	b.fill(t, 300)
	for range 50 {
		for _, line := range []string{"SRANDMEMBER s 5", "HRANDFIELD h -3", "SPOP s 2", "SPOP i", "SSCAN s 0"} {
			require.Equal(t, a.do(t, line), b.do(t, line), line)
		}
	}
}
