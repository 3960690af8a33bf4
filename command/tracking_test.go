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

func TestChangesOfKeysThatNobodyHasReadAllocateNothing(t *testing.T) {
	ex := New(config.Default(), store.NewKeyspace(store.Options{}), clock.New(), &testHost{}, NewCommands())
	writer, reader := &Session{ID: 1, Authenticated: true, Proto: 2}, &Session{ID: 2, Authenticated: true, Proto: 3}
	w := &resp.Writer{Buf: make([]byte, 0, 4096), Proto: 2}
	for _, line := range []string{"CLIENT TRACKING ON", "GET other"} {
		ex.Do(reader, words(line), w)
	}
	set := words("SET k value-of-some-length")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		ex.Do(writer, set, w)
		w.Buf = w.Buf[:0]
	}))
}

// However sessions come, read, change keys and go: each is told of a key exactly once
// after it has read it, and in the end nothing is left to look at.
func TestReadersAreToldOnceOfEveryKeyTheyHaveRead(t *testing.T) {
	told := map[*Session]string{}
	host := &testHost{deliver: func(to *Session, message []byte) { told[to] += string(message) }}
	ex := New(config.Default(), store.NewKeyspace(store.Options{}), clock.New(), host, NewCommands())
	r := rand.New(rand.NewPCG(1, 2))
	w := &resp.Writer{}
	sessions, has := make([]*Session, 8), make([]map[string]bool, 8)
	do := func(i int, line string) { ex.Do(sessions[i], words(line), w) }
	join := func(i int) {
		sessions[i] = &Session{ID: r.Int64(), Authenticated: true, Proto: 3}
		has[i] = map[string]bool{}
		do(i, "CLIENT TRACKING ON")
	}
	for i := range sessions {
		join(i)
	}
	for range 20_000 {
		i, key := r.IntN(len(sessions)), fmt.Sprint("k", r.IntN(20))
		clear(told)
		switch n := r.IntN(100); {
		case n < 60:
			do(i, "GET "+key)
			has[i][key] = true
			require.Empty(t, told)
		case n < 97:
			do(i, "APPEND "+key+" x")
			for j, s := range sessions {
				want := ""
				if has[j][key] {
					want = fmt.Sprintf(">2\r\n$10\r\ninvalidate\r\n*1\r\n$%d\r\n%s\r\n", len(key), key)
				}
				require.Equal(t, want, told[s])
				delete(has[j], key)
			}
		default:
			ex.Leave(sessions[i])
			join(i)
		}
		w.Buf = w.Buf[:0]
	}
	for i := range sessions {
		ex.Leave(sessions[i])
	}
	do(0, "FLUSHALL")
	require.Zero(t, len(ex.Tracking.clients)+ex.Tracking.readers.Len())
	require.Zero(t, ex.Tracking.items)
}
