package node_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// outcome is the reply to some bytes, and whether the connection stayed open.
type outcome struct {
	reply string
	open  bool
}

// observer is an ordinary client. It watches another client through INFO and CLIENT LIST.
type observer struct {
	*redistest.Watcher
	addr string
}

func observe(t *testing.T, addr, password string) observer {
	o := observer{redistest.Watch(t, addr), addr}
	if password != "" {
		require.Equal(t, "OK", o.Do("AUTH", password).Str)
	}
	return o
}

// outcome sends the bytes and waits until the server has read them or has closed the connection.
// Then it closes the sending side, after which both servers close.
func (o observer) outcome(t *testing.T, sent []byte) (got outcome) {
	t.Helper()
	c, err := net.Dial("tcp", o.addr)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(redistest.Limit)))
	redistest.Until(t, func() bool { return o.ClientLine(c) != "" })
	before, _ := o.BytesRead()
	read := make(chan error, 1)
	go func() {
		reply, err := io.ReadAll(c)
		got.reply = string(reply)
		read <- err
	}()
	_, _ = c.Write(sent) // fails if the server closes early
	open := true
	for idle := 0; open && idle < 3; idle++ { // the server may close one pass after it read everything
		now, _ := o.BytesRead()
		line := o.ClientLine(c)
		open = line != ""
		if now < before+int64(len(sent)) || !strings.Contains(line, " obl=0 oll=0 ") {
			idle = -1
		}
	}
	_ = c.(*net.TCPConn).CloseWrite()
	if err := <-read; err != nil {
		require.ErrorContains(t, err, "connection reset")
	}
	got.open = open
	return got
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

func command(args ...string) string { return string(resp.AppendRequest(nil, args...)) }

func random(n int, alphabet string) string {
	rng := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.UintN(256))
		if alphabet != "" {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
	}
	return string(b)
}

// The replies of Redis are the expected ones, and so is its decision to close. Cases that depend on
// how TCP cut the bytes are missing: Redis accepts a line of any length if the end of the line
// comes with the bytes that exceed the limit.
func TestMalformedInputIsAnsweredAndClosedAsByRedis(t *testing.T) {
	compareOutcomes(t, "", []string{
		"*abc\r\n", "*\r\n", "* 1\r\n", "*+1\r\n", "*01\r\n", "*1 \r\n", "*-5\r\nPING\r\n", "*0\r\nPING\r\n", "*-0\r\n",
		"*2147483648\r\n", "*9223372036854775807\r\n", "*99999999999999999999\r\n", "*-9223372036854775809\r\n",
		"*1\r\nPING\r\n", "*1\r\n\r\n", "*1\r\n:4\r\nPING\r\n", "*1\r\n*1\r\n$4\r\nPING\r\n", "*2\r\n$4\r\nECHO\r\nx\r\n",
		"*1\r\n$-2\r\n", "*1\r\n$-1\r\n", "*1\r\n$abc\r\n", "*1\r\n$\r\n", "*1\r\n$ 4\r\nPING\r\n", "*1\r\n$04\r\nPING\r\n",
		"*1\r\n$536870913\r\n", "*1\r\n$9223372036854775807\r\n", "*1\r\n$99999999999999999999\r\n",
		"$9223372036854775807\r\n",
		"*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n", "*1\r\n$4\rxPING\r\n", "*1\rx$4\r\nPING\r\n", "*1\n$4\nPING\n",
		"*1\r\n$0\r\n\r\n", "*2\r\n$0\r\n\r\n$0\r\n\r\n",
		"*" + repeat("1", 70_000), "*1\r\n$" + repeat("1", 70_000), "*1\r\n" + repeat("x", 70_000),
		"*1\r\n$4\r\nPING\r\n*x\r\n", "PING\r\n*1\r\n$-9\r\nPING\r\n",
		"\r\n\r\n\n\nPING\r\n", "PING\n", "  PING  \r\n", "PING", "\r\n", "\x00", "\x00\r\n", "PING\x00\r\nPING\r\n",
		"SET \"a\r\n", "SET 'a\r\n", "ECHO \"a\"b\r\n", "ECHO \"\\x41\\n\"\r\n", "ECHO 'a\\'b'\r\n", "ECHO a\"b\"\r\n",
		"ECHO \"a\r\nPING\r\n",
		repeat("x", 65_535) + "\r\n", repeat("x", 65_536), repeat("x", 65_537),
		"ECHO " + repeat("x", 60_000) + "\r\n",
		"GET / HTTP/1.1\r\nAccept: */*\r\n\r\n", "POST / HTTP/1.1\r\nPING\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nPING\r\n", "hOsT: x\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + random(500, "") + "\n",
		"+OK\r\n", "-ERR\r\n", ":1\r\n", "_\r\n", "%1\r\n$1\r\na\r\n$1\r\nb\r\n", ">1\r\n+x\r\n",
		repeat("\x00", 1<<20), repeat("A", 1<<20), random(1<<20, ""), random(1<<20, "*$\r\n0123"), random(1<<20, "ab \n"),
		random(1<<20, "\"' \r\nx"),
		repeat("*1\r\n$4\r\nPING\r\n", 20) + random(1<<20, "xyz"),
	})
}

