package proxy

import (
	"crypto/tls"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/miniredistest"
)

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

func TestACrowdOfClientsLeavesNothing(t *testing.T) {
	serverSide, clientSide := certificates(t)
	clientSide.ServerName = "localhost"
	s := miniredistest.Run(t)
	plain := startWith(t, Config{Upstreams: []string{s.Addr()}})
	secure := startWith(t, Config{Upstreams: []string{plain.addr()}, TLS: serverSide})
	both := startWith(t, Config{Upstreams: []string{secure.addr()}, TLS: serverSide, UpstreamTLS: clientSide})
	for _, r := range []*running{both, plain} {
		open, started := descriptors(t), runtime.NumGoroutine()
		var crowd []conn
		for range 50 {
			var c net.Conn = r.dial()
			if r == both {
				c = tls.Client(c, clientSide)
			}
			crowd = append(crowd, conn{t, respclient.New(c, 512)})
		}
		for _, c := range crowd {
			require.Equal(t, "+PONG", c.do("PING"))
		}
		require.Equal(t, "+OK", crowd[0].do("LAB FAULT ADD h CMD ping ACTION HOLD"))
		for _, c := range crowd[1:] {
			c.send("PING")
		}
		require.Contains(t, crowd[0].do("LAB HOLD WAIT h 0 49"), "PING")
		for _, c := range crowd {
			c.Close()
		}
		r.left(0)
		for descriptors(t) > open || runtime.NumGoroutine() > started {
			runtime.Gosched() // the server and the other proxies learn of it
		}
	}
}
