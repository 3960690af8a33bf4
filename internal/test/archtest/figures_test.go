package archtest

import (
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A figure is a number in the documents that the source decides. A pattern has %d in place of the number, which
// a page may write in words. An empty pattern means that no page in that language has it.
//
// Before the number, "about" allows five percent, and "fewer than" makes it a limit.
type figure struct {
	english, chinese string
	source           func(t *testing.T) string
}

func (f figure) patterns() []string {
	return slices.DeleteFunc([]string{f.english, f.chinese}, func(p string) bool { return p == "" })
}

// figures are checked on every page, and every one of them is on some page. Sizes of the files of a release are
// measured where a release is made, and what bench counts is checked by the tests of bench.
func figures() []figure {
	const python, node = "clients/fixtures/python/pyproject.toml", "clients/fixtures/node/package.json"
	const interop = "clients/interop/fixtures/"
	return []figure{
		{"%d stories", "%d 个故事", files("clients/examples/lab/[0-9]*.sh")},
		{"The %d take about 6 seconds", "", files("clients/examples/lab/[0-9]*.sh")},
		{"%d (?:such )?sentences", "%d ?句(?:关于|这样|常见|话|。)", matches("docs/claims.md", `(?m)^## \d+\. `)},
		{"takes %d of them", "", matches("docs/claims.md", `(?m)^## \d+\. `)},
		{"%d labs", "%d ?个实验", files("course/labs/L*")},
		{"Each lab has %d hints", "", matches("course/labs/L04-reactor/en.md", `(?m)^## Hint `)},
		{"[Ss]keleton has %d lines", "骨架%d 行", longest("course/labs/L04-reactor/*/*")},
		{"clients (?:of|run here, in) %d (?:languages|ecosystems)", "%d ?种语言里哪些已发布的客户端",
			files("clients/interop/*/prepare")},
		{"first tests of docs/lab, complete, in %d languages", "", folders("clients/examples/first")},
		{"Each file below is complete.*? CI runs all %d, from", "%d ?个文件都在 CI 里运行", folders("clients/examples/first")},
		{"have %d tests that go red", "", matches(interop+"java/tests/src/test/java/examples/*Red.java", `(?m)^\s+@Test`)},
		{"has %d tests that go red", "", files(interop + "python/golden/*")},
		{"order for %d weeks", "%d ?周的顺序", matches("docs/instructors.md", `(?m)^\| \d+ \| `)},
		{"## %d weeks", "## %d ?周", matches("docs/instructors.md", `(?m)^\| \d+ \| `)},
		{"%d clients, \\d+ trials", "", matches("docs/explore-results.md", `(?m)^\| \[[\w-]+\]\(#`)},
		{"every %d clients", "每 ?%d ?个客户端", constant("ioworkers/threads.go", "perThread")},
		{"fewer than %d readable clients", "", constant("ioworkers/threads.go", "perThread")},
		{"newest %d events", "最新的 %d 个事件", constant("internal/trace/thread.go", "ringSize")},
		{"newest %d entries", "", constant("lab/log.go", "KeepEntries")},
		{"at most %d entries of a master", "", constant("lab/log.go", "KeepEntries")},
		{"command of more than %d words", "", constant("lab/text.go", "mostArgs")},
		{"A request has at most %d arguments", "", constant("resp/reader.go", "defaultMaxArgs")},
		{"Go %d are enough", "Go %d 就够了", text("go.mod", `(?m)^go (\d+\.\d+)`)},
		{"needs Python %d", "", text(python, `requires-python = ">=([\d.]+)"`)},
		{"and pytest %d, and nothing", "", text(python, `"pytest>=(\d+)"`)},
		{"needs Node %d", "", text(node, `"node": ">=(\d+)"`)},
		{"(?:runs on all|release compiles all) %d", "", matches("release/main.go", `(?:linux|darwin)/(?:amd64|arm64)`)},
		{"needs Java %d", "", text("clients/fixtures/java/pom.xml", `<maven.compiler.release>(\d+)<`)},
		{"needs Rust %d", "", text("clients/fixtures/rust/Cargo.toml", `rust-version = "([\d.]+)"`)},
	}
}

// uncounted are numbers before a noun of the figures that no figure counts.
func uncounted() []string {
	return []string{
		"three stories of Redlock", "三个红锁的故事", // those that a screen tells at once
		"If you have six weeks",
		"Pages in two languages", "两种语言共用",
		"of four languages find the new master", "四种语言的 已发布客户端", // those whose clients know Sentinel
	}
}

// A page that says such a number in other words must not escape. So what no pattern matches must have no noun of the
// figures behind a number.
func TestTheFiguresInTheDocumentsAreThoseOfTheSource(t *testing.T) {
	pages := prose(t)
	for _, f := range figures() {
		want := f.source(t)
		for _, pattern := range f.patterns() {
			found, phrase := false, withNumber(pattern)
			for name, text := range pages {
				for _, m := range phrase.FindAllStringSubmatch(text, -1) {
					found = true
					check(t, name, m[0], m[1], m[2], want)
					pages[name] = strings.Replace(pages[name], m[0], "", 1)
				}
			}
			require.True(t, found, "no page says %q", pattern)
		}
	}
	nouns := withNumber(`%d(?: ?[个种])? ?(?:[a-z-]+ ){0,2}(?:stories|sentences|labs|ecosystems|languages|weeks|故事|实验|语言)`)
	for name, text := range pages {
		require.Empty(t, nouns.FindString(text), "%s: this needs a row in figures or in uncounted", name)
		if strings.HasPrefix(name, "README") {
			text = elsewhere().ReplaceAllString(inlineCode().ReplaceAllString(text, ""), "")
			require.NotRegexp(t, `[^ ]* ?\b\d[\d,.]*.{0,20}`, text, "%s: what counts this?", name)
		}
	}
}

// elsewhere matches the numbers of README that are no figures: versions of other programs, times, what a benchmark has
// measured, and those of an example.
func elsewhere() *regexp.Regexp {
	return regexp.MustCompile(`(?:Redis|redis-server|Valkey) \d+(?:\.\d+)?|端口 \d+|port \d+` +
		`|\d+ ?(?:cores|seconds|minutes|秒|分钟|个核)` +
		`|pipeline of 16|深度为 16|3 to 5 times|3到5倍|2 clients held|2个客户端同时持有`)
}

// check compares a number that a page says with the one that the source has.
func check(t *testing.T, name, phrase, prefix, said, want string) {
	t.Helper()
	said = strings.ReplaceAll(said, ",", "")
	switch {
	case slices.Contains([]string{"about ", "some ", "大约 ", "约 "}, prefix):
		require.InEpsilon(t, integer(t, want), integer(t, said), 0.05, "%s: %q, and the source has %s", name, phrase, want)
	case slices.Contains([]string{"fewer than ", "不到 "}, prefix):
		require.Less(t, integer(t, want), integer(t, said), "%s: %q, and the source has %s", name, phrase, want)
	default:
		require.Equal(t, want, said, "%s: %q", name, phrase)
	}
}

func TestNumbersAreReadInWords(t *testing.T) {
	for text, digits := range map[string]string{
		"41 stories, 1,024 labs":             "41 stories, 1,024 labs",
		"Thirteen labs, one often":           "13 labs, one often",
		"twenty-nine, forty, seven, sixteen": "29, 40, 7, 16",
		"second-one, one-shot, ten-twenty":   "second-one, one-shot, ten-twenty",
		"二十九句、十三个、两台、四十、七、一个":                "29句、13个、2台、40、7、一个",
	} {
		require.Equal(t, digits, inDigits(text))
	}
}

// withNumber compiles a pattern. Its first two groups are the words before the number, and the number in digits.
func withNumber(pattern string) *regexp.Regexp {
	n := `(about |some |fewer than |大约 |约 |不到 )?\b(\d[\d,]*(?:\.\d+)?)`
	return regexp.MustCompile(strings.Replace(pattern, "%d", n, 1))
}

// inDigits writes the numbers from two to ninety-nine in digits. "One" and 一 are seldom numbers.
func inDigits(text string) string {
	english := englishNumbers()
	text = regexp.MustCompile(`[A-Za-z]+(-[A-Za-z]+)*`).ReplaceAllStringFunc(text, func(word string) string {
		if n, found := english[strings.ToLower(word)]; found {
			return strconv.Itoa(n)
		}
		return word
	})
	return regexp.MustCompile("["+hanDigits+"]+").ReplaceAllStringFunc(text, func(word string) string {
		n := 0
		for _, digit := range word {
			switch {
			case digit == '十':
				n = 10 * max(n, 1)
			case digit == '两':
				n += 2
			default:
				n += slices.Index([]rune(hanDigits), digit) + 1
			}
		}
		if n == 1 {
			return word
		}
		return strconv.Itoa(n)
	})
}

func englishNumbers() map[string]int {
	numbers := map[string]int{}
	small := strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " +
		"sixteen seventeen eighteen nineteen")
	for i, word := range small[1:] {
		numbers[word] = i + 2
	}
	for i, ten := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		numbers[ten] = 10 * (i + 2)
		for k, one := range small[:9] {
			numbers[ten+"-"+one] = 10*(i+2) + k + 1
		}
	}
	return numbers
}

