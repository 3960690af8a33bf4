package proxy

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// conn is a client that says what it gets.
type conn struct {
	t *testing.T
	*respclient.Conn
}

func (r *running) client() conn { return conn{r.t, respclient.New(r.dial(), 4096)} }

// do sends the words of a line, and returns the reply as a text.
func (c conn) do(line string) string {
	c.t.Helper()
	c.send(line)
	return c.read()
}

func (c conn) send(lines ...string) {
	var all []byte
	for _, line := range lines {
		all = resp.AppendRequest(all, strings.Fields(line)...)
	}
	require.NoError(c.t, c.Send(all))
}

func (c conn) read() string {
	c.t.Helper()
	v, err := c.Read()
	require.NoError(c.t, err)
	return v.String()
}

// logText is the log of the lab, a line for each entry, without times.
func (c conn) logText() string {
	v, err := c.Do("LAB", "LOG")
	require.NoError(c.t, err)
	var lines []string
	for _, e := range v.Elems {
		f := map[string]string{}
		for i := 0; i < len(e.Elems); i += 2 {
			f[e.Elems[i].Str] = strings.Trim(e.Elems[i+1].String(), `":`)
		}
		lines = append(lines, strings.Join([]string{f["seq"], f["name"], f["event"], f["cmd"], f["key"], f["db"],
			f["outcome"], f["reply"]}, "|"))
	}
	return strings.Join(lines, "\n")
}

// withServer starts a proxy before a server. The client sends LAB.
func withServer(t *testing.T) (r *running, lab conn) {
	s := miniredistest.Run(t)
	r = startWith(t, Config{Upstreams: []string{s.Addr()}})
	return r, r.client()
}

func TestARuleStrikesARequestOnItsWay(t *testing.T) {
	for action, c := range map[string]struct {
		rest    string
		err     error
		value   string
		outcome string
	}{
		"DROP-BEFORE":  {"", nil, "(nil)", "not executed|"},
		"RESET-BEFORE": {"", syscall.ECONNRESET, "(nil)", "not executed|"},
		"DROP-REPLY":   {"", nil, `"v"`, "reply lost|OK"},
		"RESET-AFTER":  {"", syscall.ECONNRESET, `"v"`, "reply lost|OK"},
		"CUT 2":        {"+O", nil, `"v"`, "reply cut|OK"},
	} {
		r, lab := withServer(t)
		require.Equal(t, "+OK", lab.do("LAB FAULT ADD f CMD set KEY lock:* NTH 2 ACTION "+action))
		client := r.client()
		require.Equal(t, "+OK", client.do("SET lock:a x"), "the first one")
		if pipelined := action != "RESET-BEFORE"; pipelined {
			client.send("GET other", "SET lock:a v", "SET later x")
			require.Equal(t, "(nil)", client.read(), "the reply before comes")
		} else {
			client.send("SET lock:a v")
		}
		rest, err := io.ReadAll(client.In)
		require.ErrorIs(t, err, c.err, action)
		require.Equal(t, c.rest, string(rest), action)
		value := map[bool]string{true: `"x"`, false: c.value}[c.value == "(nil)"]
		require.Equal(t, value, lab.do("GET lock:a"), action)
		require.Equal(t, "(nil)", lab.do("GET later"), action)
		require.Equal(t, "1||f|SET lock:a v|lock:a|0|"+c.outcome, lab.logText(), action)
		r.left(1)
	}
}

func TestAReplyCanBeMadeByARule(t *testing.T) {
	r, lab := withServer(t)
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD no CMD get TIMES 1 ACTION ERROR LOADING"))
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD after CMD set TIMES 1 ACTION ERROR-AFTER -OOM"))
	client := r.client()
	client.send("PING", "GET k", "SET k v", "GET k", "ECHO x")
	for _, want := range []string{"+PONG", "-LOADING", "-OOM", `"v"`, `"x"`} {
		require.Equal(t, want, client.read())
	}
	require.Equal(t, "1||no|GET k|k|0|not executed|LOADING\n2||after|SET k v|k|0|reply lost|OK", lab.logText())
}

