package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// parse calls visit with all nodes of the Go files of a folder beside this one.
func parse(t *testing.T, folder string, visit func(n ast.Node) bool) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(f, visit)
		}
	}
}

// said returns the texts that the code of a folder passes to Say and Many.
func said(t *testing.T, folder string) (all []string) {
	parse(t, folder, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != "Say" && f.Sel.Name != "Many" {
			return true
		}
		from := 0
		if f.Sel.Name == "Many" {
			from = 2
		}
		ast.Inspect(call.Args[from], func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				text, err := strconv.Unquote(s.Value)
				require.NoError(t, err)
				all = append(all, text)
			}
			return true
		})
		return true
	})
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func TestEveryTextOfAPictureIsThereInBothLanguages(t *testing.T) {
	all := slices.Concat(said(t, "picture"), said(t, "verdict"), said(t, "explore"))
	for _, o := range []lab.Outcome{
		lab.Executed, lab.Failed, lab.NotExecuted, lab.ReplyLost, lab.ReplyLate, lab.ReplyCut, lab.Held, lab.Delayed,
		lab.PushSkipped, lab.PushLate,
	} {
		all = append(all, string(o))
	}
	all = append(all, lab.EventExpired, lab.EventClock, lab.EventCrash, lab.EventRestore, lab.KeysKept, lab.KeysOnDisk)
	all = append(all, lab.EventPromoted, lab.EventDemoted, lab.EventSynced, lab.EventLink)
	all = append(all, lab.SyncedFull, lab.SyncedPartial)
	all = append(all, lab.EventDisk, lab.NeverOnDisk, lab.OlderOnDisk, lab.ExpiryOnDisk, lab.BackFromDisk)
	slices.Sort(all)
	all = slices.Compact(all)
	require.Equal(t, all, slices.Sorted(maps.Keys(texts())))
}

func TestATextHasTheSameArgumentsInBothLanguages(t *testing.T) {
	verbs := func(s string) []string {
		all := regexp.MustCompile(`%(\[\d+\])?[a-z]`).FindAllString(s, -1)
		for i := range all {
			all[i] = all[i][len(all[i])-1:]
		}
		slices.Sort(all)
		return all
	}
	han := regexp.MustCompile(`\p{Han}`)
	for english, chinese := range texts() {
		require.Equal(t, verbs(english), verbs(chinese), english)
		require.True(t, han.MatchString(chinese) || english == "%s: %s", english)
	}
	require.Equal(t, "a 加锁 lock:x", Chinese.Say("acquire %s by %s", "lock:x", "a"))
}

// The reasons are the constants whose names begin with why, and what the doctor says about two holders: the tests of
// lab/explore/report look for those.
func TestEveryReasonIsThereInBothLanguages(t *testing.T) {
	found := 0
	for _, folder := range []string{"doctor", "holders", "verdict"} {
		parse(t, folder, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(strings.ToLower(v.Names[0].Name), "why") {
				return true
			}
			var text strings.Builder
			ast.Inspect(v.Values[0], func(n ast.Node) bool {
				if s, ok := n.(*ast.BasicLit); ok {
					part, err := strconv.Unquote(s.Value)
					require.NoError(t, err)
					text.WriteString(part)
				}
				return true
			})
			require.NotEqual(t, text.String(), Chinese.Reason(text.String()), v.Names[0].Name)
			found++
			return false
		})
	}
	require.Len(t, Reasons(), found+7, "and seven ways to two holders")
}

// The sentences of lab/proof are its doubts, the formats of Explain, and what it says of keys that are no locks.
func TestEverySentenceOfAProofIsThereInBothLanguages(t *testing.T) {
	var said []string
	literal := func(n ast.Node) string {
		var text strings.Builder
		ast.Inspect(n, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				part, err := strconv.Unquote(s.Value)
				require.NoError(t, err)
				text.WriteString(part)
			}
			return true
		})
		return text.String()
	}
	parse(t, "proof", func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if strings.HasPrefix(n.Names[0].Name, "doubts") {
				said = append(said, literal(n.Values[0]))
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			switch {
			case ok && f.Sel.Name == "notJudged":
				said = append(said, "%s "+literal(n.Args[1]))
			case ok && f.Sel.Name == "Sprintf" && strings.Count(literal(n.Args[0]), "%") > 1:
				said = append(said, literal(n.Args[0]))
			}
		}
		return true
	})
	said = slices.DeleteFunc(said, func(s string) bool {
		return s == "%s (db %d)" || s == "; %s took it at %s" || strings.HasPrefix(s, "a restart made") // see Patterns
	})
	var known []string
	for _, p := range proofs() {
		known = append(known, p.english)
	}
	slices.Sort(known)
	slices.Sort(said)
	require.Equal(t, known, slices.Compact(said))
}

func TestASentenceOfAProofIsTranslatedWithItsParts(t *testing.T) {
	for english, chinese := range map[string]string{
		"a's COPY at 12:00:01.003 wrote lock:x; the judge does not know whether a believes that it holds the lock": "" +
			"a 在 12:00:01.003 用 COPY 写了 lock:x；无法知道 a 是不是以为自己持有锁",
		"s's DEL at 12:00:01.003 took lock:x from a, which believed in it until 12:00:31.000; b took it at 12:00:02.000: " +
			"both believe that they hold it": "s 在 12:00:01.003 用 DEL 夺走了 a 的 lock:x，而 a 到 12:00:31.000 为止相信自己持有它" +
			"；b 在 12:00:02.000 又取得了它：两者都以为自己持有锁",
		"lock:x is a semaphore": "lock:x 是信号量",
	} {
		require.Equal(t, chinese, Chinese.Reason(english))
	}
}

func TestEnglishIsWhatTheCodeSays(t *testing.T) {
	for _, l := range []Language{"", English} {
		require.Equal(t, "clock +1 s", l.Say("clock %s", "+1 s"))
		require.Equal(t, "1 lock", l.Many(1, "1 lock", "%d locks"))
		require.Equal(t, "2 locks", l.Many(2, "1 lock", "%d locks"))
		require.Equal(t, "a reason", l.Reason("a reason"))
	}
	require.Equal(t, "1 把锁", Chinese.Many(1, "1 lock", "%d locks"))
	require.Equal(t, "100%", Chinese.Say("100%"), "a name is no format")
	require.False(t, Language("fr").Known())
}
