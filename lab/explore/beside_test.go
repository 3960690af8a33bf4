package explore

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

func TestAKeyBesideALockIsNoLock(t *testing.T) {
	text := func(s string) *lab.Value { return &lab.Value{Type: "string", Text: s} }
	field := func(s string) *lab.Value {
		return &lab.Value{Type: "hash", Parts: []lab.Part{{Name: "a", Value: s}}}
	}
	list := &lab.Value{Type: "list", Parts: []lab.Part{{Name: "1"}}}
	script := func(run int64, changes ...lab.Change) lab.Entry {
		return lab.Entry{Client: 7, By: "5ha", Run: run, Changes: changes}
	}
	message := lab.Entry{Client: 8, Event: "message"}
	const listed, noted = "it is a list", "scripts write it while they give a lock up"
	for name, c := range map[string]struct {
		want    string
		entries []lab.Entry
	}{
		"a signal": {listed, []lab.Entry{script(1, lab.Change{Key: "k", After: list})}},
		"a note behind a deletion": {noted, []lab.Entry{
			script(1, lab.Change{Key: "lock", Before: text("t")}), message, script(1, lab.Change{Key: "k", After: text("1")}),
			script(2, lab.Change{Key: "k", Before: text("1")}),
		}},
		"a note behind a count": {noted, []lab.Entry{
			script(1, lab.Change{Key: "lock", Before: field("2"), After: field("1")}),
			script(1, lab.Change{Key: "k", After: text("0")}),
		}},
		"two locks in one script": {"", []lab.Entry{
			script(1, lab.Change{Key: "lock", After: text("t")}), script(1, lab.Change{Key: "k", After: text("t")}),
		}},
		"a second entry, and another lock": {"", []lab.Entry{
			script(1, lab.Change{Key: "lock", Before: field("1"), After: field("2")}),
			script(1, lab.Change{Key: "k", After: text("t")}),
		}},
		"a lock for another": {"", []lab.Entry{
			script(1, lab.Change{Key: "lock", Before: text("t")}), script(1, lab.Change{Key: "k", After: text("t")}),
		}},
		"a deletion by an earlier script": {"", []lab.Entry{
			script(1, lab.Change{Key: "lock", Before: text("t")}), script(2, lab.Change{Key: "k", After: text("t")}),
		}},
		"a deletion without a script": {"", []lab.Entry{
			{Client: 7, Changes: []lab.Change{{Key: "lock", Before: text("t")}}},
			{Client: 7, Changes: []lab.Change{{Key: "k", After: text("t")}}},
		}},
		"taken once, and a note once": {"", []lab.Entry{
			script(1, lab.Change{Key: "k", After: text("t")}),
			script(2, lab.Change{Key: "lock", Before: text("t")}), script(2, lab.Change{Key: "k", After: text("1")}),
		}},
		"a replica's copy": {"", []lab.Entry{{Changes: []lab.Change{{Key: "k", After: text("t")}}}}},
	} {
		require.Equal(t, c.want, beside([]lab.History{{Entries: c.entries}}, "k"), name)
	}
}
