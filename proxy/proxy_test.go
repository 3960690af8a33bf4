package proxy

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// running is a proxy in front of one upstream, and its log.
type running struct {
	t     *testing.T
	proxy *Proxy
	mu    sync.Mutex
	lines []string
}

// start runs a proxy that keeps no order.
func start(t *testing.T, upstreams ...string) *running {
	return startWith(t, Config{Upstreams: upstreams, Free: true})
}

// startWith runs a proxy. At the end of the test, no connection may be left.
func startWith(t *testing.T, cfg Config) *running {
	r := &running{t: t}
	var err error
	cfg.Bind, cfg.Multiplexer, cfg.Match = "127.0.0.1", config.Default().Multiplexer, store.MatchPattern
	cfg.Seed, cfg.Log = 1, r.log
	r.proxy, err = New(cfg)
	require.NoError(t, err)
	ended := make(chan error)
	go func() { ended <- r.proxy.Run() }()
	t.Cleanup(func() {
		r.proxy.Stop()
		require.NoError(t, <-ended)
		for _, u := range r.proxy.upstreams {
			require.Empty(t, u.pairs)
		}
	})
	return r
}

func (r *running) log(_ byte, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// logged returns the log, with NAME for the address of the upstream.
func (r *running) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.ReplaceAll(strings.Join(r.lines, "\n"), r.proxy.upstreams[0].name, "NAME")
}

// dial connects a client.
func (r *running) dial() *net.TCPConn { return dialPort(r.t, r.proxy.Ports()[0]) }

func dialPort(t *testing.T, port int) *net.TCPConn {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
	return c.(*net.TCPConn)
}

// left waits until the proxy has this many pairs.
func (r *running) left(want int) {
	for {
		got := make(chan int)
		r.proxy.loop.Post(func() { got <- len(r.proxy.upstreams[0].pairs) })
		if <-got == want {
			return
		}
		runtime.Gosched()
	}
}

// upstream0 is a server of a test, which plays each connection by hand.
type upstream0 struct {
	t *testing.T
	net.Listener
}

func newUpstream(t *testing.T) upstream0 {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return upstream0{t, l}
}

func (u upstream0) at() string { return u.Addr().String() }

func (u upstream0) accept() *net.TCPConn {
	c, err := u.Accept()
	require.NoError(u.t, err)
	u.t.Cleanup(func() { _ = c.Close() })
	require.NoError(u.t, c.SetDeadline(time.Now().Add(time.Minute)))
	return c.(*net.TCPConn)
}

// between starts a proxy, and returns both ends of a pair.
func between(t *testing.T) (r *running, client, server *net.TCPConn) {
	u := newUpstream(t)
	r = start(t, u.at())
	client = r.dial()
	return r, client, u.accept()
}

func send(t *testing.T, c net.Conn, text string) {
	_, err := io.WriteString(c, text)
	require.NoError(t, err)
}

func arrives(t *testing.T, c net.Conn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	_, err := io.ReadFull(c, got)
	require.NoError(t, err)
	require.True(t, text == string(got), "%.200q instead of %.200q", got, text)
}

// endsBy reads to the end of a connection. want is nil for an ordinary end.
func endsBy(t *testing.T, c net.Conn, want error, rest string) {
	t.Helper()
	got, err := io.ReadAll(c)
	require.ErrorIs(t, err, want)
	require.Equal(t, rest, string(got))
}

func hardReset(t *testing.T, c *net.TCPConn) {
	require.NoError(t, c.SetLinger(0))
	require.NoError(t, c.Close())
}

func request(words ...string) string { return string(resp.AppendRequest(nil, words...)) }

func TestAClientDoesNotNoticeTheProxy(t *testing.T) {
	s := miniredistest.Run(t)
	r := start(t, s.Addr())
	a, b := respclient.New(r.dial(), 4096), respclient.New(r.dial(), 4096)
	do := func(c *respclient.Conn, want string, words ...string) {
		t.Helper()
		v, err := c.Do(words...)
		require.NoError(t, err)
		require.Equal(t, want, v.String())
	}
	do(a, "+OK", "SET", "k", "v")
	do(a, `+OK`, "SELECT", "3")
	do(a, "(nil)", "GET", "k")
	do(b, `"v"`, "GET", "k")
	do(b, "-ERR unknown command 'NOPE', with args beginning with: 'a' ", "NOPE", "a")
	do(a, "+OK", "MULTI")
	do(a, "+QUEUED", "INCR", "n")
	do(a, "[:1]", "EXEC")
	do(b, `["subscribe", "news", :1]`, "SUBSCRIBE", "news")
	do(a, ":1", "PUBLISH", "news", "x")
	v, err := b.Read()
	require.NoError(t, err)
	require.Equal(t, `["message", "news", "x"]`, v.String())
	require.NoError(t, a.Send(resp.AppendRequest(nil, "BLPOP", "list", "0")))
	c := respclient.New(r.dial(), 4096)
	do(c, "+OK", "SELECT", "3")
	do(c, ":1", "RPUSH", "list", "x")
	v, err = a.Read()
	require.NoError(t, err)
	require.Equal(t, `["list", "x"]`, v.String())
	do(a, "+OK", "QUIT")
	_, err = a.Read()
	require.ErrorIs(t, err, io.EOF)
}

