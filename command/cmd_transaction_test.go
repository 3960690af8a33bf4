package command

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func TestChangesAndTransactionsAllocateNothing(t *testing.T) {
	ex := New(config.Default(), store.NewKeyspace(store.Options{}), clock.New(), &testHost{}, NewCommands())
	s, w := &Session{Authenticated: true, Proto: 2}, &resp.Writer{Buf: make([]byte, 0, 4096), Proto: 2}
	set := words("SET k value-of-some-length")
	run := func(requests ...[][]byte) float64 {
		return testing.AllocsPerRun(100, func() {
			for _, args := range requests {
				ex.Do(s, args, w)
			}
			w.Buf = w.Buf[:0]
		})
	}
	require.Zero(t, run(set), "nobody watches")
	require.Zero(t, run(words("MULTI"), set, set, set, words("GET k"), words("EXEC")))

	other := &Session{Authenticated: true, Proto: 2}
	ex.Do(other, words("WATCH another"), w)
	require.Zero(t, run(set), "somebody watches another key")
	ex.Do(other, words("WATCH k"), w)
	require.Zero(t, run(set), "somebody watches this key")
	require.True(t, other.Tx.Dirty)
}

// Sessions connect, watch, change keys and leave at random. A transaction runs exactly if none of
// its watched keys has changed, and at the end no state is left.
func TestWatchersAreToldOfTheirKeysOnlyAndForgottenWhenTheyGo(t *testing.T) {
	ex := New(config.Default(), store.NewKeyspace(store.Options{}), clock.New(), &testHost{}, NewCommands())
	rng := rand.New(rand.NewPCG(3, 4))
	w := &resp.Writer{Proto: 2}
	sessions := make([]*Session, 8)
	watching, changed := make([]map[int]bool, len(sessions)), make([]bool, len(sessions))
	reset := func(i int) { watching[i], changed[i] = map[int]bool{}, false }
	for i := range sessions {
		sessions[i] = &Session{Authenticated: true, Proto: 2}
		reset(i)
	}
	do := func(i int, format string, args ...any) string {
		w.Buf = w.Buf[:0]
		ex.Do(sessions[i], words(fmt.Sprintf(format, args...)), w)
		return string(w.Buf)
	}
	ran, failed := 0, 0
	for range 20_000 {
		i, key := rng.IntN(len(sessions)), rng.IntN(20)
		switch rng.IntN(8) {
		case 0, 1, 2:
			do(i, "WATCH k%d", key)
			if !changed[i] {
				watching[i][key] = true
			}
		case 3, 4:
			do(i, "INCR k%d", key)
			for j := range sessions {
				changed[j] = changed[j] || watching[j][key]
			}
		case 5, 6:
			do(i, "MULTI")
			do(i, "PING")
			want := "*1\r\n+PONG\r\n"
			if changed[i] {
				want, failed = "*-1\r\n", failed+1
			} else {
				ran++
			}
			require.Equal(t, want, do(i, "EXEC"))
			reset(i)
		case 7:
			ex.Leave(sessions[i])
			sessions[i] = &Session{Authenticated: true, Proto: 2}
			reset(i)
		}
	}
	require.Greater(t, ran, 1000)
	require.Greater(t, failed, 500)
	for _, s := range sessions {
		ex.Leave(s)
	}
	require.Zero(t, ex.watchers.count)
	for _, of := range ex.watchers.dbs {
		require.Empty(t, of)
	}
}

// EXEC, EVAL and the script's command have a Call each: what runs inside does not change the arguments
// of what runs around it.
func TestAScriptInsideATransactionLeavesTheOuterCallsAlone(t *testing.T) {
	d := newDriver()
	script := "redis.call('SET', KEYS[1], ARGV[1]); return redis.call('GET', KEYS[1])"
	var replies []string
	for _, args := range [][][]byte{
		words("MULTI"), requestOf("EVAL", script, "1", "k", "v"), words("APPEND k w"), words("EXEC"),
		requestOf("EVAL", script, "1", "k", "x"),
	} {
		d.w.Buf = d.w.Buf[:0]
		d.ex.Do(&d.s, args, &d.w)
		replies = append(replies, string(d.w.Buf))
	}
	require.Equal(t, []string{
		"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n$1\r\nv\r\n:2\r\n", "$1\r\nx\r\n",
	}, replies)
	require.Zero(t, d.ex.Depth)
	calls := map[string]int64{}
	for _, cmd := range d.ex.Table.All() {
		if n := d.ex.Table.Calls(cmd).Count; n > 0 {
			calls[cmd.Name] = n
		}
	}
	require.Equal(t, map[string]int64{"multi": 1, "exec": 1, "eval": 2, "set": 2, "get": 2, "append": 1}, calls)
}