func TestASilentConnectionStaysOpen(t *testing.T) {
	r, lab := withServer(t)
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD f CMD set ACTION SILENT"))
	client := r.client()
	client.send("PING", "SET k v", "SET never x")
	require.Equal(t, "+PONG", client.read())
	for lab.logText() == "" { // until the reply has come
	}
	require.Equal(t, `"v"`, lab.do("GET k"))
	require.Equal(t, "(nil)", lab.do("GET never"))
	r.left(2)
	require.NoError(t, client.Net.Close())
	r.left(1)
}

func TestAHeldRequestWaitsForItsRelease(t *testing.T) {
	r, lab := withServer(t)
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD slow CMD set ACTION HOLD"))
	client, waits := r.client(), r.client()
	require.Equal(t, "+OK", client.do("CLIENT SETNAME a"))
	waits.send("LAB HOLD WAIT slow 0", "PING")
	client.send("GET k", "SET k v", "GET k")
	require.Equal(t, "(nil)", client.read())
	const held = `["client", :2, "name", "a", "rule", "slow", "cmd", "SET k v", "key", "k"]`
	require.Equal(t, held, waits.read())
	require.Equal(t, "+PONG", waits.read(), "the next request waits as well")
	require.Equal(t, "["+held+"]", lab.do("LAB HOLD LIST"))
	require.Equal(t, "(nil)", lab.do("GET k"))
	require.Equal(t, ":1", lab.do("LAB HOLD RELEASE slow"))
	require.Equal(t, "+OK", client.read())
	require.Equal(t, `"v"`, client.read())
	require.Equal(t, "1|a|slow|SET k v|k|0|held|\n2|a|slow|SET k v|k|0|executed|OK", lab.logText())

	client.send("SET k w")
	require.Equal(t, strings.Replace(held, " v", " w", 1), waits.do("LAB HOLD WAIT slow 0"))
	require.NoError(t, client.Net.Close())
	r.left(2)
	require.Equal(t, "[]", lab.do("LAB HOLD LIST"))
	require.Equal(t, `"v"`, lab.do("GET k"), "the client has left before")

	require.Equal(t, "(nil array)", waits.do("LAB HOLD WAIT slow 1"))
	waits.send("LAB HOLD WAIT slow 0")
	third := r.client()
	third.send("GET x")
	require.Equal(t, "(nil)", third.read())
	require.Equal(t, "+OK", lab.do("LAB FAULT DEL slow"))
	require.Equal(t, "(nil array)", waits.read(), "nobody can be held any more")
}

func TestTwoHeldClientsGoOnTogether(t *testing.T) {
	r, lab := withServer(t)
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD slow CMD set ACTION HOLD"))
	a, b := r.client(), r.client()
	a.send("SET k a")
	require.NotEqual(t, "(nil array)", lab.do("LAB HOLD WAIT slow 0 1"))
	b.send("SET k b", "PING")
	require.Contains(t, lab.do("LAB HOLD WAIT slow 0 2"), "SET k b")
	require.Equal(t, "+OK", lab.do("LAB RESET"))
	require.Equal(t, "+OK", a.read())
	require.Equal(t, "+OK", b.read())
	require.Equal(t, "+PONG", b.read())
	require.Equal(t, "[]", lab.do("LAB FAULT LIST"))
	require.Empty(t, lab.logText())
}

func TestDelaysKeepTheOrder(t *testing.T) {
	r, lab := withServer(t)
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD late CMD incr TIMES 1 ACTION DELAY-REPLY 30"))
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD slow CMD append TIMES 1 ACTION DELAY-EXEC 30"))
	client := r.client()
	client.send("INCR n", "GET n", "APPEND s x", "GET s", "PING")
	for _, want := range []string{":1", `"1"`, ":1", `"x"`, "+PONG"} {
		require.Equal(t, want, client.read())
	}
	var lines []string
	for line := range strings.Lines(lab.logText()) {
		lines = append(lines, strings.TrimSpace(line[2:]))
	}
	require.ElementsMatch(t, []string{"|late|INCR n|n|0|reply late|1", "|slow|APPEND s x|s|0|delayed|",
		"|slow|APPEND s x|s|0|executed|1"}, lines)
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD never CMD get ACTION DELAY-REPLY 3600000"))
	client.send("GET n", "PING")
	require.Equal(t, "[]", lab.do("LAB HOLD LIST"))
	require.Equal(t, "+OK", lab.do("LAB RESET"))
	require.Equal(t, `"1"`, client.read())
	require.Equal(t, "+PONG", client.read())
}

