package doctor

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// The page of the locks shows findings in two languages. It looks a reason up by its English words.
func TestThePageExplainsEveryFindingInBothLanguages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "glass", "glasshttp", "page", "text", "doctor.js"))
	require.NoError(t, err)
	en, zh, found := strings.Cut(string(text), "\n  zh: {\n")
	require.True(t, found)
	english, chinese := textsOf(en), textsOf(zh)
	require.Len(t, chinese, len(english))
	for key := range english {
		require.Regexp(t, `\p{Han}`, chinese[key], key)
	}
	known := 0
	for _, p := range everyPattern(t) {
		require.Contains(t, english, string(p), "the finding has no title")
		known++
		for _, why := range reasons(p) {
			known++
			require.Contains(t, valuesBelow(english, string(p)+"."), why)
		}
	}
	require.Len(t, english, known, "a text has no finding")
}

// everyPattern returns the constants of type Pattern.
func everyPattern(t *testing.T) (all []Pattern) {
	file, err := parser.ParseFile(token.NewFileSet(), "finding.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Pattern" {
				name, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				all = append(all, Pattern(name))
			}
		}
		return true
	})
	require.NotEmpty(t, all)
	return all
}

// reasons returns all that the doctor says about a pattern.
func reasons(p Pattern) []string {
	why, _ := advice(p)
	all := []string{why}
	switch p {
	case NoQuorum:
		all = nil
		for _, r := range []holders.Reason{holders.OtherType, holders.ClockBack, holders.LeftVote, holders.ShortLease} {
			why, _ = noQuorum(r)
			all = append(all, why)
		}
	case ClientsClock:
		for _, r := range []clockReason{overAtOnce, scores} {
			why, _ = clockAdvice(r)
			all = append(all, why)
		}
	case ChannelApart, KeysApart:
		why, _ = stoppedAdvice(p)
		all = append(all, why)
	case Astray:
		for _, r := range []strayReason{toOld, toOther} {
			why, _ = strayAdvice(r)
			all = append(all, why)
		}
	case NotOwner:
		why, _ = formerHolder()
		all = append(all, why)
	case Polling:
		why, _ = busyLoop()
		all = append(all, why)
		why, _ = manyAdvice()
		all = append(all, why)
	case TwoHolders:
		for _, how := range []struct{ first, second holders.Holding }{
			{first: holders.Holding{End: holders.EndStolen, EndOrder: 1}},
			{first: holders.Holding{End: holders.EndStolen, EndOrder: 1, EndedBy: holders.Step{Command: withSameToken}}},
			{first: holders.Holding{End: holders.EndLost, EndOrder: 1}},
			{first: holders.Holding{End: holders.EndLost, EndOrder: 1, EndedBy: holders.Step{Command: evictedIt}}},
			{second: holders.Holding{Renews: 1}},
			{},
		} {
			first := holders.Term{Votes: []holders.Vote{{Holding: how.first}}}
			why, _ = howTwo(first, holders.Term{From: 2, Votes: []holders.Vote{{Holding: how.second}}}, false)
			all = append(all, why)
		}
	}
	return all
}

// textsOf returns the texts of one language, by their keys without "doctor.".
func textsOf(js string) map[string]string {
	texts := map[string]string{}
	line := regexp.MustCompile(`(?m)^ {4}'doctor\.([a-z.-]+)': (?:'([^']*)'|"([^"]*)"),$`)
	for _, m := range line.FindAllStringSubmatch(js, -1) {
		texts[m[1]] = m[2] + m[3]
	}
	return texts
}

func valuesBelow(texts map[string]string, prefix string) (values []string) {
	for key, text := range texts {
		if strings.HasPrefix(key, prefix) {
			values = append(values, text)
		}
	}
	return values
}