func TestBytesGoThroughUnchanged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	long := strings.Repeat("0123456789abcdef", 20_000)
	requests := []string{
		request("PING"), "PING\r\n", "\r\n", "*0\r\n", "*-1\r\n", "*1\rX$4\rXPINGXX", request("SET", "k", long),
		request("MSET", "a", long, "b", long[:70_000]), "set \"a\\x00\n\" 'b\\''\n",
		request(strings.Split(long[:90_000], "5")...),
	}
	replies := []string{
		"+OK\r\n", "$-1\r\n", "*2\r\n:1\r\n%1\r\n+a\r\n_\r\n", ">2\r\n+a\r\n+b\r\n", "$300000\r\n" + long[:300_000] + "\r\n",
		"|1\r\n+a\r\n:1\r\n$?\r\n;2\r\nab\r\n;0\r\n", "(1234567890123456789012345\r\n",
	}
	for _, end := range []string{"", "*1\r\n$-2\r\nthe rest is no request" + long, "*3\r\n$100000\r\n" + long} {
		_, client, server := between(t)
		var sent, answered strings.Builder
		for range 40 {
			sent.WriteString(requests[random.IntN(len(requests))])
			answered.WriteString(replies[random.IntN(len(replies))])
		}
		sent.WriteString(end)
		done := make(chan error, 2)
		for _, way := range []struct {
			from *net.TCPConn
			text string
		}{{client, sent.String()}, {server, answered.String()}} {
			pieces := rand.New(rand.NewPCG(3, 4))
			go func() {
				var err error
				for rest := way.text; rest != "" && err == nil; {
					n := min(1+pieces.IntN(1<<pieces.IntN(18)), len(rest))
					_, err = io.WriteString(way.from, rest[:n])
					rest = rest[n:]
				}
				done <- err
			}()
		}
		arrives(t, server, sent.String())
		arrives(t, client, answered.String())
		require.NoError(t, errors.Join(<-done, <-done))
	}
}

func TestARequestIsSentBeforeItIsWhole(t *testing.T) {
	_, client, server := between(t)
	for _, part := range []string{"*100\r\n", "$3\r\nS", "ET\r\n"} { // without a password the first line is refused
		send(t, client, part)
		arrives(t, server, part)
	}
}

func TestRepliesStillComeWhenAClientHasSentAll(t *testing.T) {
	r, client, server := between(t)
	send(t, client, "PING\r\n")
	require.NoError(t, client.CloseWrite())
	endsBy(t, server, nil, "PING\r\n")
	send(t, server, "+PONG\r\n")
	require.NoError(t, server.Close())
	endsBy(t, client, nil, "+PONG\r\n")
	r.left(0)
	require.Empty(t, r.logged())
}

func TestTheEndOfAnUpstreamIsTheEndOfItsClients(t *testing.T) {
	r, client, server := between(t)
	send(t, server, "+OK\r\n")
	arrives(t, client, "+OK\r\n")
	hardReset(t, server)
	endsBy(t, client, syscall.ECONNRESET, "")
	r.left(0)
	require.Empty(t, r.logged())

	r, client, server = between(t)
	send(t, server, "+OK\r\n$5\r\nhal")
	require.NoError(t, server.Close())
	endsBy(t, client, nil, "+OK\r\n$5\r\nhal")
	r.left(0)
	require.Equal(t, "Upstream NAME has ended a connection inside a reply", r.logged())
}

func TestAClientThatIsGoneEndsItsConnectionToTheUpstream(t *testing.T) {
	r, client, server := between(t)
	send(t, client, request("SET", "k", "v"))
	arrives(t, server, request("SET", "k", "v"))
	hardReset(t, client)
	endsBy(t, server, nil, "")
	r.left(0)
}