func TestRulesSeeTransactionsScriptsAndNames(t *testing.T) {
	r, lab := withServer(t)
	a := r.client()
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD exec KEY lock:* CLIENT a ACTION ERROR NO"))
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD script SCRIPT return1 ACTION ERROR NOSCRIPT"))
	require.Equal(t, "+OK", a.do("SET lock:a 1"), "it has no name yet")
	require.Equal(t, "+OK", a.do("CLIENT SETNAME a"))
	a.send("MULTI", "SET lock:a 2", "EXEC")
	for _, want := range []string{"+OK", "+QUEUED", "-NO"} {
		require.Equal(t, want, a.read())
	}
	require.Equal(t, "-ERR DISCARD without MULTI", a.do("DISCARD"), "the upstream has no transaction left")
	require.Equal(t, `"1"`, lab.do("GET lock:a"))
	require.Equal(t, "-NOSCRIPT", a.do("EVAL return1 0"))
	require.Equal(t, "-NOSCRIPT", a.do("EVALSHA 2fa8ac2cbd8a7e7ddf1ad98a6d4b5b06ac6ef2c6 0")[:9])
	require.Equal(t, "-NO", a.do("EVAL return2 1 lock:b"))
	require.Equal(t, "-NO", a.do("XREAD COUNT 1 STREAMS s lock:c 0 0"))
	require.Equal(t, "+RESET", a.do("RESET"))
	require.Equal(t, "+OK", a.do("SET lock:a 3"))
}

func TestLABIsAnsweredInItsPlace(t *testing.T) {
	r, lab := withServer(t)
	lab.send("PING", "LAB FAULT LIST", "ECHO a", "LAB FAULT ADD f CMD ping ACTION ERROR x", "PING", "ECHO b",
		"LAB FAULT CLEAR", "PING")
	for _, want := range []string{"+PONG", "[]", `"a"`, "+OK", "-x", `"b"`, "+OK", "+PONG"} {
		require.Equal(t, want, lab.read())
	}
	require.NoError(t, lab.Send([]byte("LAB fault list\r\n")))
	require.Equal(t, "[]", lab.read())
	for _, piece := range []string{"*2\r\n$3\r\nL", "a", "b\r\n$5\r\nreset\r\n"} {
		require.NoError(t, lab.Send([]byte(piece)))
	}
	require.Equal(t, "+OK", lab.read())
	require.Contains(t, lab.do("HELLO 3"), "proto")
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD f CMD ping ACTION ERROR x"))
	require.Contains(t, lab.do("LAB FAULT LIST"), `[%{"name": "f", "rule": "CMD ping ACTION ERROR x"`)
	require.Equal(t, "+OK", lab.do("LAB RESET"))
	_ = r
}