const hanDigits = "一二三四五六七八九十两"

// prose returns the text of every page without code, comments and the marks of links, with single spaces and with
// numbers in digits. What is uncounted is left out. The changelog says what was true when it was written.
func prose(t *testing.T) map[string]string {
	t.Helper()
	pages, used := map[string]string{}, map[string]bool{}
	err := filepath.WalkDir(top(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top() && (strings.HasPrefix(d.Name(), ".") || slices.Contains(notOurs(), d.Name())):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md" || d.Name() == "CHANGELOG.md":
			return nil
		}
		name, err := filepath.Rel(top(), path)
		if err != nil {
			return err
		}
		text, _ := split(document(t, name))
		text = regexp.MustCompile(`\]\([^)]*\)|\[|\*\*`).ReplaceAllString(text, "")
		text = strings.Join(strings.Fields(text), " ")
		for _, phrase := range uncounted() {
			used[phrase] = used[phrase] || strings.Contains(text, phrase)
			text = strings.ReplaceAll(text, phrase, "")
		}
		pages[filepath.ToSlash(name)] = inDigits(text)
		return nil
	})
	require.NoError(t, err)
	for _, phrase := range uncounted() {
		require.True(t, used[phrase], "no page says %q any more", phrase)
	}
	return pages
}

// files counts what matches a pattern of paths.
func files(pattern string) func(t *testing.T) string {
	return func(t *testing.T) string {
		paths, err := filepath.Glob(filepath.Join(top(), filepath.FromSlash(pattern)))
		require.NoError(t, err)
		return strconv.Itoa(len(paths))
	}
}

