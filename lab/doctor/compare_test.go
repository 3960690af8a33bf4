package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

func compareOp(line, reply string) op {
	words := strings.Fields(line)
	e := Event{Command: strings.ToLower(words[0]), Reply: []byte(reply)}
	for _, w := range words {
		e.Args = append(e.Args, []byte(w))
	}
	return newOp(e, commands()[e.Command])
}

func TestTheTokenThatACommandDemandsIsReadFromItsPlace(t *testing.T) {
	for line, want := range map[string]struct {
		token    string
		compares bool
	}{
		"DELIFEQ k t":                  {"t", true},
		"DELIFEQ k":                    {"", false},
		"DELEX k":                      {"", false},
		"DELEX k ifeq t":               {"t", true},
		"DELEX k IFNE t":               {"", false},
		"DELEX k IFDEQ 0123":           {"", true},
		"SET k v IFEQ t PX 5":          {"t", true},
		"SET k v PX 5 IFEQ ifeq":       {"ifeq", true},
		"SET k v IFNE IFEQ":            {"", false},
		"SET k IFEQ":                   {"", false},
		"SET k ifeq NX":                {"", false},
		"MSETEX 1 k IFEQ NX":           {"", false},
		"SET k v IFNE IFEQ PX 5":       {"", false},
		"DELEX IFEQ IFEQ IFEQ":         {"IFEQ", true},
		"SET k v IFNE IFEQ IFEQ x GET": {"x", true}, // the server refuses it
	} {
		token, compares := compareOp(line, "+OK\r\n").compared(holders.Key{DB: 0, Name: "k"})
		require.Equal(t, want.token, token, line)
		require.Equal(t, want.compares, compares, line)
	}
}

func TestWithGetTheOldValueSaysWhetherTheConditionHeld(t *testing.T) {
	for _, c := range []struct {
		line, reply string
		nx, done    bool
	}{
		{"SET k v IFEQ t GET", "$1\r\nt\r\n", false, true},
		{"SET k v IFEQ t GET", "$1\r\nx\r\n", false, false},
		{"SET k v IFEQ t GET", "$-1\r\n", false, false},
		{"SET k v IFNE t GET", "$-1\r\n", false, true},
		{"SET k v IFNE t GET", "$1\r\nt\r\n", false, false},
		{"SET k v IFNE nx", "+OK\r\n", false, true},
		{"SET k v IFEQ t", "$-1\r\n", false, false},
		{"MSETEX 1 nx v", ":1\r\n", false, true},
		{"MSETEX 1 k nx NX PX 5", ":0\r\n", true, false},
		{"MSETEX 1 k nx NX PX 5", ":1\r\n", true, true},
		{"MSETEX 9 k nx NX PX 5", ":1\r\n", true, true},
	} {
		nx, done := compareOp(c.line, c.reply).outcome()
		require.Equal(t, c.nx, nx, c.line)
		require.Equal(t, c.done, done, "%s %q", c.line, c.reply)
	}
}

func TestMsetexNamesItsKeysByTheirNumber(t *testing.T) {
	for line, want := range map[string][]holders.Key{
		"MSETEX 2 a 1 b 2 NX PX 30000": {{DB: 0, Name: "a"}, {DB: 0, Name: "b"}},
		"MSETEX 1 a NX NX":             {{DB: 0, Name: "a"}},
		"MSETEX 3 a 1 b 2":             {},
		"MSETEX x a 1":                 {},
		"MSETEX -1 a 1":                {},
		"MSETEX 9223372036854775807 a": {},
	} {
		require.Equal(t, want, compareOp(line, ":1\r\n").keys(), line)
	}
	require.Equal(t, int64(30000), compareOp("MSETEX 1 px ex PX 30000", ":1\r\n").until())
}

func TestTheConditionsOfExecAreReadFromTheirPlaces(t *testing.T) {
	token := func(key, token string) demand { return demand{key: holders.Key{DB: 0, Name: key}, token: token} }
	missing := func(key string) demand { return demand{key: holders.Key{DB: 0, Name: key}, missing: true} }
	for line, want := range map[string][]demand{
		"EXEC":                                 nil,
		"EXEC IFEQ k t":                        {token("k", "t")},
		"EXEC ifeq a t IFNE b u nx c IFEQ d v": {token("a", "t"), missing("c"), token("d", "v")},
		"EXEC IFEQ NX IFEQ XX NX NX k":         {token("NX", "IFEQ"), missing("k")},
		"EXEC IFEQ k":                          nil,
	} {
		require.Equal(t, want, compareOp(line, "*-1\r\n").demanded(), line)
	}
}

func TestExecWithATokenIsTheOwners(t *testing.T) {
	for _, h := range []struct {
		what, history string
		want          []string // empty for clients that are right
	}{
		{"a release by another connection of a pool", `
				1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
				2000 a2 * DEL lock:a = 1
				2000 a2 EXEC IFEQ lock:a 0123456789abcdef = *1`, nil},
		{"a release without a condition", `
				1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
				2000 a2 * DEL lock:a = 1
				2000 a2 EXEC = *1`, []string{"not-the-owner lock:a 9702"}},
		{"a release with a condition on another key", `
				1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
				2000 a2 * DEL lock:a = 1
				2000 a2 EXEC IFEQ lock:b 0123456789abcdef NX lock:a = *1`, []string{"not-the-owner lock:a 9702"}},
		{"a renewal by another connection of a pool", `
				1000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK
				2000 a2 * PEXPIRE lock:a 30000 = 1
				2000 a2 EXEC IFEQ lock:a 0123456789abcdef = *1`, nil},
		{"a lock that is taken with NX, and has no expiry", `
				1000 a1 * SET lock:a 0123456789abcdef = OK
				1000 a1 EXEC NX lock:a = *1`, []string{"lock-without-ttl lock:a 9701"}},
	} {
		t.Run(h.what, func(t *testing.T) {
			d := New(nil, nil, 0)
			play(t, d, h.history)
			require.Equal(t, append([]string{}, h.want...), found(d, 5000))
		})
	}
}