func TestWhatAProxyCannotDoIsRefusedByName(t *testing.T) {
	_, lab := withServer(t)
	for line, want := range map[string]string{
		"LAB CLOCK FREEZE":                             "-ERR LAB CLOCK FREEZE: the clock is the upstream's",
		"LAB CLOCK ADVANCE -1":                         "-ERR LAB CLOCK ADVANCE: milliseconds expects",
		"LAB DISK LIST":                                "-ERR LAB DISK: it needs a server",
		"LAB DOCTOR":                                   "-ERR LAB DOCTOR: it reads the log, and no key is watched",
		"LAB LOG WATCH lock:* AS NOPE":                 "-ERR LAB LOG WATCH: AS expects MUTEX",
		"LAB LOG UNWATCH lock:*":                       "-ERR LAB LOG UNWATCH: 'lock:*' is not watched",
		"LAB PARTITION CLIENT a MAYBE":                 "-ERR LAB PARTITION CLIENT: expects ON or OFF, not 'MAYBE'",
		"LAB PARTITION CLIENT a OFF":                   "-ERR LAB PARTITION CLIENT: no partition is named 'a'",
		"LAB BLACKHOLE MAYBE":                          "-ERR LAB BLACKHOLE: expects ON or OFF, not 'MAYBE'",
		"LAB LISTEN OFF":                               "-ERR LAB LISTEN: a proxy does not have it",
		"LAB NOPE":                                     "-ERR LAB NOPE: there is no such subcommand",
		"LAB":                                          "-ERR LAB : there is no such subcommand",
		"LAB FAULT DEL":                                "-ERR LAB FAULT DEL: expects name",
		"LAB FAULT DEL f":                              "-ERR LAB FAULT DEL: there is no rule 'f'",
		"LAB FAULT LIST x":                             "-ERR LAB FAULT LIST: 'x' is one argument too many",
		"LAB HOLD RELEASE f":                           "-ERR LAB HOLD RELEASE: there is no rule 'f'",
		"LAB FAULT ADD f NOPE 1":                       "-ERR LAB FAULT ADD: 'NOPE' is not one of",
		"LAB FAULT ADD f CMD nope ACTION HOLD":         "-ERR LAB FAULT ADD: CMD expects the name of a command",
		"LAB FAULT ADD f CMD client|x ACTION HOLD":     "-ERR LAB FAULT ADD: CMD expects the name",
		"LAB FAULT ADD f CMD message ACTION SKIP-PUSH": "-ERR LAB FAULT ADD: a proxy has no ACTION SKIP-PUSH",
		"LAB FAULT ADD f ORDER 1 ACTION HOLD":          "-ERR LAB FAULT ADD: ORDER needs a proxy that has",
		"LAB FAULT ADD f CLIENT 1 ACTION HOLD":         "-ERR LAB FAULT ADD: CLIENT 1 is this connection",
	} {
		require.Contains(t, lab.do(line), want, line)
	}
	require.Equal(t, "+OK", lab.do("MULTI"))
	require.Contains(t, lab.do("LAB RESET"), "-ERR LAB RESET: it is not allowed in transactions")
	require.Equal(t, "[]", lab.do("EXEC"))
	require.Contains(t, lab.do("LAB HELP"), "FAULT ADD name")
}

func TestAnUpstreamThatRefusesCOMMANDHasNoRules(t *testing.T) {
	s := miniredistest.Run(t, miniredistest.Config("--requirepass", "secret"))
	r := start(t, s.Addr())
	c := r.client()
	require.Contains(t, c.do("LAB FAULT ADD f CMD set ACTION HOLD"), "the upstream has refused COMMAND: NOAUTH")
	require.Equal(t, "[]", c.do("LAB FAULT LIST"))
	require.Equal(t, "+OK", c.do("AUTH secret"))
	require.Equal(t, "+OK", c.do("LAB FAULT ADD f CMD set ACTION HOLD"))
}

// redis-server refuses such lengths before the rest comes.
func TestALengthThatTheUpstreamRefusesReachesIt(t *testing.T) {
	for _, front := range []string{"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$2000000000\r\n", "*3000000000\r\n", "*1\r\n$-5\r\n"} {
		r, lab := withServer(t)
		require.Equal(t, "+OK", lab.do("LAB FAULT ADD f CMD get ACTION HOLD"))
		client := r.client()
		require.NoError(t, client.Send([]byte(front)))
		require.Contains(t, client.read(), "-ERR Protocol error: invalid", front)
	}
}

func TestNoRuleLooksAtAClientThatHasSubscribed(t *testing.T) {
	r, lab := withServer(t)
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD f CMD ping ACTION DROP-REPLY"))
	client := r.client()
	client.send("SUBSCRIBE a b", "PING")
	require.Contains(t, client.read(), `"a", :1`)
	require.Contains(t, client.read(), `"b", :2`)
	require.Equal(t, `["pong", ""]`, client.read())
}

