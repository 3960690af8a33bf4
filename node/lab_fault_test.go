package node_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// line splits text at spaces. Single quotes protect spaces.
func line(s string) (words []string) {
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// Tests wait in steps of tick, and fail after limit.
const (
	limit = redistest.Limit
	tick  = time.Millisecond
)

// rule adds a fault rule.
func rule(t testing.TB, admin *redistest.Conn, text string) {
	t.Helper()
	require.Equal(t, "+OK", admin.Do(append([]string{"LAB", "FAULT", "ADD"}, line(text)...)...).String(), text)
}

// pipeline sends all requests in one write.
func pipeline(t testing.TB, c *redistest.Conn, requests ...string) {
	t.Helper()
	var b []byte
	for _, r := range requests {
		b = resp.AppendRequest(b, line(r)...)
	}
	require.NoError(t, c.Send(b))
}

// requireBytes requires that want is what c receives next.
func requireBytes(t testing.TB, c *redistest.Conn, want string) {
	t.Helper()
	require.NoError(t, c.Net.SetReadDeadline(time.Now().Add(limit)))
	b := make([]byte, len(want))
	n, _ := io.ReadFull(c.Net, b)
	require.Equal(t, want, string(b[:n]))
}

// requireSilence requires that c has received nothing and is still open.
func requireSilence(t testing.TB, c, admin *redistest.Conn) {
	t.Helper()
	admin.Do("PING") // the server has written everything before this reply
	raw, err := c.Net.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	var b [4096]byte
	require.NoError(t, raw.Read(func(fd uintptr) bool {
		n, err := syscall.Read(int(fd), b[:])
		require.ErrorIs(t, err, syscall.EAGAIN, "got %q; nothing means the connection has ended", b[:max(n, 0)])
		return true
	}))
}

// readToEnd returns everything until the connection ends, and whether it ends by a reset.
func readToEnd(t testing.TB, c *redistest.Conn) (got string, reset bool) {
	t.Helper()
	require.NoError(t, c.Net.SetReadDeadline(time.Now().Add(limit)))
	b, err := io.ReadAll(c.Net)
	if err != nil {
		require.ErrorIs(t, err, syscall.ECONNRESET)
	}
	return string(b), err != nil
}

// waitParked waits until rule holds a client, and returns its description.
func waitParked(t testing.TB, admin *redistest.Conn, rule string) resp.Value {
	t.Helper()
	v := admin.Do("LAB", "HOLD", "WAIT", rule, "0")
	require.Len(t, v.Elems, 10, "%s", v)
	return v
}

// waitForBlocked waits until a client is blocked, as CLIENT LIST shows it.
func waitForBlocked(t testing.TB, admin *redistest.Conn) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(admin.Do("CLIENT", "LIST").Str, "flags=b ") }, limit, tick)
}

// timesFired returns how often the only rule has fired.
func timesFired(admin *redistest.Conn) int64 {
	return field(admin.Do("LAB", "FAULT", "LIST").Elems[0], "fired").Int
}

// waitForValue waits until key has the value want. The server has then handled all earlier requests
// of the other clients.
func waitForValue(t testing.TB, admin *redistest.Conn, key, want string) {
	t.Helper()
	require.Eventually(t, func() bool { return admin.Do("GET", key).Str == want }, limit, tick)
}

