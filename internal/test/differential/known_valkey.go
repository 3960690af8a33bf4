package differential

import (
	"regexp"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// differsFromValkey reports whether the two replies differ in what docs/differences.md names about Valkey.
func differsFromValkey(c command, want, got resp.Value) bool {
	switch {
	case c.args[0] == "OBJECT":
		return slices.Contains(encodings(), [2]string{want.Str, got.Str})
	case c.args[0] == "SCAN":
		return strings.HasPrefix(want.Str, "ERR unknown type name")
	case strings.HasPrefix(c.args[0], "SORT"): // a text with a zero byte is no number
		return strings.HasPrefix(want.Str, "ERR One or more scores can't be converted into double")
	case c.isSubcommand("XINFO", "GROUPS"):
		return canonical(withoutLag(want), ' ') == canonical(withoutLag(got), ' ')
	}
	return inWordsOfRedis(want.String()) == got.String() || differsInWords(want.Str, got.Str)
}

// partsFromValkey reports whether the data differ from this reply on. Valkey refuses a HyperLogLog that has registers
// behind its last one, and Redis 7.2 reads it.
func partsFromValkey(want, got resp.Value) bool {
	for i := range min(len(want.Elems), len(got.Elems)) { // the reply of EXEC
		if partsFromValkey(want.Elems[i], got.Elems[i]) {
			return true
		}
	}
	return strings.HasPrefix(want.Str, "INVALIDOBJ") && got.Kind != '-'
}

// encodings returns the pairs of Valkey's encoding and ours. Its limit of embstr depends on the length of the key.
// What a script stores stays text. A list that has become short may be of the other kind, because the nodes were
// divided in another way.
func encodings() [][2]string {
	return [][2]string{{"embstr", "raw"}, {"embstr", "int"}, {"quicklist", "listpack"}, {"listpack", "quicklist"}}
}

// withoutLag returns a reply of XINFO GROUPS without its last fields, entries-read and lag.
func withoutLag(v resp.Value) resp.Value {
	v.Elems = slices.Clone(v.Elems)
	for i, group := range v.Elems {
		v.Elems[i].Elems = group.Elems[:len(group.Elems)-4]
	}
	return v
}

// differsInWords reports whether two errors mean the same. If several functions of a library exist already, each server
// names the first one in its own order.
func differsInWords(want, got string) bool {
	existing := func(text string) bool {
		return strings.HasPrefix(text, "ERR Function ") && strings.HasSuffix(text, " already exists")
	}
	return existing(want) && existing(got) || strings.HasPrefix(want, "ERR Could not find scripting engine ") &&
		strings.HasPrefix(got, "ERR Unexpected engine in script shebang: ")
}

var missingMember = regexp.MustCompile(`member .* does not exist`)

// inWordsOfRedis returns a reply of Valkey with the text that Redis has.
func inWordsOfRedis(reply string) string {
	return missingMember.ReplaceAllString(reply, "could not decode requested zset member")
}
