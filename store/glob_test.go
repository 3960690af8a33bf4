package store

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// Every answer here was given by redis-server 7.0.15 (KEYS, and CONFIG GET
// for the rows that ignore case).
func TestMatchAnswersAsRedisDoes(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		nocase     bool
		want       bool
	}{
		{"h?llo", "hello", false, true},
		{"h?llo", "hllo", false, false},
		{"h*llo", "heeeello", false, true},
		{"h**llo*", "hllo", false, true},
		{"*a*b*c", "xaxbxcxc", false, true},
		{"*a*b*c", "xaxbxcxd", false, false},
		{"h[ae]llo", "hallo", false, true},
		{"h[^e]llo", "hello", false, false},
		{"h[^e]llo", "hbllo", false, true},
		{"h[a-b]llo", "hbllo", false, true},
		{"h[b-a]llo", "hallo", false, true},
		{"h[a-", "ha", false, true},
		{"h[a-", "h-", false, true},
		{"h[a-]", "h]", false, true},
		{"h[a", "ha", false, true},
		{"h[", "ha", false, false},
		{"h[^", "ha", false, true},
		{"h[]a", "h]a", false, false},
		{`h[\]]`, "h]", false, true},
		{`h[\`, `h\`, false, true},
		{`\*`, "*", false, true},
		{`\*`, "a", false, false},
		{`a\`, `a\`, false, true},
		{"*", "", false, false},
		{"", "", false, true},
		{"", "a", false, false},
		{"MAX[M]emory", "maxmemory", true, true},
		{`MAX[\m]EMory`, "maxmemory", true, true},
		{`MAX[\M]EMory`, "maxmemory", true, false},
		{"MA[W-Z]memory", "maxmemory", true, true},
		{"MA[Z-a]memory", "maxmemory", true, false},
		{`MA\Xmemory`, "maxmemory", true, true},
	} {
		require.Equal(t, c.want, Match([]byte(c.pattern), []byte(c.s), c.nocase), "%q on %q", c.pattern, c.s)
	}
}

func TestMatchOfAHostilePatternIsBounded(t *testing.T) {
	s := []byte(strings.Repeat("a", 2000))
	require.False(t, Match([]byte(strings.Repeat("a*", 900)+"b"), s, false))
	require.True(t, Match([]byte(strings.Repeat("*a", 1000)), s, false))
	require.False(t, Match([]byte(strings.Repeat("*a", 1001)), s, false), "Redis looks no deeper")
	require.True(t, Match([]byte(strings.Repeat("*a", 1000)+"*"), s, false))
}

// definition is the meaning of a pattern spelled out with full backtracking:
// too slow for a server, short enough to be believed.
func definition(pattern, s []byte, nocase bool) bool {
	switch {
	case len(pattern) == 0:
		return len(s) == 0
	case pattern[0] == '*':
		return definition(pattern[1:], s, nocase) || len(s) > 0 && definition(pattern, s[1:], nocase)
	case len(s) == 0:
		return false
	}
	next, ok := one(pattern, s[0], nocase)
	return ok && definition(pattern[next:], s[1:], nocase)
}

// one matches the item that a pattern begins with and returns where the next one does.
func one(pattern []byte, c byte, nocase bool) (next int, ok bool) {
	p := 0
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return matchClass(pattern, p+1, c, nocase)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, pattern[p] == c || nocase && ascii.Lower(pattern[p]) == ascii.Lower(c)
}

func FuzzMatchAgreesWithTheDefinition(f *testing.F) {
	f.Add([]byte("*a*[^b-d]?"), []byte("xxayz"), false)
	f.Add([]byte(`\*[\]`), []byte("*]"), true)
	f.Fuzz(func(t *testing.T, pattern, s []byte, nocase bool) {
		if len(s) > 12 || bytes.Count(pattern, []byte("*")) > 5 {
			Match(pattern, s, nocase)
			return
		}
		want := definition(pattern, s, nocase) && (len(s) > 0 || len(pattern) == 0)
		require.Equal(t, want, Match(pattern, s, nocase), "%q on %q", pattern, s)
	})
}