func TestWhatIsNoReplyEndsThePair(t *testing.T) {
	u := newUpstream(t)
	r := start(t, u.at())
	for range 3 {
		client := r.dial()
		server := u.accept()
		send(t, server, "HTTP/1.1 400 Bad Request\r\n")
		endsBy(t, client, syscall.ECONNRESET, "")
		_ = server.Close()
	}
	r.left(0)
	const no = "Upstream NAME has sent what is no reply: resp: unknown reply type 'H'"
	require.Equal(t, no, r.logged(), "once")

	client := r.dial()
	server := u.accept()
	send(t, server, "+OK\r\n")
	arrives(t, client, "+OK\r\n")
	send(t, server, strings.Repeat("*1\r\n", 10_000))
	_, err := io.ReadAll(client)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	r.left(0)
	require.Contains(t, r.logged(), no+"\nUpstream NAME answers again\nUpstream NAME has sent what is no reply: "+
		"resp: reply nested too deeply")
}

func TestAnUpstreamThatIsDeadResetsItsClients(t *testing.T) {
	u := newUpstream(t)
	r := start(t, u.at())
	require.NoError(t, u.Close())
	for range 5 {
		client, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.proxy.Ports()[0]))
		if err == nil { // the reset comes after that, or before
			_, err = io.ReadAll(client)
			_ = client.Close()
		}
		require.ErrorIs(t, err, syscall.ECONNRESET)
	}
	r.left(0)
	require.Equal(t, "Upstream NAME cannot be reached: connection refused", r.logged(), "once")

	l, err := net.Listen("tcp", u.at())
	require.NoError(t, err)
	u.Listener = l
	defer l.Close()
	client := r.dial()
	send(t, u.accept(), "+OK\r\n")
	arrives(t, client, "+OK\r\n")
	require.Contains(t, r.logged(), "\nUpstream NAME answers again")
}

// An upstream that closes at once, as one does that has too many clients, may have said why.
func TestTheLastWordsOfAnUpstreamAreRead(t *testing.T) {
	r, client, server := between(t)
	send(t, server, "-ERR max number of clients reached\r\n")
	require.NoError(t, server.Close())
	endsBy(t, client, nil, "-ERR max number of clients reached\r\n")
	r.left(0)
}

func TestAfterSYNCTheUpstreamMaySendAnything(t *testing.T) {
	r, client, server := between(t)
	for _, name := range []string{"PING", "PsYnC"} {
		send(t, client, request(name))
		arrives(t, server, request(name))
	}
	send(t, server, "+PONG\r\n$5\r\nREDIS*1\r\n$4\r\nPING\r\n\x00\xff")
	arrives(t, client, "+PONG\r\n$5\r\nREDIS*1\r\n$4\r\nPING\r\n\x00\xff")
	require.NoError(t, server.Close())
	endsBy(t, client, nil, "")
	r.left(0)
	require.Empty(t, r.logged())
}

func TestEachUpstreamHasAPort(t *testing.T) {
	one, two := newUpstream(t), newUpstream(t)
	r := start(t, one.at(), two.at())
	ports := r.proxy.Ports()
	require.Len(t, ports, 2)
	send(t, dialPort(t, ports[1]), "second\r\n")
	send(t, dialPort(t, ports[0]), "first\r\n")
	arrives(t, one.accept(), "first\r\n")
	arrives(t, two.accept(), "second\r\n")
}

func TestAProxyThatCannotStartSaysWhy(t *testing.T) {
	taken := newUpstream(t)
	_, port, err := net.SplitHostPort(taken.at())
	require.NoError(t, err)
	var number int
	_, err = fmt.Sscan(port, &number)
	require.NoError(t, err)
	for text, cfg := range map[string]Config{
		"the upstream 'nothing' is no address":         {Upstreams: []string{"nothing"}},
		"the upstream ':6379' is no address":           {Upstreams: []string{":6379"}},
		"the upstream '127.0.0.1:0' is no address":     {Upstreams: []string{"127.0.0.1:0"}},
		"listen on 127.0.0.1:" + port + ": address al": {Upstreams: []string{"127.0.0.1:1"}, Port: number},
		"no multiplexer has the name":                  {Multiplexer: "none"},
	} {
		cfg.Bind = "127.0.0.1"
		if cfg.Multiplexer == "" {
			cfg.Multiplexer = config.Default().Multiplexer
		}
		_, err := New(cfg)
		require.ErrorContains(t, err, text)
	}
}

func TestStopEndsEverything(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	u := newUpstream(t)
	p, err := New(Config{Bind: "127.0.0.1", Upstreams: []string{u.at()}, Multiplexer: config.Default().Multiplexer})
	require.NoError(t, err)
	ended := make(chan error)
	go func() { ended <- p.Run() }()
	client := dialPort(t, p.Ports()[0])
	server := u.accept()
	p.Stop()
	require.NoError(t, <-ended)
	endsBy(t, client, nil, "")
	endsBy(t, server, nil, "")
	require.NoError(t, u.Close())
}
