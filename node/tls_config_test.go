package node_test

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/labtls"
	"github.com/miniredisd/miniredisd/node"
)

const badTLS = "Unable to update TLS configuration. Check server logs."

func setError(name, why string) string {
	return "ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + why
}

// serverName returns the name in the certificate that the server shows.
func (s *tlsServer) serverName(t *testing.T) string {
	t.Helper()
	config := s.client(t, "client")
	config.InsecureSkipVerify = true
	c, err := tls.Dial("tcp", s.addr, config)
	require.NoError(t, err)
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestConfigSetChangesTheCertificateOrNothing(t *testing.T) {
	s := startTLS(t)
	admin := redistest.Dial(t, s.plain)
	file := func(name string) string { return filepath.Join(s.dir, name) }
	require.Equal(t, "server", s.serverName(t))
	old := s.dial(t)
	ok(t, admin, "CONFIG", "SET", "tls-cert-file", file("stranger.crt"), "tls-key-file", file("stranger.key"))
	require.Equal(t, "stranger", s.serverName(t))
	require.Equal(t, "PONG", old.Do("PING").Str)

	for _, bad := range [][]string{
		{"tls-cert-file", file("missing.crt")},
		{"tls-cert-file", file("stranger.key")},
		{"tls-key-file", file("server.key")},
		{"tls-ca-cert-file", file("missing.crt")},
		{"tls-ca-cert-dir", file("missing")},
		{"tls-protocols", "TLSv9"},
		{"tls-protocols", "TLSv1 TLSv1.2"},
		{"tls-ciphers", "HIGH"},
		{"tls-cert-file", ""},
	} {
		require.Equal(t, setError(bad[0], badTLS), admin.Do(append([]string{"CONFIG", "SET"}, bad...)...).Str)
		require.Equal(t, "stranger", s.serverName(t))
	}
	require.Equal(t, file("stranger.crt"), admin.Do("CONFIG", "GET", "tls-cert-file").Elems[1].Str)
	require.True(t, s.logged("Failed to load certificate: "+file("missing.crt")+
		": error:80000002:system library::No such file or directory"))
	require.True(t, s.logged("Failed to load private key: "+file("server.key")+": tls: private key does not match"))
}

// Nobody writes into the FIFO, and the device has no end. The server answers, and keeps what it had.
func TestAFileThatIsNoFileStopsNobody(t *testing.T) {
	t.Parallel()
	s := startTLS(t)
	admin := redistest.Dial(t, s.plain)
	fifo := filepath.Join(s.dir, "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	large := filepath.Join(s.dir, "large")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, 1<<40)) // a file with holes
	for path, why := range map[string]string{
		fifo: "not a regular file", "/dev/zero": "not a regular file", "/dev/tty": "",
		s.dir: "error:80000015:system library::Is a directory", large: "error:8000001B:system library::File too large",
	} {
		for _, name := range []string{"tls-cert-file", "tls-key-file", "tls-ca-cert-file"} {
			require.Equal(t, setError(name, badTLS), admin.Do("CONFIG", "SET", name, path).Str, path)
		}
		require.True(t, s.logged("Failed to load certificate: "+path+": "+why), path)
		require.True(t, s.logged("Failed to load private key: "+path+": "+why), path)
		require.True(t, s.logged("Failed to configure CA certificate(s) file/directory: "+why), path)
	}
	require.Equal(t, setError("tls-ca-cert-dir", badTLS), admin.Do("CONFIG", "SET", "tls-ca-cert-dir", fifo).Str)
	require.Equal(t, "server", s.serverName(t))

	ok(t, admin, "CONFIG", "SET", "tls-ca-cert-dir", s.dir) // with the FIFO and the large file in it
	require.True(t, s.logged(large+" is not read: "))
	require.Equal(t, "PONG", s.dial(t).Do("PING").Str)
	for i := range 5 {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, fmt.Sprint("part", i)), make([]byte, 4<<20), 0o600))
	}
	require.Equal(t, setError("tls-ca-cert-dir", badTLS), admin.Do("CONFIG", "SET", "tls-ca-cert-dir", s.dir).Str)
	require.True(t, s.logged("more than 16 MB in "+s.dir))
}

// The names stay the same, but the files are new.
func TestConfigSetReadsTheSameFilesAgain(t *testing.T) {
	t.Parallel()
	s := startTLS(t)
	admin := redistest.Dial(t, s.plain)
	before := s.client(t, "client")
	require.NoError(t, labtls.Write(s.dir))
	require.Equal(t, "PONG", redistest.DialTLS(t, s.addr, before).Do("PING").Str)
	ok(t, admin, "CONFIG", "SET", "tls-cert-file", filepath.Join(s.dir, "server.crt"))
	_, err := tls.Dial("tcp", s.addr, before)
	require.ErrorContains(t, err, "unknown authority")
	require.Equal(t, "PONG", s.dial(t).Do("PING").Str)
}

