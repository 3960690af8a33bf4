package node_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/test/transcript"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// tlsServer is a server of a test with a plain port and a TLS port.
type tlsServer struct {
	*server.Server
	addr, plain string
	dir         string // the files of lab-tls

	mu  sync.Mutex
	log []string
}

// startTLS runs a server with lab-tls. MINIREDISD_ARGS adds arguments, as for newServer.
func startTLS(t *testing.T, args ...string) *tlsServer {
	t.Helper()
	s := &tlsServer{dir: t.TempDir()}
	s.Server = newServer(t, s.note, append([]string{"--lab", "yes", "--lab-tls", s.dir}, args...)...)
	s.addr = s.TLSAddrs()[0] // before it runs, because CONFIG SET can change it
	s.plain = run(t, s.Server)
	return s
}

func (s *tlsServer) note(_ byte, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *tlsServer) logged(part string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.log, "\n"), part)
}

// client returns the configuration of a client that shows one of the certificates of lab-tls.
func (s *tlsServer) client(t *testing.T, name string) *tls.Config {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(s.dir, "ca.crt"))
	require.NoError(t, err)
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	require.True(t, config.RootCAs.AppendCertsFromPEM(ca))
	if name != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(s.dir, name+".crt"), filepath.Join(s.dir, name+".key"))
		require.NoError(t, err)
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

func (s *tlsServer) dial(t *testing.T) *redistest.Conn {
	t.Helper()
	return redistest.DialTLS(t, s.addr, s.client(t, "client"))
}

// A tunnel takes the encryption off, so that tests which know only TCP run over TLS.
func tunnel(t testing.TB, to string, config *tls.Config) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	copyTo := func(dst, src net.Conn) {
		_, _ = io.Copy(dst, src)
		dst.Close()
		src.Close()
	}
	go func() {
		for {
			plain, err := l.Accept()
			if err != nil {
				return
			}
			secret, err := tls.Dial("tcp", to, config)
			if err != nil {
				plain.Close()
				continue
			}
			go copyTo(secret, plain)
			go copyTo(plain, secret)
		}
	}()
	return l.Addr().String()
}

// A tunnel does not keep the order of requests of different clients. So these are transcripts in which that
// order does not matter.
func TestTranscriptsHaveTheSameRepliesOverTLS(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"protocol", "string", "hash", "set", "zset", "stream", "script"} {
		paths, err := filepath.Glob("testdata/transcripts/" + folder + "/*.txt")
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			if !amount.Picked(path, 5) {
				continue
			}
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				transcript.Run(t, path, func(_ testing.TB, args []string) string {
					s := &tlsServer{dir: t.TempDir()}
					line := []string{"--save", "", "--dir", t.TempDir(), "--lab", "yes", "--lab-tls", s.dir}
					s.Server = newServer(t, s.note, append(line, args...)...)
					s.addr = s.TLSAddrs()[0]
					run(t, s.Server)
					return tunnel(t, s.addr, s.client(t, "client"))
				})
			})
		}
	}
}

func TestEveryModeServesClientsOverTLS(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"", "--multiplexer poll", "--exec queue", "--io-threads 4 --io-threads-do-reads yes",
		"--tls-protocols TLSv1.2", "--tls-protocols TLSv1.3",
		"--tls-protocols TLSv1.2 --tls-ciphers ECDHE-ECDSA-CHACHA20-POLY1305",
	} {
		t.Run(args, func(t *testing.T) {
			s := startTLS(t, strings.Fields(args)...)
			conns := make([]*redistest.Conn, amount.Count(2, 12))
			for i := range conns {
				conns[i] = s.dial(t)
			}
			large := strings.Repeat("0123456789abcdef", 1<<16)
			for i, size := range []int{0, 1, 4000, 16 << 10, 16<<10 + 1, 70_000, 1 << 20} {
				for n, c := range conns {
					key, value := fmt.Sprintf("k:%d:%d", i, n), large[:size]
					require.Equal(t, "OK", c.Do("SET", key, value).Str)
					require.Equal(t, value, c.Do("GET", key).Str)
				}
			}
			times := amount.Count(1000, 5000)
			pipeline := bytes.Repeat(resp.AppendRequest(nil, "INCR", "n"), times)
			for _, c := range conns {
				require.NoError(t, c.Send(pipeline))
			}
			for _, c := range conns {
				for range times {
					require.Positive(t, c.Read().Int)
				}
			}
			require.Equal(t, fmt.Sprint(times*len(conns)), conns[0].Do("GET", "n").Str)
		})
	}
}

