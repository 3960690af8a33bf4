package lab_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// value makes a value of a type with parts: "a b=1 c".
func value(kind, parts string) *lab.Value {
	v := &lab.Value{Type: kind}
	for _, word := range strings.Fields(parts) {
		name, value, _ := strings.Cut(word, "=")
		v.Parts = append(v.Parts, lab.Part{Name: name, Value: value})
	}
	v.Len = len(v.Parts)
	return v
}

func names(v *lab.Value) string {
	var all []string
	for _, p := range v.Parts {
		all = append(all, strings.TrimSuffix(p.Name+"="+p.Value, "="))
	}
	return strings.Join(all, " ")
}

func TestAChangeHasOnlyThePartsThatDiffer(t *testing.T) {
	for _, c := range []struct{ kind, was, is, gone, added string }{
		{"hash", "a=1 b=1 d=1", "a=1 b=2 c=1", "b=1 d=1", "b=2 c=1"},
		{"set", "a", "a b", "", "b"},
		{"list", "a b c", "b c a", "a", "a"},
		{"list", "x a y", "a", "x y", ""},
		{"list", "a a a", "a a", "a", ""},
		{"list", "", "a", "", "a"},
		{"list", "a b c d", "a x c y", "b d", "x y"},
		{"list", "a b", "b a", "a", "a"},
	} {
		change := lab.Change{Before: value(c.kind, c.was), After: value(c.kind, c.is)}
		require.True(t, change.Reduce(false), c)
		gone, added := names(change.Before), names(change.After)
		require.Equal(t, []string{c.gone, c.added}, []string{gone, added}, c)
		same := lab.Change{Before: value(c.kind, c.was), After: value(c.kind, c.was)}
		require.False(t, same.Reduce(true), c)
	}
}

func TestValuesThatCannotBeComparedDifferIfSomebodyHasWritten(t *testing.T) {
	large := func(n int) *lab.Value { return &lab.Value{Type: "set", Len: n, Unread: true} }
	for _, c := range []struct {
		was, is      *lab.Value
		wrote, wants bool
	}{
		{large(200), large(200), false, false},
		{large(200), large(200), true, true},
		{large(200), large(201), false, true},
		{large(129), value("set", "a"), false, true},
		{large(200), nil, false, true},
		{nil, nil, true, false},
		{nil, value("set", "a"), false, true},
		{value("set", "a"), value("list", "a"), false, true},
		{&lab.Value{Type: "string", Text: "a"}, &lab.Value{Type: "string", Text: "a", Deadline: 1}, false, true},
		{&lab.Value{Type: "string", Text: "a"}, &lab.Value{Type: "string", Text: "a"}, true, false},
	} {
		change := lab.Change{Before: c.was, After: c.is}
		require.Equal(t, c.wants, change.Reduce(c.wrote), "%v %v", c.was, c.is)
		if c.was != nil && c.was.Unread && c.is != nil {
			require.True(t, c.is.Unread)
			require.Empty(t, c.is.Parts)
		}
	}
}

func TestTheTextOfChangesIsShort(t *testing.T) {
	many := value("hash", strings.Repeat("f ", 20))
	e := lab.Entry{Time: 1000}
	for i := range 10 {
		e.Changes = append(e.Changes, lab.Change{Key: "k" + strconv.Itoa(i), After: many})
	}
	e.Changes[0] = lab.Change{Key: "k", DB: 1, Cause: lab.ByLoss, At: 900,
		Before: &lab.Value{Type: "string", Text: "a", Deadline: 1000},
		After:  &lab.Value{Type: "list", Len: 300, Unread: true}}
	parts := strings.Split(e.ChangesText(), "; ")
	require.Len(t, parts, 9)
	require.Equal(t, "k in database 1: 'a' until +100 ms -> list of 300, too large to compare (lost)", parts[0])
	require.Equal(t, "k1: absent -> hash of 20 {"+strings.Repeat("'f', ", 8)+"12 more}", parts[1])
	require.Equal(t, "2 more", parts[8])
	require.Empty(t, (&lab.Entry{}).ChangesText())
}

func TestAPatternIsComparedByTheRulesOfGlobs(t *testing.T) {
	l := lab.NewLog(glob)
	all := []string{"lock:a", "lock:*", "l[oi]ck:b", "x?", `back\slash`}
	for _, pattern := range all {
		l.Watch(lab.Watch{Pattern: pattern})
	}
	for key, want := range map[string]bool{
		"lock:a": true, "lock:ab": true, "lock": false, "lick:b": true, "xy": true, "x": false, "backslash": true, "": false,
	} {
		for range 2 {
			require.Equal(t, want, l.Watches([]byte(key)), key)
		}
	}
	for _, pattern := range slices.Backward(all) {
		require.True(t, l.Unwatch(pattern))
	}
	require.False(t, l.Watches([]byte("lock:a")))
}

// Most keys are told by their first eight bytes. The answer has to be that of the globs, whatever the length.
func TestTheFirstBytesOfAKeyDecideNothingElse(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	text := func(letters string) string {
		b := make([]byte, dice.IntN(11))
		for i := range b {
			b[i] = letters[dice.IntN(len(letters))]
		}
		return string(b)
	}
	matched := 0
	for range 20_000 {
		pattern, key := text("aaaaaaaaab\x00*?"), text("aaaaaaaaab\x00")
		l := lab.NewLog(glob)
		l.Watch(lab.Watch{Pattern: pattern})
		want := glob(pattern, []byte(key))
		require.Equal(t, want, l.Watches([]byte(key)), "%q %q", pattern, key)
		if want {
			matched++
		}
	}
	require.Greater(t, matched, 1000)
}

// A reader of an export bounds the text of an entry: FLUSHALL may have deleted very many keys.
func TestChangesThatAreTooManyForAnEntryGoIntoFurtherOnes(t *testing.T) {
	l := lab.NewLog(glob)
	e := lab.Entry{Event: lab.EventCommand, Cmd: []string{"FLUSHALL"}, Client: 3, Time: 5, Offset: 7}
	long := &lab.Value{Type: "string", Text: strings.Repeat(`\\x00`, 128)}
	for i := range 3000 {
		e.Changes = append(e.Changes, lab.Change{Key: strconv.Itoa(i), Before: long})
	}
	l.Add(e)
	l.Add(lab.Entry{Event: lab.EventCommand})
	all := l.All()
	require.Greater(t, len(all), 5)
	require.Equal(t, []string{"FLUSHALL"}, all[0].Cmd)
	n := 0
	for i, e := range all[:len(all)-1] {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.Less(t, len(text), 1<<20)
		require.Equal(t, []int64{int64(i + 1), 5, 7}, []int64{e.Seq, e.Time, e.Offset})
		require.Equal(t, i == 0, e.Event != lab.EventChanged)
		for _, c := range e.Changes {
			require.Equal(t, strconv.Itoa(n), c.Key)
			n++
		}
	}
	require.Equal(t, 3000, n)
	require.Empty(t, all[len(all)-1].Changes)
}
