package transcript

import (
	"bufio"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

var update = flag.Bool("update", false, "rewrite the replies with those of a real redis-server")

func TestRealServerAnswersAsTheExampleSays(t *testing.T) {
	RunOracle(t, "testdata/format.txt", *update)
}

func TestUpdateWritesRepliesAndKeepsWhatIsWrittenByHand(t *testing.T) {
	redistest.Require(t)
	path := filepath.Join(t.TempDir(), "t.txt")
	const before = "# top\n! --maxmemory-policy allkeys-lfu\n\n> SET k 1\n-ERR wrong\n# why\n> CONFIG GET " +
		"maxmemory-policy\n\n" +
		"> TTL k\n:<-1..5>\n> CLIENT ID\n:<1..0>\n# 99.1: it is a word\n> OBJECT ENCODING k\n\"by hand\"\n"
	require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
	RunOracle(t, path, true)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Regexp(t, "^# top\n! --maxmemory-policy allkeys-lfu\n\n> SET k 1\n\\+OK\n# why\n> CONFIG GET "+
		"maxmemory-policy\n"+
		"\\*2\n  \"maxmemory-policy\"\n  \"allkeys-lfu\"\n\n> TTL k\n:<-1..5>\n> CLIENT ID\n:\\d+\n"+
		"# 99.1: it is a word\n> OBJECT ENCODING k\n\"by hand\"\n$", string(after))
}

// No redis-server knows these commands, so each would write an error over the replies.
func TestUpdateKeepsRepliesOfNewerVersions(t *testing.T) {
	redistest.Require(t)
	path := filepath.Join(t.TempDir(), "t.txt")
	const known = "# 99.1: TELL tells,\n# and ASK asks.\n> TELL k\n\"by hand\"\n> PING\n-ERR wrong\n"
	const file = "# 99.1: TELL tells.\n\n> TELL k\n\"by hand\"\n\n> PING\n\"by hand\"\n"
	for before, want := range map[string]string{known: strings.Replace(known, "-ERR wrong", "+PONG", 1), file: file} {
		require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
		RunOracle(t, path, true)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(after))
	}
}

func TestWordsAreSplitAsRedisCliDoesAndExpanded(t *testing.T) {
	for line, want := range map[string][]string{
		`GET  k `:            {"GET", "k"},
		`"a b\x00\n" ''`:     {"a b\x00\n", ""},
		`'it\'s' "\"\\"`:     {"it's", `"\`},
		`k{1..3}x`:           {"k1x", "k2x", "k3x"},
		`{ab*3}`:             {"ababab"},
		`{1..2: f# "v #"} e`: {"f1", "v 1", "f2", "v 2", "e"},
		`{user}:1 <me> <x>`:  {"{user}:1", "17", "<x>"},
		`"{1..3}"`:           {"{1..3}"},
	} {
		got, err := split(line, map[string]string{"me": "17"})
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
	}
	for _, line := range []string{`"open`, `'open`, `"a"b`} {
		_, err := split(line, nil)
		require.Error(t, err, line)
	}
}

func TestReplyIsWrittenAndReadBackTheSame(t *testing.T) {
	const wire = "*5\r\n%2\r\n+a\r\n*2\r\n:1\r\n$-1\r\n$3\r\n\"=>\r\n~0\r\n" +
		"_\r\n*-1\r\n=7\r\ntxt:a\nb\r\n|1\r\n+ttl\r\n:3600\r\n#t\r\n"
	got := renderWire(t, wire)
	require.Equal(t, strings.Join([]string{
		`*5`, `  %2`, `    +a => *2`, `      :1`, `      $-1`, `    "\"=>" => ~0`, `  _`, `  *-1`, `  ="txt:a\nb"`,
		`  |1`, `    +ttl => :3600`, `    #t`,
	}, "\n"), got.String())
	back, err := parse(got.lines(""))
	require.NoError(t, err)
	require.Equal(t, got.String(), back.String())
}

func TestRepliesThatDifferDoNotMatch(t *testing.T) {
	abc := "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"
	fields := "*4\r\n$1\r\nf\r\n$1\r\n1\r\n$1\r\ng\r\n$1\r\n2\r\n"
	for _, c := range []struct {
		want, wire      string
		anyOrder, pairs bool
		match           bool
	}{
		{want: "+OK", wire: "+OK\r\n", match: true},
		{want: "+OK", wire: "$2\r\nOK\r\n"},
		{want: "*-1", wire: "$-1\r\n"},
		{want: "*3\n  \"c\"\n  \"a\"\n  \"b\"", wire: abc},
		{want: "*3\n  \"c\"\n  \"a\"\n  \"b\"", wire: abc, anyOrder: true, match: true},
		{want: "*3\n  \"c\"\n  \"a\"\n  \"a\"", wire: abc, anyOrder: true},
		{want: "*4\n  \"g\"\n  \"2\"\n  \"f\"\n  \"1\"", wire: fields, anyOrder: true, pairs: true, match: true},
		{want: "*4\n  \"g\"\n  \"1\"\n  \"f\"\n  \"2\"", wire: fields, anyOrder: true, pairs: true},
		{want: "<...>", wire: fields, match: true},
		{want: ":<3..5>", wire: ":5\r\n", match: true},
		{want: ":<3..5>", wire: ":6\r\n"},
		{want: ":<int>", wire: "$1\r\n6\r\n"},
		{want: `"<int>-0"`, wire: "$4\r\n17-0\r\n", match: true},
		{want: `"<int>-0"`, wire: "$4\r\nx7-0\r\n"},
		{want: "-ERR use <name>", wire: "-ERR use <name>\r\n", match: true},
		{want: `"<any>"`, wire: "$0\r\n\r\n", match: true},
		{want: `"id=<me>"`, wire: "$4\r\nid=7\r\n", match: true},
		{want: `"id=<me>"`, wire: "$4\r\nid=8\r\n"},
	} {
		want, err := parse(strings.Split(c.want, "\n"))
		require.NoError(t, err, c.want)
		m := &matcher{known: map[string]string{"me": "7"}, anyOrder: c.anyOrder, pairs: c.pairs}
		require.Equal(t, c.match, m.match(want, renderWire(t, c.wire)), "%s against %q", c.want, c.wire)
	}
}

func TestFaultyTranscriptIsRefusedWithItsLine(t *testing.T) {
	for text, part := range map[string]string{
		"+OK\n":                     ":1: \"+OK\": neither",
		"> GET k\n\n\"v\"\n":        ":3: \"\\\"v\\\"\": a comment or an empty line separates",
		"a>& BLPOP k 0\n*-1\n":      ":2: \"*-1\": a",
		"> PING\n+PONG\n< PING\n":   ":3: \"< PING\": \"> \" needs a command",
		"! --port \"12\n> PING\n  ": ":1: unbalanced quotes",
	} {
		path := filepath.Join(t.TempDir(), "t.txt")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := load(path)
		require.ErrorContains(t, err, part)
	}
	for _, reply := range []string{"*2\n  :1", ":1\n:2", "*1\n:1", "%1\n  :1", "*1\n    :1"} {
		_, err := parse(strings.Split(reply, "\n"))
		require.Error(t, err, reply)
	}
}

func renderWire(t *testing.T, wire string) reply {
	t.Helper()
	v, err := resp.ReadReply(bufio.NewReader(strings.NewReader(wire)))
	require.NoError(t, err)
	return render(v)
}
