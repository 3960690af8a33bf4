package node_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// silence connects to the tls-port and sends nothing. It returns once the server has accepted the connection.
func (s *tlsServer) silence(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	redistest.Until(t, func() bool { return s.logged("Accepted " + c.LocalAddr().String()) })
	return c
}

// failed returns how many failed handshakes the log speaks of, and how many of them have a line.
func (s *tlsServer) failed() (all, lines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.log {
		rest, ok := strings.CutPrefix(line, "Error accepting a client connection: ")
		switch count, more := strings.CutSuffix(rest, " more handshakes have failed"); {
		case ok && more:
			n, _ := strconv.Atoi(count) // 0 fails the test
			all += n
		case ok:
			all, lines = all+1, lines+1
		}
	}
	return all, lines
}

func requireEnd(t *testing.T, c net.Conn) {
	t.Helper()
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
	require.False(t, errors.Is(err, os.ErrDeadlineExceeded))
}

// hello returns the first record of a client.
func hello(t *testing.T) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() { _ = tls.Client(theirs, &tls.Config{InsecureSkipVerify: true}).Handshake() }()
	buf := make([]byte, 16<<10)
	n, err := ours.Read(buf)
	require.NoError(t, err)
	require.NoError(t, ours.Close())
	return buf[:n]
}

func TestHalfHandshakesKeepNobodyOut(t *testing.T) {
	needProc(t)
	const maxClients, attackers = 20, 300
	first := hello(t)
	rejected := func(c *redistest.Conn) int {
		n, err := strconv.Atoi(infoField(c, "rejected_connections"))
		require.NoError(t, err)
		return n
	}
	var logs []func() // each takes a second
	for name, sent := range map[string][]byte{"silent": nil, "one byte": first[:1], "half": first[:99], "all": first} {
		s := startTLS(t, "--maxclients", strconv.Itoa(maxClients))
		old, oldTLS := redistest.Dial(t, s.plain), s.dial(t)
		require.Equal(t, "PONG", old.Do("PING").Str, name)
		require.Equal(t, "PONG", oldTLS.Do("PING").Str, name)
		before, _ := openResources(t)
		for range attackers {
			c, err := net.Dial("tcp", s.addr)
			require.NoError(t, err, name)
			defer c.Close()
			_, _ = c.Write(sent) // may find that the server has hung up
		}
		redistest.Until(t, func() bool { return rejected(old) >= attackers-maxClients })
		files, _ := openResources(t)
		require.LessOrEqual(t, files-before, attackers+maxClients, "%s: a handshake has one descriptor", name)
		require.Equal(t, "PONG", redistest.Dial(t, s.plain).Do("PING").Str, name)
		require.Equal(t, "PONG", s.dial(t).Do("PING").Str, name)
		require.Equal(t, "PONG", oldTLS.Do("PING").Str, name)
		logs = append(logs, func() {
			redistest.Until(t, func() bool {
				all, lines := s.failed()
				return all >= rejected(old) && lines < all
			})
		})
	}
	for _, log := range logs {
		log()
	}
}

func TestTheOldestSilentConnectionLosesItsPlaceFirst(t *testing.T) {
	s := startTLS(t, "--maxclients", "5")
	admin := redistest.Dial(t, s.plain)
	require.Equal(t, "PONG", admin.Do("PING").Str)
	begun, first, second, late := s.silence(t), s.silence(t), s.silence(t), s.silence(t)
	_, err := begun.Write(hello(t)[:5])
	require.NoError(t, err)
	for i, loser := range []net.Conn{first, second, late, begun} {
		require.Equal(t, "PONG", redistest.Dial(t, s.plain).Do("PING").Str)
		requireEnd(t, loser)
		require.Equal(t, strconv.Itoa(i+1), infoField(admin, "rejected_connections"))
	}
	redistest.Until(t, func() bool {
		return s.logged("another client needs its place (maxclients) (addr=" + begun.LocalAddr().String())
	})
	requireClosed(t, redistest.Dial(t, s.plain)) // five clients, none of them in a handshake
	_, err = tls.Dial("tcp", s.addr, s.client(t, "client"))
	require.Error(t, err)
	require.Equal(t, "6", infoField(admin, "rejected_connections"))
}

// gate sends five bytes, and the rest once it is open.
type gate struct {
	net.Conn
	sent, open chan struct{}
}

func (g *gate) Write(p []byte) (int, error) {
	if g.sent == nil {
		return g.Conn.Write(p)
	}
	_, _ = g.Conn.Write(p[:5]) // the second write fails as well
	close(g.sent)
	g.sent = nil
	<-g.open
	n, err := g.Conn.Write(p[5:])
	return n + 5, err
}

func TestAHandshakeThatHasBegunOutlivesSilentConnections(t *testing.T) {
	s := startTLS(t, "--maxclients", "3")
	slow := &gate{s.silence(t), make(chan struct{}), make(chan struct{})}
	config := s.client(t, "client")
	config.ServerName = "127.0.0.1"
	secret, sent := tls.Client(slow, config), slow.sent
	shaken := make(chan error)
	go func() { shaken <- secret.Handshake() }()
	<-sent
	for range 10 {
		silent := s.silence(t)
		one, two := redistest.Dial(t, s.plain), redistest.Dial(t, s.plain)
		require.Equal(t, "PONG", one.Do("PING").Str)
		require.Equal(t, "PONG", two.Do("PING").Str)
		requireEnd(t, silent)
		one.Close()
		waitForField(two, "connected_clients", "1")
		two.Close()
	}
	close(slow.open)
	require.NoError(t, <-shaken)
	require.Equal(t, "PONG", redistest.Wrap(t, secret).Do("PING").Str)
}

// Handshakes end in every possible way at the same time, while others take their places.
func TestHandshakesThatLoseTheirPlacesLeaveNothing(t *testing.T) {
	needProc(t)
	s := startTLS(t, "--maxclients", "6")
	admin := redistest.Dial(t, s.plain)
	require.Equal(t, "PONG", admin.Do("PING").Str)
	files, goroutines := openResources(t)
	config, first := s.client(t, "client"), hello(t)
	config.ServerName = "127.0.0.1"
	served := make([]int, 12)
	var all sync.WaitGroup
	for i := range served {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := range 60 {
				c, err := net.Dial("tcp", s.addr)
				if err != nil {
					continue
				}
				switch (i + n) % 4 {
				case 0:
					_, _ = c.Write(first[:n])
				case 1:
					_, _ = c.Write(first)
				default:
					secret := tls.Client(c, config)
					_, _ = secret.Write([]byte("PING\r\n"))
					if n, _ := io.ReadFull(secret, make([]byte, 7)); n == 7 {
						served[i]++
					}
				}
				_ = c.(*net.TCPConn).SetLinger(n % 2 * -1) // 0 resets
				_ = c.Close()
			}
		}()
	}
	all.Wait()
	redistest.Until(t, func() bool {
		nowFiles, now := openResources(t)
		return nowFiles <= files && now <= goroutines
	})
	waitForField(admin, "connected_clients", "1")
	require.Equal(t, "PONG", s.dial(t).Do("PING").Str)
	require.Regexp(t, regexp.MustCompile(`[1-9]`), fmt.Sprint(served), "some handshakes must have come to their end")
}
