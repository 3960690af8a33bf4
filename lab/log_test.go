package lab_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

func TestTheLogNumbersAndKeepsTheNewest(t *testing.T) {
	l := lab.NewLog(glob)
	for i := range 200_000 {
		l.Add(lab.Entry{Time: int64(i)})
	}
	all := l.All()
	require.Len(t, all, 1<<16)
	require.EqualValues(t, 200_000, all[len(all)-1].Seq)
	require.EqualValues(t, 199_999, all[len(all)-1].Time)
	require.EqualValues(t, 199_999, l.Newest(2)[0].Seq)
	require.Empty(t, l.Newest(0))
	l.Reset()
	require.Empty(t, l.All())
	l.Add(lab.Entry{})
	require.EqualValues(t, 1, l.All()[0].Seq)
}

func TestKeysAreWatchedByGlobs(t *testing.T) {
	l := lab.NewLog(glob)
	keys := [][]byte{[]byte("a"), []byte("lock:1"), []byte("lock:2")}
	require.Nil(t, l.Watched(keys))
	l.Watch(lab.Watch{Pattern: "lock:*", As: lab.Mutex})
	l.Watch(lab.Watch{Pattern: "lock:*"})
	require.Equal(t, []lab.Watch{{Pattern: "lock:*"}}, l.Globs())
	require.Equal(t, "lock:1", string(l.Watched(keys)))
	require.False(t, l.Unwatch("lock"))
	require.True(t, l.Unwatch("lock:*"))
	require.Nil(t, l.Watched(keys))
}

func TestAKeyMayBeWatchedIfItBeginsAsAGlob(t *testing.T) {
	l := lab.NewLog(glob)
	may := func(word string) bool { return l.MayWatch([][]byte{[]byte("other"), []byte(word)}) }
	require.False(t, may("lock:order:1"))
	l.Watch(lab.Watch{Pattern: "lock:order:1"})
	l.Watch(lab.Watch{Pattern: "lock:order:2"})
	require.True(t, may("lock:order:1"))
	require.False(t, may("lock:user:1"))
	require.True(t, l.Unwatch("lock:order:1"))
	require.True(t, may("lock:order:2"))
	require.True(t, l.Unwatch("lock:order:2"))
	require.False(t, may("lock:order:2"))
	l.Watch(lab.Watch{Pattern: "*"})
	require.True(t, may(""))
}

func TestTheExportIsJSONWhateverClientsSend(t *testing.T) {
	l := lab.NewLog(glob)
	empty := l.Export(2, 5).JSON()
	require.JSONEq(t, `{"format":"miniredisd-history/2","master":2,"masters":5,"entries":[]}`, string(empty))
	l.Add(lab.Entry{
		Time: 5, Mono: 6, Client: 7, Name: "w", Event: "lost", Key: "k", Outcome: lab.ReplyLost, Reply: "OK",
		Cmd: lab.Words([][]byte{[]byte("set"), []byte("\xff\n"), []byte("é")}),
	})
	require.JSONEq(t, `{"format":"miniredisd-history/2","master":1,"masters":1,"entries":[
		{"seq":1,"time":5,"mono":6,"client":7,"name":"w","event":"lost","cmd":["set","\\xff\\n","é"],
		"key":"k","by":"","outcome":"reply lost","reply":"OK"}]}`, string(l.Export(1, 1).JSON()))
	var h lab.History
	require.NoError(t, json.Unmarshal(l.Export(1, 1).JSON(), &h))
	require.Equal(t, l.All(), h.Entries)
}

// Others read an export while the log continues, and drops what it has exported.
func TestAnExportNeverChangesAndCostsNothing(t *testing.T) {
	l := lab.NewLog(glob)
	var exports []lab.History
	for i := range 5 * lab.KeepEntries {
		l.Add(lab.Entry{Time: int64(i)})
		if i%(lab.KeepEntries/4) == 0 {
			exports = append(exports, l.Export(1, 1))
		}
	}
	for n, h := range exports {
		last := n * (lab.KeepEntries / 4)
		require.Len(t, h.Entries, min(last+1, lab.KeepEntries))
		for i, e := range h.Entries {
			if e.Time != int64(last+1-len(h.Entries)+i) || e.Seq != e.Time+1 {
				require.FailNow(t, "an entry has changed", "export %d, entry %d: %+v", n, i, e)
			}
		}
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { l.Export(1, 1) }))
}

func TestLongArgumentsStayDifferent(t *testing.T) {
	a, b := strings.Repeat("x", 128), strings.Repeat("x", 128)+"y"
	require.Equal(t, []string{a}, lab.Words([][]byte{[]byte(a)}))
	long, other := lab.Words([][]byte{[]byte(b)})[0], lab.Words([][]byte{[]byte(b[:128] + "z")})[0]
	require.Contains(t, long, "...(129 bytes, sha1 ")
	require.NotEqual(t, long, other)
	many := make([][]byte, 40)
	require.Equal(t, "...(8 more)", lab.Words(many)[32])
	require.Equal(t, `set "a b" "" "it's" "say \"x\""`, lab.Line([]string{"set", "a b", "", "it's", `say "x"`}))
}

func TestRepliesAreShownShortly(t *testing.T) {
	for reply, want := range map[string]string{
		"":                                     "",
		"+OK\r\n":                              "OK",
		"-ERR no\r\n":                          "ERR no",
		":12\r\n":                              "12",
		"$3\r\na\rb\r\n":                       `a\rb`,
		"$0\r\n\r\n":                           "",
		"$-1\r\n":                              "(nil)",
		"*-1\r\n":                              "(nil)",
		"_\r\n":                                "(nil)",
		"#t\r\n":                               "t",
		"*2\r\n:1\r\n*1\r\n$1\r\na\r\n":        "[1 [a]]",
		"%1\r\n+a\r\n:1\r\n":                   "[a 1]",
		">3\r\n+s\r\n+a\r\n:1\r\n+OK\r\n":      "[s a 1] OK",
		strings.Repeat("*1\r\n", 20):           strings.Repeat("[", 9) + "...",
		"*3\r\n" + strings.Repeat(":1\r\n", 3): "[1 1 1]",
	} {
		require.Equal(t, want, lab.Reply([]byte(reply)), "%q", reply)
	}
	long := lab.Reply([]byte(fmt.Sprintf("*1000\r\n%s", strings.Repeat(":100\r\n", 1000))))
	require.Less(t, len(long), 300)
	require.True(t, strings.HasSuffix(long, "..."))
}
