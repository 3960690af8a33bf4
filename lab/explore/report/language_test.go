package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

func TestBothLanguagesHaveAllTexts(t *testing.T) {
	variables := func(s string) []string {
		all := regexp.MustCompile(`\{\w+\}`).FindAllString(s, -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	en, zh := english(), chinese()
	for key, text := range en {
		require.Contains(t, zh, key)
		if !strings.HasSuffix(key, ".1") {
			require.Equal(t, variables(text), variables(zh[key]), key)
		}
		require.NotEmpty(t, text, key)
	}
	require.Len(t, zh, len(en))
}

func TestEachMarkAndHarmAndVerdictHasItsTexts(t *testing.T) {
	for _, code := range []string{"en", "zh"} {
		l, err := languageOf(code)
		require.NoError(t, err)
		require.Len(t, marks(), int(explore.Broken)+1)
		glyphs := map[string]bool{}
		for _, m := range marks() {
			require.NotEmpty(t, l.say("mark."+word(m)))
			require.NotEmpty(t, l.say("means."+word(m)))
			require.Len(t, glyph(m), 1)
			glyphs[glyph(m)] = true
			present(t, `id="m-`+word(m)+`"`, file("report.html"))
		}
		require.Len(t, glyphs, len(marks()))
		for h := explore.OtherHarm; h <= explore.NeverEnds; h++ {
			require.NotEmpty(t, l.say("harm."+harm(h)))
		}
		for _, v := range []string{
			verdictByItself, verdictHangs, verdictOutOfTime, verdictUndecided, verdictNoTrial, verdictNotBroken,
			verdictNotJudged, verdictMissed,
		} {
			require.NotEmpty(t, l.say("verdict."+v))
			require.NotEmpty(t, l.say("verdict."+v+".text"))
		}
	}
}

// The Chinese texts use the words of the glossary.
func TestChineseTextsUseTheWordsOfTheGlossary(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "zh", "glossary.md"))
	require.NoError(t, err)
	en, zh := english(), chinese()
	checked := 0
	rows := regexp.MustCompile(`(?m)^\| ([a-zA-Z][a-zA-Z -]*) \| (\S+) \|`)
	for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
		for key, s := range en {
			s = regexp.MustCompile(`\{\w+\}|--lab`).ReplaceAllString(s, "") // names
			if regexp.MustCompile(`(?i)\b` + row[1] + `s?\b`).MatchString(s) {
				checked++
				require.Contains(t, zh[key], row[2], "%s says %q", key, row[1])
			}
		}
	}
	require.Greater(t, checked, 25)
}

func TestEachFailureHasAChineseName(t *testing.T) {
	known := faultsOf()
	all := faultsOf()
	for _, o := range []explore.Options{
		{Disk: explore.Fsyncs()[0], Replica: true}, {Masters: 3, Cluster: true}, {Sentinels: true},
	} {
		for _, f := range explore.New(o).Report().Faults {
			require.NotEmpty(t, all[f.Name].title, f.Name)
			require.NotEmpty(t, all[f.Name].sentence, f.Name)
			delete(known, f.Name)
		}
	}
	require.Len(t, known, 1, "executed-noscript does not exist")
}

// stringsOf returns the strings of a package, or what some of its functions return. Those that + joins are one.
func stringsOf(t *testing.T, folder string, functions ...string) (all []string) {
	t.Helper()
	constants := map[string]string{}
	var fold func(e ast.Expr) (string, bool)
	fold = func(e ast.Expr) (string, bool) {
		switch e := e.(type) {
		case *ast.BasicLit:
			s, err := strconv.Unquote(e.Value)
			return s, err == nil && e.Kind == token.STRING
		case *ast.Ident:
			s, found := constants[e.Name]
			return s, found
		case *ast.BinaryExpr:
			a, one := fold(e.X)
			b, two := fold(e.Y)
			return a + b, one && two && e.Op == token.ADD
		}
		return "", false
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	inside := len(functions) == 0
	for range 2 { // first the constants, then what uses them
		all = nil
		for _, path := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(f, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
					if s, ok := fold(v.Values[0]); ok {
						constants[v.Names[0].Name] = s
					}
				}
				if f, ok := n.(*ast.FuncDecl); ok && len(functions) > 0 {
					inside = slices.Contains(functions, f.Name.Name)
				}
				if e, ok := n.(ast.Expr); ok && inside {
					if s, ok := fold(e); ok {
						all = append(all, s)
						return false
					}
				}
				return true
			})
		}
	}
	return all
}