func TestClientListShowsTheAddressesOfTheConnectionItself(t *testing.T) {
	s := startTLS(t)
	c := s.dial(t)
	line := c.Do("CLIENT", "INFO").Str
	require.Contains(t, line, "addr="+c.Net.LocalAddr().String()+" laddr="+s.addr+" ")
	require.Contains(t, c.Do("INFO", "server").Str, "name=tls,bind=127.0.0.1,port="+s.addr[len("127.0.0.1:"):])
}

// dribble sends one byte in each packet.
type dribble struct{ net.Conn }

func (d dribble) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// hoard keeps what is written until something is read.
type hoard struct {
	net.Conn
	kept []byte
}

func (h *hoard) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p...)
	return len(p), nil
}

func (h *hoard) SetWriteDeadline(time.Time) error { return nil } // CloseWrite sets one

func (h *hoard) Read(p []byte) (int, error) {
	if _, err := h.Conn.Write(h.kept); err != nil {
		return 0, err
	}
	h.kept = nil
	return h.Conn.Read(p)
}

// over makes a TLS connection over one that wrap changes.
func (s *tlsServer) over(t *testing.T, wrap func(net.Conn) net.Conn) *redistest.Conn {
	t.Helper()
	plain, err := net.Dial("tcp", s.addr)
	require.NoError(t, err)
	config := s.client(t, "client")
	config.ServerName = "127.0.0.1"
	return redistest.Wrap(t, tls.Client(wrap(plain), config))
}

func TestARecordMayArriveByteByByte(t *testing.T) {
	c := startTLS(t).over(t, func(c net.Conn) net.Conn { return dribble{c} })
	value := strings.Repeat("v", 3000)
	require.Equal(t, "OK", c.Do("SET", "k", value).Str)
	require.Equal(t, value, c.Do("GET", "k").Str)
}

func TestRequestsMayArriveTogetherWithTheEndOfTheHandshake(t *testing.T) {
	s := startTLS(t)
	for range 20 {
		c := s.over(t, func(c net.Conn) net.Conn { return &hoard{Conn: c} })
		require.Equal(t, "PONG", c.Do("PING").Str)
	}
}

// The client says that it will send no more, but leaves the socket open.
func TestRequestsBeforeTheEndOfTheInputAreAnswered(t *testing.T) {
	s := startTLS(t)
	c := s.over(t, func(c net.Conn) net.Conn { return &hoard{Conn: c} })
	require.Equal(t, "PONG", c.Do("PING").Str)
	require.NoError(t, c.Send([]byte("PING\r\nPING\r\n")))
	require.NoError(t, c.Net.(*tls.Conn).CloseWrite())
	require.Equal(t, "PONG", c.Read().Str)
	require.Equal(t, "PONG", c.Read().Str)
	_, err := c.TryRead()
	require.Equal(t, io.EOF, err)
}

func TestEveryEndOfAConnectionIsAnnounced(t *testing.T) {
	s := startTLS(t)
	admin := redistest.Dial(t, s.plain)
	for _, end := range []func(c *redistest.Conn){
		func(c *redistest.Conn) { require.Equal(t, "OK", c.Do("QUIT").Str) },
		func(c *redistest.Conn) {
			id := strconv.FormatInt(c.Do("CLIENT", "ID").Int, 10)
			require.Equal(t, int64(1), admin.Do("CLIENT", "KILL", "ID", id).Int)
		},
		func(c *redistest.Conn) {
			require.NoError(t, c.Send([]byte("*1\r\nx\r\n")))
			require.Equal(t, "ERR Protocol error: expected '$', got 'x'", c.Read().Str)
		},
		func(c *redistest.Conn) {
			ok(t, admin, "LAB", "FAULT", "ADD", "r", "CMD", "GET", "ACTION", "DROP-REPLY")
			require.NoError(t, c.Send([]byte("GET k\r\n")))
		},
	} {
		c := s.dial(t)
		require.Equal(t, "PONG", c.Do("PING").Str)
		end(c)
		_, err := c.TryRead()
		require.Equal(t, io.EOF, err, "io.ErrUnexpectedEOF is an end without close_notify")
	}
}

