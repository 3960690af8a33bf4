package verdict

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// endless is a text that begins with first and repeats the rest for ever.
type endless struct {
	first, rest string
	at, read    int
}

func (e *endless) Read(b []byte) (n int, err error) {
	for n < len(b) {
		text := e.first
		if text == "" {
			text = e.rest
		}
		part := copy(b[n:], text[e.at:])
		n += part
		if e.at += part; e.at == len(text) {
			e.first, e.at = "", 0
		}
	}
	e.read += n
	return n, nil
}

func TestATextWithoutAnEndIsRefusedEarly(t *testing.T) {
	const head = `{"format":"miniredisd-history/1","master":1,"masters":1,"entries":`
	for _, c := range []struct{ first, rest, why string }{
		{"", "\x00", "is not JSON"},
		{"", " \n", "1048576 bytes without an entry"},
		{`{"a":"`, "x", "1048576 bytes without an entry"},
		{`{"`, "x", "1048576 bytes without an entry"},
		{`{"a":1`, "1", "1048576 bytes without an entry"},
		{"{", `"a":1,`, "1048576 bytes without an entry"},
		{`{"a":[`, "1,", "1048576 bytes without an entry"},
		{`"`, " ", "1048576 bytes without an entry"},
		{`"`, `\u0020`, "1048576 bytes without an entry"},
		{"", "[", "inside of more than 8 arrays"},
		{"[", "[],", "1048576 bytes without an entry"},
		{"[", head + "[]},", "two histories of master 1"},
		{head, `[],"entries":`, "it has entries twice"},
		{head, `null,"entries":`, "1048576 bytes without an entry"},
		{head + `[{"cmd":[`, `"SET",`, "1048576 bytes without an entry"},
	} {
		e := &endless{first: c.first, rest: c.rest}
		_, err := Read(e)
		require.ErrorContains(t, err, c.why, c.first+c.rest)
		require.LessOrEqual(t, e.read, 2*mostPiece, c.first+c.rest)
	}
}

// The log keeps no more entries.
func TestAHistoryHasNoMoreEntriesThanALog(t *testing.T) {
	const head = `{"format":"miniredisd-history/1","master":1,"masters":1,"entries":[`
	e := &endless{first: head, rest: `{"cmd":["GET","k"]},`}
	_, err := Read(e)
	require.EqualError(t, err, "is not a history: it has more than 65536 entries")
}

// LAB over HTTP answers with the history in quotes.
func TestAHistoryInQuotesIsTheHistoryItself(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		want, err := Read(strings.NewReader(string(text)))
		require.NoError(t, err)
		quoted, err := json.Marshal(string(text))
		require.NoError(t, err)
		twice, err := json.Marshal(string(quoted))
		require.NoError(t, err)
		for _, quoted := range []string{string(quoted), "[" + string(quoted) + "]", string(twice)} {
			for _, r := range []io.Reader{strings.NewReader(quoted), iotest.OneByteReader(strings.NewReader(quoted))} {
				got, err := Read(r)
				require.NoError(t, err)
				require.Equal(t, want, got, file)
			}
		}
	}
}

func TestEveryEscapeOfJSONIsUnderstood(t *testing.T) {
	const head = `{"format":"miniredisd-history/1","master":1,"masters":1,"entries":[{"key":`
	for quoted, want := range map[string]string{
		`a\u00e9\u4e2d\n\t\r\b\f\/\\`: "aé中\n\t\r\b\f/\\",
		`\ud83d\ude00`:                "😀",
	} {
		text := `"` + strings.ReplaceAll(head, `"`, `\"`) + `\"` + strings.ReplaceAll(quoted, `\`, `\\`) + `\"}]}"`
		histories, err := Read(strings.NewReader(text))
		require.NoError(t, err, text)
		require.Equal(t, want, histories[0].Entries[0].Key)
		require.NoError(t, err)
		key, err := io.ReadAll(&unquoter{in: newSource(strings.NewReader(quoted+`"`), &budget{})})
		require.NoError(t, err)
		require.Equal(t, want, string(key))
	}
	for quoted, why := range map[string]string{
		`\x"`: "is not JSON", `\u12g4"`: "is not JSON", "\n\"": "is not JSON", `\ud83d"`: "is not JSON",
		`\ud83d\u0041"`: "half of a character", `a`: "unexpected EOF", `\`: "EOF", `\u12`: "EOF",
	} {
		_, err := Read(strings.NewReader(`"` + quoted))
		require.ErrorContains(t, err, why, quoted)
	}
}

func TestReadKeepsEachFieldOfAHistory(t *testing.T) {
	l := lab.NewLog(func(string, []byte) bool { return true })
	l.Watch(lab.Watch{Pattern: "sem:*", As: lab.Semaphore, Holders: 3})
	l.Add(lab.Entry{Event: lab.EventExpired, Key: "sem:a", Changes: []lab.Change{{
		Key: "sem:a", Cause: lab.ByExpiry,
		Before: &lab.Value{Type: "set", Len: 1, Deadline: 7, Parts: []lab.Part{{Name: "a"}}},
	}}})
	h := l.Export(1, 1)
	h.Cluster, h.Proxy, h.Node = true, true, &lab.Node{Node: 1, Nodes: 2, Port: 3, Role: "master", ReplID: "id", Offset: 4}
	for _, part := range []reflect.Value{reflect.ValueOf(h), reflect.ValueOf(*h.Node)} {
		for i := range part.NumField() {
			require.False(t, part.Field(i).IsZero(), "the test says nothing of %s", part.Type().Field(i).Name)
		}
	}
	read, err := Read(strings.NewReader(string(h.JSON())))
	require.NoError(t, err)
	require.Equal(t, []lab.History{h}, read)
}
