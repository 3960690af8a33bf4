package miniredis_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/labtls"
	"github.com/miniredisd/miniredisd/miniredistest/miniredis"
)

func TestAServerWithTLSRestartsWithTLS(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, labtls.Write(dir))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key"))
	require.NoError(t, err)
	authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	require.NoError(t, err)
	client := &tls.Config{RootCAs: x509.NewCertPool()}
	require.True(t, client.RootCAs.AppendCertsFromPEM(authority))

	m, err := miniredis.RunTLS(&tls.Config{Certificates: []tls.Certificate{pair}})
	require.NoError(t, err)
	defer m.Close()
	addr := m.Addr()
	require.Equal(t, "rediss://"+addr, m.Server().URL())
	require.Equal(t, "OK", redistest.DialTLS(t, addr, client).Do("SET", "k", "v").Str)
	m.CheckGet(t, "k", "v")
	plain, err := m.Dial()
	require.NoError(t, err)
	require.Equal(t, "v", redistest.Wrap(t, plain).Do("GET", "k").Str)
	m.Close()
	require.NoError(t, m.Restart())
	require.Equal(t, addr, m.Addr())
	require.Equal(t, "v", redistest.DialTLS(t, addr, client).Do("GET", "k").Str)
	m.Close()
	require.NoError(t, m.Start())
	require.Equal(t, "redis://"+addr, m.Server().URL())
}
