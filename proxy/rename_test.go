package proxy

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

// elsewhere adds 10000 to a port, and gives all nodes another host.
func elsewhereAt(host string, port int) (string, int) { return "2001:db8::7", port + 10000 }

// expected does to a text what the proxy has to do to a reply. redis-server has chosen other numbers for the buses.
func expected(text string) string {
	text = strings.ReplaceAll(text, "127.0.0.1", "2001:db8::7")
	text = strings.ReplaceAll(text, ",node2.example", "")
	text = strings.ReplaceAll(text, "node2.example", "2001:db8::7")
	return regexp.MustCompile(`\b270(0[1-6]|1[12]|2[12])\b`).ReplaceAllString(text, "370$1")
}

func values(t *testing.T, bytesOf []byte) (all []string) {
	in := bufio.NewReader(bytes.NewReader(bytesOf))
	for {
		if _, err := in.Peek(1); err != nil {
			return all
		}
		v, err := resp.ReadReply(in)
		require.NoError(t, err)
		all = append(all, v.String())
	}
}

// The replies in testdata/names are those of redis-server 7.2.6, in RESP2 and RESP3.
func TestRepliesThatNameNodesAreRenamed(t *testing.T) {
	files, err := filepath.Glob("testdata/names/*.txt")
	require.NoError(t, err)
	require.Len(t, files, 36)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		line, reply, _ := bytes.Cut(text, []byte("\n"))
		const before, behind = "$4\r\n2701\r\n", "*1\r\n$9\r\n127.0.0.1\r\n"
		in := before + string(reply) + behind
		want := append(append(values(t, []byte(before)), splitValues(expected(joined(values(t, reply))))...),
			values(t, []byte(behind))...)
		for _, size := range []int{1, 2, 7, len(in)} {
			n := &naming{at: elsewhereAt}
			n.asks(wordsOf("GET x"))
			n.asks(wordsOf(strings.ToLower(string(line))))
			n.asks(wordsOf("LRANGE l 0 -1"))
			var out []byte
			for rest := []byte(in); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				out = append(out, n.pass(rest[:min(size, len(rest))])...)
			}
			require.Equal(t, want, values(t, out), "%s in pieces of %d", file, size)
		}
	}
}

const apart = "\x00"

func joined(all []string) string       { return strings.Join(all, apart) }
func splitValues(text string) []string { return strings.Split(text, apart) }

func wordsOf(line string) (args [][]byte) {
	for _, word := range strings.Fields(line) {
		args = append(args, []byte(word))
	}
	return args
}