func TestFaultsCutAndResetConnectionsWithTLS(t *testing.T) {
	s := startTLS(t)
	admin := redistest.Dial(t, s.plain)
	c := s.dial(t)
	c.Do("SET", "k", "0123456789")
	ok(t, admin, "LAB", "FAULT", "ADD", "cut", "CMD", "GET", "TIMES", "1", "ACTION", "CUT", "9")
	require.NoError(t, c.Send([]byte("GET k\r\n")))
	got, err := io.ReadAll(c.Net)
	require.NoError(t, err)
	require.Equal(t, "$10\r\n0123", string(got))
	c = s.dial(t)
	ok(t, admin, "LAB", "FAULT", "ADD", "reset", "CMD", "GET", "TIMES", "1", "ACTION", "RESET-AFTER")
	require.NoError(t, c.Send([]byte("GET k\r\n")))
	_, err = c.TryRead()
	require.ErrorContains(t, err, "reset by peer")
}

func TestABlackHoleStopsClientsWithTLS(t *testing.T) {
	s := startTLS(t)
	c, admin := s.dial(t), redistest.Dial(t, s.plain)
	require.Equal(t, "PONG", c.Do("PING").Str)
	ok(t, admin, "LAB", "BLACKHOLE", "ON")
	require.NoError(t, c.Send([]byte("INCR k\r\n")))
	c.Net.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, err := c.Net.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	ok(t, admin, "LAB", "BLACKHOLE", "OFF")
	require.Equal(t, int64(1), c.Read().Int)
}

func TestAClientThatReadsSlowlyGetsEveryByte(t *testing.T) {
	t.Parallel()
	s := startTLS(t)
	c := s.dial(t)
	value := strings.Repeat("0123456789abcdef", 1<<14)
	c.Do("SET", "k", value)
	const times = 60 // 15 MB: more than the sockets hold
	require.NoError(t, c.Send(bytes.Repeat([]byte("GET k\r\n"), times)))
	admin := redistest.Dial(t, s.plain)
	redistest.Until(t, func() bool {
		return strings.Contains(admin.Do("CLIENT", "LIST", "TYPE", "normal").Str, "events=rw")
	})
	for range times {
		require.Equal(t, value, c.Read().Str)
	}
	require.Equal(t, "PONG", c.Do("PING").Str)
}

func TestABlockedClientThatLeavesIsForgotten(t *testing.T) {
	s := startTLS(t)
	c, admin := s.dial(t), redistest.Dial(t, s.plain)
	require.NoError(t, c.Send([]byte("BLPOP k 0\r\n")))
	blocked := func(n string) func() bool {
		return func() bool { return strings.Contains(admin.Do("INFO", "clients").Str, "blocked_clients:"+n+"\r\n") }
	}
	redistest.Until(t, blocked("1"))
	c.Close()
	redistest.Until(t, blocked("0"))
}

func TestMastersHaveATLSPortEach(t *testing.T) {
	dir := t.TempDir()
	masters := startMasters(t, 3, "--lab-tls", dir)
	require.Len(t, masters.TLSAddrs(), 3)
	s := &tlsServer{dir: dir}
	for i, addr := range masters.TLSAddrs() {
		c := redistest.DialTLS(t, addr, s.client(t, "client"))
		require.Equal(t, "OK", c.Do("SET", "k", strconv.Itoa(i)).Str)
		require.Equal(t, strconv.Itoa(i), dialMaster(t, masters, i+1).Do("GET", "k").Str)
	}
}
