package labtls

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// verify returns the error of a client that trusts ca.crt and gets this certificate as a server's.
func verify(t *testing.T, dir, name string) error {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(ca))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
	require.NoError(t, err)
	for _, host := range []string{"localhost", "127.0.0.1", "::1"} {
		require.NoError(t, pair.Leaf.VerifyHostname(host))
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err == nil {
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: pool})
	}
	return err
}

func TestEachCertificateIsGoodOrBadAsItsNameSays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	require.NoError(t, Write(dir))
	require.NoError(t, verify(t, dir, "server"))
	require.NoError(t, verify(t, dir, "client"))
	require.ErrorContains(t, verify(t, dir, "expired"), "expired")
	require.ErrorContains(t, verify(t, dir, "stranger"), "unknown authority")
}

func TestOnlyTheOwnerReadsAKey(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir))
	for _, name := range []string{"server", "client", "expired", "stranger"} {
		info, err := os.Stat(filepath.Join(dir, name+".key"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
}

func TestASecondAuthorityReplacesTheFirst(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir))
	old, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	require.NoError(t, err)
	require.NoError(t, Write(dir))
	now, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	require.NoError(t, err)
	require.NotEqual(t, old, now)
	require.NoError(t, verify(t, dir, "server"))
}