func TestConfigSetSaysWhichClientsNeedACertificate(t *testing.T) {
	s := startTLS(t)
	admin := redistest.Dial(t, s.plain)
	answers := func(name string) bool {
		c, err := tls.Dial("tcp", s.addr, s.client(t, name))
		if err != nil {
			return false
		}
		defer c.Close()
		_, err = c.Write([]byte("PING\r\n"))
		require.NoError(t, err)
		n, _ := c.Read(make([]byte, 10))
		return n > 0
	}
	require.False(t, answers(""))
	ok(t, admin, "CONFIG", "SET", "tls-auth-clients", "optional")
	require.True(t, answers(""))
	require.True(t, answers("client"))
	ok(t, admin, "CONFIG", "SET", "tls-auth-clients", "no")
	require.True(t, answers(""))
	ok(t, admin, "CONFIG", "SET", "tls-auth-clients", "yes")
	require.False(t, answers(""))
}

func TestConfigSetOpensAndClosesTheTLSPort(t *testing.T) {
	s := startTLS(t)
	admin := redistest.Dial(t, s.plain)
	port := admin.Do("CONFIG", "GET", "tls-port").Elems[1].Str
	c := s.dial(t)
	ok(t, admin, "CONFIG", "SET", "tls-port", "0")
	_, err := tls.Dial("tcp", s.addr, s.client(t, "client"))
	require.ErrorContains(t, err, "refused")
	require.Equal(t, "PONG", c.Do("PING").Str)
	require.Equal(t, "PONG", redistest.Dial(t, s.plain).Do("PING").Str)
	ok(t, admin, "CONFIG", "SET", "tls-port", port)
	require.Equal(t, "PONG", s.dial(t).Do("PING").Str)
}

func TestATLSPortNeedsCertificates(t *testing.T) {
	c := redistest.Dial(t, start(t, []string{"--tls-auth-clients", "no"}))
	require.Equal(t, setError("tls-port", badTLS), c.Do("CONFIG", "SET", "tls-port", "7000").Str)
	require.Equal(t, "0", c.Do("CONFIG", "GET", "tls-port").Elems[1].Str)
}

func TestAServerWithoutCertificatesDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, labtls.Write(dir))
	cert, key := filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	for _, c := range []struct{ line, logged string }{
		{"", "No tls-cert-file configured!"},
		{"--tls-cert-file " + cert, "No tls-key-file configured!"},
		{"--tls-cert-file " + cert + " --tls-key-file " + key, "Either tls-ca-cert-file or tls-ca-cert-dir must be"},
	} {
		s := &tlsServer{}
		cfg := parse(t, "--port 0 --tls-port 7000 "+c.line)
		_, err := node.New(cfg, s.note)
		require.EqualError(t, err, "Failed to configure TLS. Check logs for more info.")
		require.True(t, s.logged(c.logged), s.log)
	}
}

func TestAllFilesOfAFolderAreAuthorities(t *testing.T) {
	s := startTLS(t)
	admin, cas := redistest.Dial(t, s.plain), t.TempDir()
	require.NoError(t, os.Rename(filepath.Join(s.dir, "ca.crt"), filepath.Join(cas, "any name")))
	ok(t, admin, "CONFIG", "SET", "tls-ca-cert-file", "", "tls-ca-cert-dir", cas)
	require.NoError(t, os.Link(filepath.Join(cas, "any name"), filepath.Join(s.dir, "ca.crt")))
	require.Equal(t, "PONG", s.dial(t).Do("PING").Str)
}

// A Go program passes certificates that are in no file.
func TestAGoProgramPassesItsOwnConfiguration(t *testing.T) {
	lab := startTLS(t)
	cfg := parse(t, "--bind 127.0.0.1")
	cfg.Port, cfg.TLSPort = -1, -1
	cfg.TLS = &tls.Config{Certificates: lab.client(t, "server").Certificates}
	s, err := node.New(cfg, lab.note)
	require.NoError(t, err)
	require.Empty(t, s.Addrs())
	done := make(chan error)
	addr := s.TLSAddrs()[0]
	go func() { done <- s.Run() }()
	c := redistest.DialTLS(t, addr, lab.client(t, ""))
	require.Equal(t, "PONG", c.Do("PING").Str)
	s.Stop()
	require.NoError(t, <-done)
}

func TestSessionsAreResumedUnlessTheConfigurationForbidsIt(t *testing.T) {
	s := startTLS(t)
	config := s.client(t, "client")
	config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	resumed := func() bool {
		c := redistest.DialTLS(t, s.addr, config)
		defer c.Close()
		require.Equal(t, "PONG", c.Do("PING").Str) // the ticket arrives before it
		return c.Net.(*tls.Conn).ConnectionState().DidResume
	}
	require.False(t, resumed())
	require.True(t, resumed())
	ok(t, redistest.Dial(t, s.plain), "CONFIG", "SET", "tls-session-caching", "no")
	require.False(t, resumed())
	require.False(t, resumed())
}

func parse(t *testing.T, line string) *config.Config {
	t.Helper()
	cfg, err := config.Parse(strings.Fields(line), nil)
	require.NoError(t, err)
	return cfg
}