// folders counts the folders in a folder that are ours.
func folders(name string) func(t *testing.T) string {
	return func(t *testing.T) string {
		entries, err := os.ReadDir(filepath.Join(top(), filepath.FromSlash(name)))
		require.NoError(t, err)
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
			return !e.IsDir() || slices.Contains(notOurs(), e.Name())
		})
		return strconv.Itoa(len(entries))
	}
}

// matches counts what matches a regular expression in the files of a pattern of paths.
func matches(pattern, expression string) func(t *testing.T) string {
	return func(t *testing.T) string {
		paths, err := filepath.Glob(filepath.Join(top(), filepath.FromSlash(pattern)))
		require.NoError(t, err)
		n := 0
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			n += len(regexp.MustCompile(expression).FindAll(text, -1))
		}
		return strconv.Itoa(n)
	}
}

// longest counts the lines of the longest file.
func longest(pattern string) func(t *testing.T) string {
	return func(t *testing.T) string {
		paths, err := filepath.Glob(filepath.Join(top(), filepath.FromSlash(pattern)))
		require.NoError(t, err)
		most := 0
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			most = max(most, strings.Count(string(text), "\n"))
		}
		return strconv.Itoa(most)
	}
}

// constant returns the value of a constant of the source, which may be written as 1 << 16.
func constant(path, name string) func(t *testing.T) string {
	return func(t *testing.T) string {
		value, err := types.Eval(token.NewFileSet(), nil, token.NoPos,
			text(path, `(?m)^(?:const |\t)`+name+`\s+= ([^/\n]+)`)(t))
		require.NoError(t, err)
		return value.Value.ExactString()
	}
}

// text returns the first group of a regular expression in a file.
func text(name, expression string) func(t *testing.T) string {
	return func(t *testing.T) string {
		found := regexp.MustCompile(expression).FindStringSubmatch(document(t, name))
		require.NotNil(t, found, "%s has no %s", name, expression)
		return found[1]
	}
}

func integer(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	require.NoError(t, err)
	return n
}