// An incomplete command is neither executed nor answered, wherever it is cut.
func TestACommandCutShortIsNotExecuted(t *testing.T) {
	whole := command("SET", "cut", "value") + command("ECHO", repeat("y", 300))
	var frames []string
	for n := 1; n < len(whole); n += 1 + n/40 {
		frames = append(frames, whole[:n])
	}
	compareOutcomes(t, "", append(frames, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$500000\r\n"+repeat("v", 400_000)))
}

// A client without the password can make the server keep only little.
func TestLittleIsAcceptedBeforeThePassword(t *testing.T) {
	big := command("ECHO", repeat("x", 20_000))
	many := command(strings.Fields("DEL a b c d e f g h i j k l")...)
	compareOutcomes(t, "secret", []string{
		"*11\r\n", "*10\r\n", "*10\r\n$16385\r\n", "*10\r\n$16384\r\n", big, many, "PING\r\n" + big, command("PING") + many,
		command("AUTH", repeat("x", 16_385)), command("AUTH", repeat("x", 16_384)), command("GET", "k"), "GET k\r\n",
		repeat("x", 60_000) + "\r\n", repeat("x", 70_000), "ECHO " + repeat("x", 20_000) + "\r\n",
		command("AUTH", "secret") + big, command("AUTH", "secret") + many, command("AUTH", "wrong") + big,
		command("AUTH", "wrong") + many,
		command("AUTH", "default", "secret") + command("ECHO", "x") + big + many,
		command("GET", "x") + command("AUTH", "secret") + big,
		command("AUTH", "secret") + command("AUTH", "wrong") + big, "AUTH secret\r\n" + big + "*x\r\n",
		command("AUTH", "secret") + command("RESET") + big,
		command("AUTH", "secret") + command("RESET") + command("PING") + many,
		"POST / HTTP/1.1\r\nPING\r\n", "*1\r\n$-2\r\n", random(1<<20, ""),
	})
}

func compareOutcomes(t *testing.T, password string, frames []string) {
	t.Helper()
	var args []string
	if password != "" {
		args = []string{"--requirepass", password}
	}
	redistest.Require(t)
	theirs := observe(t, redistest.Start(t, args...).Addr, password)
	ours := observe(t, start(t, args), password)
	for _, frame := range frames {
		want, got := theirs.outcome(t, []byte(frame)), ours.outcome(t, []byte(frame))
		if want != got {
			t.Errorf("%s\n  Redis: %s\n  here:  %s", clip(frame), want, got)
		}
		ours.Do("DEL", "cut")
	}
	require.Equal(t, "PONG", ours.Do("PING").Str)
}

func (o outcome) String() string {
	state := "closed"
	if o.open {
		state = "open"
	}
	return state + " after " + clip(o.reply)
}

func clip(s string) string {
	if len(s) > 120 {
		return fmt.Sprintf("%q... (%d bytes)", s[:120], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// Clients may close or reset their connection in any state. The server then frees everything that
// they used.
func TestClientsThatVanishLeaveNothingBehind(t *testing.T) {
	o := observe(t, start(t, nil), "")
	o.Do("SET", "big", repeat("x", 1<<20))
	for i, state := range []string{
		"", "*", "*3\r\n$3\r\nSET\r\n$1\r\nk", "*2\r\n$3\r\nGET\r\n$3\r\nbig\r\n*1\r\n$4\r\nPI", "PIN", command("GET", "big"),
		repeat(command("GET", "big"), 30), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$500000\r\n" + repeat("v", 400_000), "*x\r\n",
		repeat("PING\r\n", 20_000),
	} {
		for _, reset := range []bool{false, true} {
			c, err := net.Dial("tcp", o.addr)
			require.NoError(t, err)
			_, err = c.Write([]byte(state))
			require.NoError(t, err)
			if i%2 == 0 {
				o.Do("PING") // the server has read it now; otherwise it may be lost on the way
			}
			if reset {
				require.NoError(t, c.(*net.TCPConn).SetLinger(0))
			}
			require.NoError(t, c.Close())
		}
	}
	redistest.Until(t, func() bool { return strings.Count(o.Do("CLIENT", "LIST").Str, "\n") == 1 })
}

// A pipeline is answered even after the client has closed its sending side. Output that the socket
// does not take at once is lost in Redis and here. That amount cannot be compared.
func TestAHalfClosedClientGetsItsAnswers(t *testing.T) {
	redistest.Require(t)
	theirs, ours := observe(t, redistest.Start(t).Addr, ""), observe(t, start(t, nil), "")
	for _, o := range []observer{theirs, ours} {
		o.Do("SET", "k", repeat("x", 1000))
	}
	for _, pipeline := range []string{
		command("PING"), repeat(command("PING"), 10_000), repeat("PING\r\n", 50_000), repeat(command("GET", "k"), 60),
		command("PING") + "*2\r\n$3\r\nGET", command("PING") + "*x\r\n" + command("PING"), command("QUIT") + command("PING"),
	} {
		want, got := halfClosed(t, theirs.addr, pipeline), halfClosed(t, ours.addr, pipeline)
		require.Equal(t, clip(want), clip(got), clip(pipeline))
	}
}

// halfClosed sends the bytes, closes the sending side and returns all replies. It reads while it
// writes.
func halfClosed(t *testing.T, addr, sent string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(redistest.Limit)))
	written := make(chan error, 1)
	go func() {
		_, err := c.Write([]byte(sent))
		if err == nil {
			err = c.(*net.TCPConn).CloseWrite()
		}
		written <- err
	}()
	var reply bytes.Buffer
	_, err = io.Copy(&reply, c)
	require.NoError(t, err)
	require.NoError(t, <-written)
	return reply.String()
}
