package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// dialLab connects as the client of lab-tls whose files are in dir.
func dialLab(t *testing.T, dir, port string) *redistest.Conn {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(ca))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "client.crt"), filepath.Join(dir, "client.key"))
	require.NoError(t, err)
	config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
	return redistest.DialTLS(t, net.JoinHostPort("127.0.0.1", port), config)
}

func TestALabWritesItsCertificatesAndItsPort(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--port-file", "ports", "--masters", "2", "--lab", "yes",
		"--lab-tls", "certs")
	plain := masterPorts(p)
	p.waitFor("Ready to accept connections tls")
	dir := filepath.Join(p.cmd.Dir, "certs")
	text, err := os.ReadFile(filepath.Join(dir, "port"))
	require.NoError(t, err)
	ports := strings.Fields(string(text))
	require.Len(t, ports, 2)
	for i, port := range ports {
		require.NotContains(t, plain, port)
		require.Equal(t, "OK", dialLab(t, dir, port).Do("SET", "k", port).Str)
		require.Equal(t, port, dialPort(t, plain[i]).Do("GET", "k").Str)
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.NoFileExists(t, filepath.Join(dir, "port"))
	require.FileExists(t, filepath.Join(dir, "ca.crt"))
}

func TestAServerMayListenForTLSAlone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	p := start(t, "miniredisd", "", "--port", "0", "--port-file", "ports", "--bind", "127.0.0.1", "--lab", "yes",
		"--lab-tls", "certs", "--tls-port", port, "--watch", "127.0.0.1:0")
	p.waitFor("Running mode=standalone, port=" + port + ".")
	p.waitFor("Ready to accept connections tls")
	require.NotContains(t, p.out.String(), "connections tcp")
	c := dialLab(t, filepath.Join(p.cmd.Dir, "certs"), port)
	require.Contains(t, c.Do("INFO", "server").Str, "tcp_port:"+port+"\r\n")
	require.Equal(t, "0", c.Do("CONFIG", "GET", "port").Elems[1].Str)
	text, err := os.ReadFile(filepath.Join(p.cmd.Dir, "ports"))
	require.NoError(t, err)
	require.Equal(t, port+"\n", string(text))
}

func TestCertificatesOfALabNeedALab(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--lab-tls", "certs")
	p.waitFor("lab-tls needs --lab yes")
	require.Equal(t, 1, p.exit())
}