// A sentence that has changed in its package would be in English on a Chinese page.
func TestTranslatedSentencesExist(t *testing.T) {
	var all []string
	for _, folder := range []string{"doctor", "holders", "verdict", "explore"} {
		all = append(all, stringsOf(t, filepath.Join("..", "..", folder))...)
	}
	for english, chinese := range chineseOf() {
		require.True(t, slices.Contains(all, english), "no package says: %s", english)
		require.NotEmpty(t, chinese)
	}
}

// A sentence that is new in its package would be in English on a Chinese page, too.
func TestWhatTheDoctorSaysIsTranslated(t *testing.T) {
	l, err := languageOf("zh")
	require.NoError(t, err)
	for folder, functions := range map[string][]string{
		"doctor": {"advice", "busyLoop", "clockAdvice", "evictionAdvice", "formerHolder", "howTwo", "manyAdvice",
			"renewalAdvice"},
		"explore": {"excuse", "help"},
	} {
		said := stringsOf(t, filepath.Join("..", "..", folder), functions...)
		require.NotEmpty(t, said)
		for _, s := range said {
			if strings.Count(s, " ") > 1 {
				_, translated := l.translate(s)
				require.True(t, translated, s)
			}
		}
	}
}

func TestFailuresThatDoNotExistAtAPlaceAreKnown(t *testing.T) {
	n := 0
	for _, s := range stringsOf(t, filepath.Join("..", "..", "explore"), "excuse") {
		if impossible(s) {
			n++
		}
	}
	require.Equal(t, 5, n, "package explore gives other reasons")
}

func TestTheReasonOfASeldomHarmIsKnown(t *testing.T) {
	said := stringsOf(t, filepath.Join("..", "..", "explore"), "close")
	require.True(t, slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, rarely+": ") }), "%v", said)
}

func TestSentencesWithPartsAreTranslated(t *testing.T) {
	l, err := languageOf("zh")
	require.NoError(t, err)
	for english, chinese := range map[string]string{
		"it is the same as request lost: the request changes nothing":       "和“请求丢失”一样：这个请求什么也没有改变",
		"lock:a is free again when its lease ends":                          "租约到期以后，lock:a 又可以拿到",
		"nobody asked for it; and lock:a is free again when its lease ends": "没有人要求试它；而且 lock:a 要等租约到期才又可以拿到",
		"nothing comes after a's second SET":                                "a's second SET 之后什么也没有来",
		"sem:x ends with another value than without the failure":            "sem:x 最后的值和不加故障时不同",
		"no lease of lock:a ended by itself: it is 30 s long, nobody renewed it, and the work was shorter; the lab's " +
			"clock does not run with the work, so work that takes longer than the lease was not tried": "lock:a 的租约" +
			"没有一次自己到期：租约长 30 s，没有人续期，而工作更短；实验室的时钟不随工作走，所以没有试过比租约更长的工作",
		"nobody took the lock while these requests waited, only afterwards, so a client that asks earlier was not tried: " +
			"a's first DEL": "这些请求等待期间没有人拿锁，之后才有人拿，所以没有试过更早来问的客户端：a's first DEL",
		"signal:a was not taken for a lock: it is a list":                              "没有把 signal:a 当作锁：它是一个列表",
		"latch:* was not taken for a lock: scripts write it while they give a lock up": "没有把 latch:* 当作锁：脚本在放弃一把锁时写它",
		"it breaks by itself, 2 of 30":                                                 "不加故障也会坏，30 次里坏了 2 次",
	} {
		text, translated := l.translate(english)
		require.True(t, translated)
		require.Equal(t, chinese, text)
	}
	_, translated := l.translate("something new")
	require.False(t, translated)
}

func TestNumbersOfPlacesAreEnglish(t *testing.T) {
	l, err := languageOf("en")
	require.NoError(t, err)
	for n, text := range map[int]string{
		0: "0th", 1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 21: "21st", 112: "112th",
	} {
		require.Equal(t, text, l.nth(n))
	}
}
