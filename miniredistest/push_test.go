package miniredistest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
)

func TestATestPushesAMessageOfItsOwn(t *testing.T) {
	srv := miniredistest.Run(t)
	worker := redistest.Dial(t, srv.Addr())
	worker.Do("HELLO", "3", "SETNAME", "worker-1")
	require.Equal(t, 1, srv.Push("worker-*", "MOVING", 15, "127.0.0.1:6380"))
	got := worker.Read()
	require.Equal(t, byte('>'), got.Kind)
	words := []any{got.Elems[0].Str, got.Elems[1].Int, got.Elems[2].Str}
	require.Equal(t, []any{"MOVING", int64(15), "127.0.0.1:6380"}, words)
	message := failing(t, func(t testing.TB) { miniredistest.Run(t).Push("nobody", "MOVING") })
	require.Contains(t, message, "no other client is named 'nobody'")
}
