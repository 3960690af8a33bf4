package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func TestPublishDoesNotAllocate(t *testing.T) {
	delivered := 0
	host := &testHost{deliver: func(_ *Session, message []byte) { delivered += len(message) }}
	ex := New(config.Default(), store.NewKeyspace(store.Options{}), clock.New(), host, NewCommands())
	w := &resp.Writer{}
	for i := range 100 {
		s := &Session{Proto: 2 + i%2, Authenticated: true}
		ex.Do(s, bytes.Fields([]byte("subscribe channel")), w)
		ex.Do(&Session{Proto: 2, Authenticated: true}, bytes.Fields([]byte("psubscribe ch*")), w)
	}
	publisher, request := &Session{Proto: 2, Authenticated: true}, bytes.Fields([]byte("publish channel message"))
	allocs := testing.AllocsPerRun(100, func() {
		w.Buf = w.Buf[:0]
		ex.Do(publisher, request, w)
	})
	require.Equal(t, ":200\r\n", string(w.Buf))
	require.Positive(t, delivered)
	require.Zero(t, allocs)
}