func TestAnAddressIsFoundWhereverARequestPutsIt(t *testing.T) {
	for name, c := range map[string]struct{ asks, in, want string }{
		"ASK":          {"GET k", "-ASK 7 10.0.0.1:7001\r\n", "-ASK 7 2001:db8::7:17001\r\n"},
		"IPv6":         {"GET k", "-MOVED 7 ::1:7001\r\n", "-MOVED 7 2001:db8::7:17001\r\n"},
		"no host":      {"GET k", "-MOVED 7 :7001\r\n", "-MOVED 7 :17001\r\n"},
		"unknown host": {"GET k", "-MOVED 7 ?:7001\r\n", "-MOVED 7 ?:17001\r\n"},
		"REDIRECT":     {"GET k", "-REDIRECT 10.0.0.1:7001\r\n", "-REDIRECT 2001:db8::7:17001\r\n"},
		"no address":   {"GET k", "-MOVED or not\r\n", "-MOVED or not\r\n"},
		"a pipeline": {"GET k|GET k|GET k", "+OK\r\n-MOVED 7 h:7001\r\n$-1\r\n",
			"+OK\r\n-MOVED 7 2001:db8::7:17001\r\n$-1\r\n"},
		"no node at a slot": {"CLUSTER SLOTS", "*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n$-1\r\n:7001\r\n$1\r\na\r\n",
			"*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n$-1\r\n:17001\r\n$1\r\na\r\n"},
		"an endpoint is a name": {"CLUSTER SLOTS",
			"*1\r\n*3\r\n:0\r\n:1\r\n*4\r\n$1\r\nn\r\n:7001\r\n$1\r\na\r\n*2\r\n$2\r\nip\r\n$1\r\n4\r\n",
			"*1\r\n*3\r\n:0\r\n:1\r\n*4\r\n$11\r\n2001:db8::7\r\n:17001\r\n$1\r\na\r\n*2\r\n$2\r\nip\r\n$11\r\n2001:db8::7\r\n"},
		"TLS alone": {"CLUSTER SHARDS",
			"*1\r\n*2\r\n$5\r\nnodes\r\n*1\r\n*4\r\n$8\r\ntls-port\r\n:7001\r\n$2\r\nip\r\n$1\r\n4\r\n",
			"*1\r\n*2\r\n$5\r\nnodes\r\n*1\r\n*4\r\n$8\r\ntls-port\r\n:17001\r\n$2\r\nip\r\n$11\r\n2001:db8::7\r\n"},
		"inside an EXEC": {"MULTI|GET k|ROLE|EXEC|ROLE",
			"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-MOVED 7 h:7001\r\n*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:7001\r\n$-1\r\n",
			"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-MOVED 7 2001:db8::7:17001\r\n" +
				"*3\r\n$5\r\nslave\r\n$11\r\n2001:db8::7\r\n:17001\r\n$-1\r\n"},
		"an EXEC of others": {"MULTI|LRANGE l 0 -1|EXEC", "+OK\r\n+QUEUED\r\n*1\r\n*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:7001\r\n",
			"+OK\r\n+QUEUED\r\n*1\r\n*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:7001\r\n"},
		"after DISCARD": {"MULTI|ROLE|DISCARD|ECHO x", "+OK\r\n+QUEUED\r\n+OK\r\n$1\r\nh\r\n",
			"+OK\r\n+QUEUED\r\n+OK\r\n$1\r\nh\r\n"},
		"CLIENT REPLY": {"CLIENT REPLY OFF|ROLE|CLIENT REPLY SKIP|CLIENT REPLY ON|CLIENT REPLY SKIP|ROLE|INFO",
			"+OK\r\n$21\r\nmaster_host:h\r\nslave0:\r\n", "+OK\r\n$21\r\nmaster_host:h\r\nslave0:\r\n"},
		"messages between replies": {"SUBSCRIBE a b|PING|UNSUBSCRIBE|ROLE",
			"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n" +
				"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$6\r\nh 7001\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n" +
				"*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:0\r\n" +
				"*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:7001\r\n",
			"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n" +
				"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$6\r\nh 7001\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n" +
				"*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:0\r\n" +
				"*3\r\n$5\r\nslave\r\n$11\r\n2001:db8::7\r\n:17001\r\n"},
		"SSUBSCRIBE at the wrong node": {"SSUBSCRIBE c|SSUBSCRIBE d|ROLE",
			"-MOVED 7 h:7001\r\n>3\r\n$10\r\nssubscribe\r\n$1\r\nd\r\n:1\r\n*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:7001\r\n",
			"-MOVED 7 2001:db8::7:17001\r\n>3\r\n$10\r\nssubscribe\r\n$1\r\nd\r\n:1\r\n" +
				"*3\r\n$5\r\nslave\r\n$11\r\n2001:db8::7\r\n:17001\r\n"},
		"a Sentinel has moved": {"SUBSCRIBE +sentinel-address-switch",
			">3\r\n$7\r\nmessage\r\n$24\r\n+sentinel-address-switch\r\n$39\r\nmaster m 4 7001 ip 5 port 7002 for 0123\r\n",
			">3\r\n$7\r\nmessage\r\n$24\r\n+sentinel-address-switch\r\n$61\r\n" +
				"master m 2001:db8::7 17001 ip 2001:db8::7 port 17002 for 0123\r\n"},
		"hello of Sentinels": {"SUBSCRIBE __sentinel__:hello",
			">3\r\n$7\r\nmessage\r\n$18\r\n__sentinel__:hello\r\n$23\r\n4,7001,id,0,m,5,7002,0.\r\n",
			">3\r\n$7\r\nmessage\r\n$18\r\n__sentinel__:hello\r\n$45\r\n2001:db8::7,17001,id,0,m,2001:db8::7,17002,0.\r\n"},
		"a MULTI that fails": {"MULTI|ROLE", "-NOAUTH no\r\n*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:7001\r\n",
			"-NOAUTH no\r\n*3\r\n$5\r\nslave\r\n$11\r\n2001:db8::7\r\n:17001\r\n"},
		"no reply": {"ROLE", "?\r\n", "?\r\n"},
		"MONITOR":  {"MONITOR|ROLE", "+OK\r\n+1 [0 4:7001] \"role\"\r\n", "+OK\r\n+1 [0 4:7001] \"role\"\r\n"},
	} {
		for _, size := range []int{1, 3, len(c.in)} {
			n := &naming{at: elsewhereAt}
			for _, line := range strings.Split(c.asks, "|") {
				n.asks(wordsOf(line))
			}
			var out []byte
			for rest := []byte(c.in); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				out = append(out, n.pass(rest[:min(size, len(rest))])...)
			}
			require.Equal(t, c.want, string(out), "%s in pieces of %d", name, size)
		}
	}
}

func TestOtherRepliesAreNotCopied(t *testing.T) {
	n := &naming{at: elsewhereAt}
	n.asks(wordsOf("GET k"))
	n.asks(nil)
	n.asks(wordsOf("KEYS *"))
	in := []byte("$15\r\nMOVED 7 10.0.0.\r\n+OK\r\n*1\r\n$1\r\nk\r\n")
	require.Same(t, &in[0], &n.pass(in)[0])
	require.Equal(t, int64(3), n.answered)
	get, twice := wordsOf("GET k"), []byte("+OK\r\n$-1\r\n")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		n.asks(nil)
		n.asks(get)
		n.pass(twice)
	}))
}

func TestALongMessageIsPassedOn(t *testing.T) {
	n := &naming{at: elsewhereAt}
	n.asks(wordsOf("SUBSCRIBE a"))
	n.asks(wordsOf("ROLE"))
	long := ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$200000\r\n" + strings.Repeat("x", 200_000) + "\r\n"
	long = strings.Replace(long, ">", "*", 1)
	in := "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n" + long + "*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:7001\r\n"
	var out []byte
	most := 0
	for rest := []byte(in); len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
		out = append(out, n.pass(rest[:min(chunk, len(rest))])...)
		most = max(most, len(n.kept))
	}
	require.LessOrEqual(t, most, longestFront+chunk)
	require.Equal(t, strings.Replace(in, "$1\r\nh\r\n:7001", "$11\r\n2001:db8::7\r\n:17001", 1), string(out))
}