func TestEveryFaultIsSeenByItsClientAsItIsMeant(t *testing.T) {
	const fin, rst, open = "FIN", "RST", "open"
	for _, c := range []struct {
		action   string
		got, end string
		executed bool
	}{
		{"DROP-BEFORE", "+PONG\r\n", fin, false},
		{"DROP-REPLY", "+PONG\r\n", fin, true},
		{"RESET-BEFORE", "+PONG\r\n", rst, false},
		{"RESET-AFTER", "+PONG\r\n", rst, true},
		{"CUT 0", "+PONG\r\n", fin, true},
		{"CUT 3", "+PONG\r\n+OK", fin, true},
		{"CUT 99", "+PONG\r\n+OK\r\n", fin, true},
		{"SILENT", "+PONG\r\n", open, true},
		{"ERROR 'OOM not now'", "+PONG\r\n-OOM not now\r\n:1\r\n", open, false},
		{"ERROR-AFTER 'ERR lost'", "+PONG\r\n-ERR lost\r\n:1\r\n", open, true},
	} {
		for _, proto := range []string{"2", "3"} {
			t.Run(c.action+"/RESP"+proto, func(t *testing.T) {
				addr, admin := startLab(t)
				client := redistest.Dial(t, addr)
				client.Do("HELLO", proto)
				rule(t, admin, "r CMD set KEY lock:* ACTION "+c.action)
				pipeline(t, client, "PING", "SET lock:a me", "INCR after")
				if c.end == open {
					require.Eventually(t, func() bool { return timesFired(admin) == 1 }, limit, tick)
					requireBytes(t, client, c.got)
					requireSilence(t, client, admin)
				} else {
					got, reset := readToEnd(t, client)
					require.Equal(t, c.got, got)
					require.Equal(t, c.end == rst, reset)
				}
				require.Equal(t, c.executed, admin.Do("EXISTS", "lock:a").Int == 1)
				require.Equal(t, strings.HasSuffix(c.got, ":1\r\n"), admin.Do("EXISTS", "after").Int == 1,
					"what is behind the fault")
			})
		}
	}
}

func TestASilentConnectionStaysAndIsNotReadAnyMore(t *testing.T) {
	addr, admin := startLab(t)
	client := redistest.Dial(t, addr)
	id := client.Do("CLIENT", "ID").Int
	client.Do("HELLO", "3")
	client.Do("SUBSCRIBE", "news")
	rule(t, admin, "quiet CLIENT "+fmt.Sprint(id)+" CMD set ACTION SILENT")
	pipeline(t, client, "SET a 1", "SET b 1")
	waitForValue(t, admin, "a", "1")
	pipeline(t, client, "SET c 1")
	require.EqualValues(t, 1, admin.Do("PUBLISH", "news", "x").Int)
	requireSilence(t, client, admin)
	require.EqualValues(t, 1, admin.Do("EXISTS", "a", "b", "c").Int)
	require.Contains(t, admin.Do("CLIENT", "LIST", "ID", fmt.Sprint(id)).Str, "flags=Pb ")

	client.Close()
	require.Eventually(t, func() bool { return admin.Do("CLIENT", "LIST", "ID", fmt.Sprint(id)).Str == "" }, limit, tick)
	require.EqualValues(t, 0, admin.Do("PUBLISH", "news", "x").Int)
}

func TestADelayedRequestIsExecutedWhenItsTimeHasCome(t *testing.T) {
	addr, admin := startLab(t)
	client := redistest.Dial(t, addr)
	rule(t, admin, "late CMD set ACTION DELAY-EXEC 50")
	pipeline(t, client, "PING", "SET a 1", "INCR b")
	waitForBlocked(t, admin)
	admin.Do("LAB", "CLOCK", "ADVANCE", "49")
	requireBytes(t, client, "+PONG\r\n")
	require.EqualValues(t, 0, admin.Do("EXISTS", "a", "b").Int)
	admin.Do("LAB", "CLOCK", "ADVANCE", "1")
	requireBytes(t, client, "+OK\r\n:1\r\n")
	require.Equal(t, "1", admin.Do("GET", "a").Str)
}

