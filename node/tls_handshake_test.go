package node_test

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestAFailedHandshakeIsLoggedWithItsReason(t *testing.T) {
	s := startTLS(t)
	for name, reason := range map[string]string{
		"":         "client didn't provide a certificate",
		"stranger": "certificate signed by unknown authority",
		"expired":  "certificate has expired or is not yet valid",
	} {
		config := s.client(t, name)
		if name != "" { // crypto/tls would not send one that the server cannot want
			pair := config.Certificates[0]
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		c, err := tls.Dial("tcp", s.addr, config)
		if err == nil { // the client's side of TLSv1.3 ends first
			_, err = c.Read(make([]byte, 1))
		}
		require.ErrorContains(t, err, "tls: ")
		redistest.Until(t, func() bool { return s.logged(reason) })
	}
	plain := redistest.Dial(t, s.addr)
	require.NoError(t, plain.Send([]byte("PING\r\n")))
	_, err := plain.TryRead()
	require.Error(t, err)
	redistest.Until(t, func() bool { return s.logged("first record does not look like a TLS handshake") })
	require.True(t, s.logged("(addr="+plain.Net.LocalAddr().String()+" laddr="+s.addr+")"))
	require.Equal(t, "PONG", s.dial(t).Do("PING").Str)
	require.Contains(t, s.dial(t).Do("INFO", "clients").Str, "connected_clients:2\r\n")
}

func TestAConnectionWithoutAHandshakeIsClosedInTime(t *testing.T) {
	t.Parallel() // it waits for a second
	s := startTLS(t, "--timeout", "1")
	silent, begun := s.silence(t), s.silence(t)
	_, err := begun.Write(hello(t)[:5])
	require.NoError(t, err)
	requireEnd(t, silent)
	requireEnd(t, begun)
	for _, c := range []net.Conn{silent, begun} {
		redistest.Until(t, func() bool { return s.logged("the handshake took too long (addr=" + c.LocalAddr().String()) })
	}
	require.Equal(t, "PONG", s.dial(t).Do("PING").Str)
}

func TestAServerThatEndsDropsHandshakes(t *testing.T) {
	needProc(t)
	lifetime := func() {
		s := &tlsServer{dir: t.TempDir()}
		s.Server = newServer(t, s.note, "--lab", "yes", "--lab-tls", s.dir, "--port", "0")
		done := make(chan error)
		s.addr = s.TLSAddrs()[0]
		go func() { done <- s.Run() }()
		silent, err := net.Dial("tcp", s.addr)
		require.NoError(t, err)
		c := s.dial(t)
		require.Equal(t, "PONG", c.Do("PING").Str)
		s.Stop()
		require.NoError(t, <-done)
		_, err = silent.Read(make([]byte, 1))
		require.Error(t, err)
		silent.Close()
		c.Close()
	}
	lifetime()
	files, goroutines := openResources(t)
	for range 10 {
		lifetime()
	}
	redistest.Until(t, func() bool {
		nowFiles, now := openResources(t)
		return nowFiles <= files && now <= goroutines
	})
}

func TestACrashDropsHandshakes(t *testing.T) {
	s := startTLS(t)
	silent, err := net.Dial("tcp", s.addr)
	require.NoError(t, err)
	defer silent.Close()
	c := s.dial(t)
	require.Equal(t, "PONG", c.Do("PING").Str) // the silent one is accepted as well
	ok(t, redistest.Dial(t, s.plain), "LAB", "CRASH")
	_, err = silent.Read(make([]byte, 1))
	require.ErrorContains(t, err, "reset by peer")
	_, err = c.TryRead()
	require.ErrorContains(t, err, "reset by peer")
	require.Equal(t, "PONG", s.dial(t).Do("PING").Str)
}
