package miniredistest_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/server"
)

// A server inside a bubble would hang for ever.
func TestAServerIsRefusedInABubble(t *testing.T) {
	cfg := config.Default()
	cfg.Port, cfg.Bind = 0, []string{"127.0.0.1"}
	outside, err := server.New(cfg, func(byte, string, ...any) {})
	require.NoError(t, err)
	srv := miniredistest.Run(t)
	synctest.Test(t, func(t *testing.T) {
		const why = "a server cannot be started or asked in a testing/synctest bubble"
		_, err := server.New(cfg.Clone(), func(byte, string, ...any) {})
		require.ErrorContains(t, err, why)
		require.ErrorContains(t, outside.Run(), why)
		_, err = outside.Do(context.Background(), "PING")
		require.ErrorContains(t, err, why)
		_, err = srv.Try("PING")
		require.ErrorContains(t, err, why)
	})
	outside.Stop()
	require.NoError(t, outside.Run())
}

func TestAClientInABubbleReachesAServerOutside(t *testing.T) {
	srv := miniredistest.Run(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		conn, err := net.Dial("tcp", srv.Addr())
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.Write([]byte("PING\r\n"))
		require.NoError(t, err)
		var answer [7]byte
		_, err = conn.Read(answer[:])
		require.NoError(t, err)
		require.Equal(t, "+PONG\r\n", string(answer[:]))
	})
}