func TestADelayedReplyHoldsBackWhatComesBehindIt(t *testing.T) {
	addr, admin := startLab(t)
	client := redistest.Dial(t, addr)
	client.Do("HELLO", "3")
	client.Do("SUBSCRIBE", "news")
	rule(t, admin, "late CMD incr TIMES 2 ACTION DELAY-REPLY 50")
	pipeline(t, client, "PING", "INCR a", "ECHO x")
	waitForValue(t, admin, "a", "1")
	admin.Do("PUBLISH", "news", "n")
	admin.Do("LAB", "CLOCK", "ADVANCE", "30")
	requireBytes(t, client, "+PONG\r\n")
	pipeline(t, client, "INCR a", "ECHO y")
	waitForValue(t, admin, "a", "2")
	admin.Do("LAB", "CLOCK", "ADVANCE", "20")
	requireBytes(t, client, ":1\r\n$1\r\nx\r\n>3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\nn\r\n")
	admin.Do("LAB", "CLOCK", "ADVANCE", "30")
	requireBytes(t, client, ":2\r\n$1\r\ny\r\n")
	require.EqualValues(t, 3, client.Do("INCR", "a").Int)
}

func TestAConnectionThatEndsItselfStillGetsItsLateReply(t *testing.T) {
	addr, admin := startLab(t)
	for _, last := range []string{"QUIT", "\r\n*x\r\n"} {
		client := redistest.Dial(t, addr)
		client.Do("SELECT", "0")
		admin.Do("DEL", "a")
		admin.Do("LAB", "FAULT", "CLEAR")
		rule(t, admin, "late CMD incr ACTION DELAY-REPLY 50")
		pipeline(t, client, "INCR a")
		require.NoError(t, client.Send([]byte(last+"\r\n")))
		waitForValue(t, admin, "a", "1")
		requireSilence(t, client, admin)
		admin.Do("LAB", "CLOCK", "ADVANCE", "50")
		got, reset := readToEnd(t, client)
		require.True(t, strings.HasPrefix(got, ":1\r\n+OK\r\n") || strings.HasPrefix(got, ":1\r\n-ERR Protocol error"), got)
		require.False(t, reset)
	}
}

func TestATransactionIsMatchedByWhatWasQueued(t *testing.T) {
	for _, c := range []struct {
		rule, got string
		executed  bool
	}{
		{"r CMD set KEY lock:* ACTION ERROR 'OOM later'", "-OOM later\r\n", false},
		{"r CMD exec ACTION ERROR-AFTER 'ERR gone'", "-ERR gone\r\n", true},
		{"r CMD exec KEY lock:* ACTION ERROR 'ERR no'", "*2\r\n+OK\r\n:1\r\n", true}, // EXEC itself has no keys
		{"r CMD set KEY count ACTION ERROR 'ERR no'", "*2\r\n+OK\r\n:1\r\n", true},
	} {
		addr, admin := startLab(t)
		client := redistest.Dial(t, addr)
		rule(t, admin, c.rule)
		pipeline(t, client, "MULTI", "SET lock:a me", "INCR count", "EXEC", "GET count")
		want := "+OK\r\n+QUEUED\r\n+QUEUED\r\n" + c.got + "$-1\r\n"
		if c.executed {
			want = strings.TrimSuffix(want, "$-1\r\n") + "$1\r\n1\r\n"
		}
		got := make([]byte, len(want))
		_, err := io.ReadFull(client.Net, got)
		require.NoError(t, err)
		require.Equal(t, want, string(got), c.rule)
	}
}

func TestAHeldTransactionIsStillWatching(t *testing.T) {
	addr, admin := startLab(t)
	client := redistest.Dial(t, addr)
	rule(t, admin, "r CMD exec ACTION HOLD")
	client.Do("WATCH", "lock")
	client.Do("MULTI")
	client.Do("SET", "lock", "mine")
	pipeline(t, client, "EXEC")
	waitParked(t, admin, "r")
	admin.Do("SET", "lock", "others")
	require.EqualValues(t, 1, admin.Do("LAB", "HOLD", "RELEASE", "r").Int)
	require.Equal(t, "(nil array)", client.Read().String())
}

const unlockScript = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

