package proxy

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// inOrder starts a proxy that keeps the order, with two clients and their ends at the upstream.
func inOrder(t *testing.T) (r *running, a, b both) {
	u := newUpstream(t)
	r = startWith(t, Config{Upstreams: []string{u.at()}})
	a.client = conn{t, respclient.New(r.dial(), 4096)}
	a.server = conn{t, respclient.New(u.accept(), 4096)}
	b.client = conn{t, respclient.New(r.dial(), 4096)}
	b.server = conn{t, respclient.New(u.accept(), 4096)}
	return r, a, b
}

type both struct{ client, server conn }

// asks sends requests, and expects the first one at the upstream.
func (b both) asks(requests ...string) {
	b.client.t.Helper()
	b.client.send(requests...)
	b.gets(requests[0])
}

// gets expects a request at the upstream.
func (b both) gets(request string) {
	b.client.t.Helper()
	words := strings.Fields(request)
	for i, word := range words {
		words[i] = `"` + word + `"`
	}
	require.Equal(b.client.t, "["+strings.Join(words, ", ")+"]", b.server.read())
}

// isSilent reports whether the upstream has got nothing more from a client. It asks the loop, so it waits for nothing.
func (r *running) isSilent(clients ...both) {
	r.t.Helper()
	for range 3 {
		done := make(chan struct{})
		r.proxy.loop.Post(func() { close(done) })
		<-done
	}
	for _, b := range clients {
		b.server.hasNothing()
	}
}

// hasNothing requires that nothing has come.
func (c conn) hasNothing() {
	c.t.Helper()
	raw, err := c.Net.(*net.TCPConn).SyscallConn()
	require.NoError(c.t, err)
	var one [1]byte
	require.NoError(c.t, raw.Control(func(fd uintptr) {
		_, _, err = unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	}))
	require.ErrorIs(c.t, err, unix.EAGAIN)
}

// queued waits until so many pairs wait for the turn.
func (r *running) queued(want int) {
	for got := -1; got != want; {
		done := make(chan int)
		r.proxy.loop.Post(func() { done <- len(r.proxy.upstreams[0].turn.queue) })
		got = <-done
	}
}

func (b both) replies(text string) {
	require.NoError(b.client.t, b.server.Send([]byte(text)))
}

func TestOneRequestAtATimeIsUnderWay(t *testing.T) {
	r, a, b := inOrder(t)
	a.asks("GET k", "GET l")
	b.client.send("GET m", "GET n")
	r.queued(1)
	r.isSilent(b)
	a.replies("$1\r\nx\r\n")
	b.gets("GET m")
	r.queued(1)
	require.Equal(t, `"x"`, a.client.read())
	r.isSilent(a)
	b.replies(">1\r\n+a push message\r\n$1")
	b.replies("\r\nx\r\n")
	a.gets("GET l")
	a.replies("+last\r\n")
	b.gets("GET n")
}

func TestHalfARequestTakesNoTurn(t *testing.T) {
	_, a, b := inOrder(t)
	require.NoError(t, a.client.Send([]byte("*2\r\n$3\r\nGET\r\n$1\r\n")))
	b.asks("GET m")
	b.replies("$-1\r\n")
	require.NoError(t, a.client.Send([]byte("k\r\n")))
	a.gets("GET k")
}

func TestARequestThatWaitsLeavesTheTurn(t *testing.T) {
	for _, request := range []string{"BLPOP list 0", "EVAL slow 0"} {
		_, a, b := inOrder(t)
		a.asks(request, "GET a")
		b.client.send("GET b", "GET c")
		b.gets("GET b")
		b.replies("+b\r\n")
		b.gets("GET c")
		a.replies("+late\r\n")
		require.Equal(t, "+late", a.client.read())
		b.replies("+c\r\n")
		a.gets("GET a")
	}
}

func TestAConnectionThatEndsKeepsNoTurn(t *testing.T) {
	r, a, b := inOrder(t)
	a.asks("GET k")
	b.client.send("GET m")
	r.queued(1)
	require.NoError(t, a.server.Net.Close())
	b.gets("GET m")
	require.NoError(t, b.client.Net.Close())
	b.replies("+m\r\n")
	r.left(1)
	require.NoError(t, b.server.Net.Close())
	r.left(0)
}

// The request of a client that is gone is executed, and the next one must come behind it.
func TestTheRequestOfADeadClientIsAwaited(t *testing.T) {
	r, a, b := inOrder(t)
	a.asks("SET k v")
	b.client.send("GET k")
	r.queued(1)
	require.NoError(t, a.client.Net.Close())
	r.isSilent(b)
	a.replies("+OK\r\n")
	b.gets("GET k")
	r.left(2)
	require.NoError(t, a.server.Net.Close())
	r.left(1)

	c := conn{t, respclient.New(r.dial(), 4096)}
	c.send("GET x")
	r.queued(1)
	hardReset(t, b.client.Net.(*net.TCPConn))
	r.isSilent(b)
	b.replies("+v\r\n")
	r.left(1)
}

func TestAClientThatDoesNotReadKeepsNoTurn(t *testing.T) {
	_, a, b := inOrder(t)
	a.asks("GET large", "GET more")
	b.client.send("GET k")
	go func() { _ = a.server.Send([]byte("$20000000\r\n" + strings.Repeat("x", 20_000_000) + "\r\n")) }()
	b.gets("GET k")
	b.replies("$-1\r\n")
	b.asks("GET l")
	b.replies("$-1\r\n")
	v, err := a.client.Read()
	require.NoError(t, err)
	require.Len(t, v.Str, 20_000_000)
	a.gets("GET more")
}

func TestALargeRequestHasATurn(t *testing.T) {
	r, a, b := inOrder(t)
	b.asks("GET k")
	long := strings.Repeat("x", 300_000)
	go a.client.send("SET k " + long)
	r.queued(1)
	r.isSilent(a)
	b.replies("$-1\r\n")
	a.gets("SET k " + long)
	b.client.send("GET k")
	r.queued(1)
	a.replies("+OK\r\n")
	b.gets("GET k")
}
