package miniredistest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
)

func TestADatabaseIsAViewOfTheServer(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Frozen())
	c := redistest.Dial(t, srv.Addr())
	c.Do("SELECT", "3")
	c.Do("SET", "k", "in 3")
	srv.AssertNone("*")
	srv.DB(3).AssertString("k", "in 3")
	require.Equal(t, []string{"k"}, srv.DB(3).Keys("*"))
	require.Equal(t, "k  \"in 3\"\n", srv.DB(3).Dump())
	_, err := srv.DB(16).Try("GET", "k")
	require.EqualError(t, err, "ERR DB index is out of range")
	require.Contains(t, failing(t, func(t testing.TB) {
		miniredistest.Run(t).DB(1).Fault("idle")
	}), `Fault("idle") has no action`)
}