func TestScriptsAreMatchedByShaAndByText(t *testing.T) {
	addr, admin := startLab(t)
	sha := admin.Do("SCRIPT", "LOAD", unlockScript).Str
	admin.Do("FUNCTION", "LOAD", "#!lua name=locks\n"+
		"redis.register_function('unlock', function(keys, args) return redis.call('DEL', keys[1]) end)")
	client := redistest.Dial(t, addr)
	for _, r := range []string{
		"r SCRIPT " + sha + " ACTION ERROR FAULT", "r SCRIPT " + strings.ToUpper(sha) + " ACTION ERROR FAULT",
		"r SCRIPT call(\"DEL\" ACTION ERROR FAULT", "r CMD evalsha SCRIPT ARGV[1] KEY lock:* ACTION ERROR FAULT",
		"r CMD fcall SCRIPT unlock ACTION ERROR FAULT",
		"r SCRIPT register_function ACTION ERROR FAULT",
	} {
		rule(t, admin, strings.ReplaceAll(r, `call("DEL"`, "KEYS[1])"))
		fcall := strings.Contains(r, "fcall") || strings.Contains(r, "register")
		script := !fcall
		fails := func(args ...string) bool { return client.Do(args...).String() == "-FAULT" }
		require.Equal(t, script, fails("EVALSHA", sha, "1", "lock:a", "x"), r)
		require.Equal(t, script && !strings.Contains(r, "CMD"), fails("EVAL", unlockScript, "1", "lock:a", "x"), r)
		require.Equal(t, fcall, fails("FCALL", "unlock", "1", "lock:a"), r)
		require.False(t, fails("EVAL", "return 1", "0"), r)
		require.False(t, fails("SCRIPT", "EXISTS", sha), r)
		ok(t, admin, "LAB", "FAULT", "DEL", "r")
	}
}

func TestAFaultHitsTheLateReplyOfABlockedCommand(t *testing.T) {
	const reply = "*2\r\n$1\r\nq\r\n$1\r\nx\r\n"
	for _, c := range []struct {
		action, got, end string
	}{
		{"DROP-REPLY", "", "FIN"},
		{"RESET-AFTER", "", "RST"},
		{"CUT 4", reply[:4], "FIN"},
		{"SILENT", "", "open"},
		{"ERROR-AFTER 'ERR lost'", "-ERR lost\r\n+PONG\r\n", "open"},
		{"DELAY-REPLY 10", "", "open"},
	} {
		t.Run(c.action, func(t *testing.T) {
			addr, admin := startLab(t)
			client := redistest.Dial(t, addr)
			rule(t, admin, "r CMD blpop ACTION "+c.action)
			pipeline(t, client, "BLPOP q 0", "PING")
			waitForField(admin, "blocked_clients", "1")
			ok(t, admin, "LAB", "FAULT", "CLEAR") // the rule has fired
			admin.Do("RPUSH", "q", "x")
			require.EqualValues(t, 0, admin.Do("EXISTS", "q").Int)
			if c.end == "open" {
				requireBytes(t, client, c.got)
			} else {
				got, reset := readToEnd(t, client)
				require.Equal(t, c.got, got)
				require.Equal(t, c.end == "RST", reset)
			}
			if strings.HasPrefix(c.action, "DELAY") {
				admin.Do("LAB", "CLOCK", "ADVANCE", "10")
				requireBytes(t, client, reply+"+PONG\r\n")
			}
			silent := 0
			if c.action == "SILENT" {
				silent = 1
			}
			require.Contains(t, admin.Do("INFO", "clients").Str, fmt.Sprintf("blocked_clients:%d", silent))
		})
	}
}

// CLIENT PAUSE postpones a request. The rule counts the request only once.
func TestAPausedRequestIsCountedOnce(t *testing.T) {
	addr, admin := startLab(t)
	client := redistest.Dial(t, addr)
	rule(t, admin, "r CMD set NTH 2 ACTION ERROR FAULT")
	admin.Do("CLIENT", "PAUSE", "100", "WRITE")
	pipeline(t, client, "SET a 1", "SET b 1")
	waitForBlocked(t, admin)
	admin.Do("CLIENT", "UNPAUSE")
	require.Equal(t, "+OK", client.Read().String())
	require.Equal(t, "-FAULT", client.Read().String())
}
