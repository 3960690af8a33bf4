package miniredistest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest"
)

func TestATestStepsThroughTheServer(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Stepping())
	c := connect(srv.Addr())
	defer c.Close()
	srv.Step().Break("second", "CMD", "SET", "NTH", "2")
	_, err := c.Write([]byte("SET lock a NX\r\nSET lock b NX\r\n"))
	require.NoError(t, err)
	stop := srv.Step().Stopped()
	require.Equal(t, "SET lock b NX", stop.Event.Text)
	require.Equal(t, `+OK\r\n`, stop.Snapshot.Clients[0].Out)
	srv.Step().Next()
	require.Equal(t, `$-1\r\n`, srv.Step().Stopped().Event.Text)
	srv.Step().Continue()
}