func TestTheKeysOfARequestAreThoseOfTheUpstream(t *testing.T) {
	s := miniredistest.Run(t)
	c := conn{t, respclient.New(dialPort(t, s.Port()), 4096)}
	require.NoError(t, c.Send(resp.AppendRequest(nil, "COMMAND")))
	v, err := c.Read()
	require.NoError(t, err)
	all := commandsOf(v)
	for _, line := range []string{
		"GET k", "MSET a 1 b 2 c 3", "DEL a b c", "EVAL x 2 a b c", "EVALSHA x 1 a b", "FCALL f 2 a b",
		"XREAD COUNT 1 STREAMS a b 0 0",
		"XREADGROUP GROUP g c STREAMS s >", "ZUNIONSTORE d 2 a b WEIGHTS 1 2", "BLPOP a b 0", "BITOP AND d a b",
		"MIGRATE h 1 k 0 9", "OBJECT ENCODING k", "LMPOP 2 a b LEFT", "GEORADIUS k 1 1 1 m STORE d",
		"SINTERCARD 2 a b LIMIT 1",
		"MEMORY USAGE k", "XGROUP CREATE s g $", "SMOVE a b m", "BLMPOP 0 1 k LEFT", "PFMERGE d a b", "COPY a b",
	} {
		words := strings.Fields(line)
		v, err := c.Do(append([]string{"COMMAND", "GETKEYS"}, words...)...)
		require.NoError(t, err)
		var want []string
		for _, e := range v.Elems {
			want = append(want, e.Str)
		}
		args := make([][]byte, len(words))
		for i, w := range words {
			args[i] = []byte(w)
		}
		var got []string
		for _, key := range all.find(args).keys(args) {
			got = append(got, string(key))
		}
		require.Equal(t, want, got, line)
	}
	for _, line := range []string{"PING", "EVAL x 0", "EVAL x -1", "EVAL x 9 a", "EVAL x", "XREAD COUNT 1",
		"LMPOP 99999999999999 a LEFT"} {
		var args [][]byte
		for _, w := range strings.Fields(line) {
			args = append(args, []byte(w))
		}
		require.Empty(t, all.find(args).keys(args), line)
	}
}

// A server with a lab and a proxy before one without log the same.
func TestTheLogIsThatOfAServerWithALab(t *testing.T) {
	own := miniredistest.Run(t, miniredistest.Seed(1))
	direct := func() conn { return conn{t, respclient.New(dialPort(t, own.Port()), 4096)} }
	r, _ := withServer(t)
	var logs []string
	for _, dial := range []func() conn{direct, r.client} {
		lab, a, b := dial(), dial(), dial()
		require.Equal(t, "+OK", lab.do("LAB RESET"))
		for _, rule := range []string{
			"one CMD set KEY lock:* NTH 2 ACTION ERROR-AFTER OOM", "two CMD eval NTH 1 ACTION ERROR BUSY",
			"three KEY lock:b ACTION HOLD", "four CMD del TIMES 1 ACTION DROP-REPLY",
			"five CMD pexpire PROB 0.5 ACTION ERROR no",
		} {
			require.Equal(t, "+OK", lab.do("LAB FAULT ADD "+rule))
		}
		require.Equal(t, "+OK", a.do("CLIENT SETNAME worker"))
		require.Equal(t, "+OK", a.do("SELECT 2"))
		require.Equal(t, "+OK", a.do("SET lock:a t NX PX 30000"))
		require.Equal(t, "-OOM", b.do("SET lock:a u NX PX 30000"))
		require.Equal(t, "-BUSY", a.do("EVAL return 1 lock:a t"))
		a.send("MULTI", "SET lock:b x", "EXEC")
		require.NotEqual(t, "(nil array)", lab.do("LAB HOLD WAIT three 0"))
		require.Equal(t, ":1", lab.do("LAB HOLD RELEASE three"))
		for _, want := range []string{"+OK", "+QUEUED", "[+OK]"} {
			require.Equal(t, want, a.read())
		}
		for range 10 {
			a.do("PEXPIRE lock:a 1000")
		}
		a.send("DEL lock:a")
		_, err := io.ReadAll(a.In)
		require.NoError(t, err)
		logs = append(logs, lab.logText()+"\n"+lab.do("LAB FAULT LIST"))
	}
	require.Equal(t, logs[0], logs[1])
	require.Greater(t, strings.Count(logs[0], "\n"), 5)
}
