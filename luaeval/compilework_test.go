package luaeval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// The compiler searches all constants of a function for each one. The rewriter leaves it few of
// them.
func TestTheCompilerWalksFewConstants(t *testing.T) {
	e := alone(Options{})
	for name, unit := range map[string]string{
		"values of a constructor": "t={'k%[1]d',%[1]d}", "fields": "t.k%d=1", "keys": "t={k%d=1}", "sums": "t=t+(%d+0.5)",
		"globals": "if t then x%d() end", "assigned globals": "x%d=1", "comparisons": "if t=='k%d' then t=1 end",
		"functions": "t=function() return 'a%d' end", "divisions": "t=%d/0",
	} {
		for _, n := range []int{1000, 4000} {
			_, w, err := e.compileChunk("local t "+numbered(n, " ", unit), &e.scriptScope)
			require.NoError(t, err, name)
			require.LessOrEqual(t, w.walked, 2*maxOperands*3*n, name)
			require.LessOrEqual(t, len(w.fn.index), maxOperands, name)
		}
		_, w, err := e.compileChunk("local t "+numbered(9000, " ", unit), &e.scriptScope)
		require.NoError(t, err, name)
		require.LessOrEqual(t, w.walked, maxWalked+3*maxOperands, name)
	}
}

// Each constant is there once, and there are no others.
func TestEachConstantIsThereOnce(t *testing.T) {
	e := alone(Options{})
	const n = 5000
	fn, _, err := e.compileChunk("local t={"+numbered(n, ",", "'k%d'")+"} t={"+numbered(n, ",", "'k%d'")+"}",
		&e.scriptScope)
	require.NoError(t, err)
	seen := map[lua.LValue]bool{}
	for _, v := range fn.Proto.Constants {
		require.False(t, seen[v], v)
		seen[v] = true
	}
	require.Len(t, seen, n)
	for _, line := range fn.Proto.DbgSourcePositions {
		require.Equal(t, 1, line)
	}
}

// Constants are counted before the text is parsed, and only those.
func TestFewConstantsAreNotTakenForMany(t *testing.T) {
	e := alone(Options{})
	const n = maxConstant + 2
	for _, script := range []string{
		"local s='" + numbered(n, ",", "%d") + "' return 'fine'",
		"--[[" + numbered(n, ",", "%d") + "]] return 'fine'",
		"local t={" + numbered(n/100, ",", "%d"+strings.Repeat(",1", 100)) + "} return 'fine'",
		"local t={" + numbered(n/100, ",", "%[1]d"+strings.Repeat(",%[1]d.0,0x%[1]x", 50)) + "} return 'fine'",
	} {
		require.Equal(t, "$4\r\nfine\r\n", evalOn(e, 2, script, nil))
	}
}

// A text that would take the compiler too long or too much memory is refused.
func TestTheCompilerRefusesWhatItCannotDo(t *testing.T) {
	e := alone(Options{})
	for name, c := range map[string]struct{ script, says string }{
		"functions": {strings.Repeat("local function f() end ", 100) + "local f " + strings.Repeat("f=function() end ",
			maxFunctions),
			"user_script:1: chunk has more than 10000 functions"},
		"names of methods": {"local t " + numbered(maxMethods+1, " ", "t:m%d()"),
			"main function has more than 10000 names of methods"},
		"jumps": {"local x " + strings.Repeat("if x then x=1 end ", 50000),
			"main function has more than 131072 jumps"},
		"tokens": {"local t={" + strings.Repeat("1,", maxTokens/2) + "}", fmt.Sprint("chunk has more than ",
			maxTokens, " tokens")},
		"constants":        {"local t={" + numbered(300000, ",", "%d") + "} )", tooManyConstants},
		"constant strings": {"local t={" + numbered(300000, ",", `"%d"`) + "}", tooManyConstants},
		"names far away": {
			"local far " + strings.Repeat("local "+numbered(190, ",", "b%d")+" local f=function() ", 60) +
				strings.Repeat("far=far ", 100000) + strings.Repeat("end ", 60),
			"too many names and constants"},
		"elseifs": {"local x if x then " + strings.Repeat("elseif x then ", maxDepth) + "end",
			"chunk has too many syntax levels"},
	} {
		require.Contains(t, evalOn(e, 2, c.script, nil), c.says, name)
	}
}
