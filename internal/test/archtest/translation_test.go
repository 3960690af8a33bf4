package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// glossary has the words of both languages, so it is its own translation.
const glossary = "docs/zh/glossary.md"

// A page is a document in English and in Chinese.
type page struct{ english, chinese string }

// translated lists the pages that exist in both languages.
func translated() []page {
	return []page{
		{"README.md", "README.zh-CN.md"},
		{"docs/README.md", "docs/zh/README.md"},
		{"docs/threading-model.md", "docs/zh/threading-model.md"},
		{"docs/locks.md", "docs/zh/locks.md"},
		{"docs/claims.md", "docs/zh/claims.md"},
		{"docs/dialects.md", "docs/zh/dialects.md"},
		{"docs/comparison.md", "docs/zh/comparison.md"},
		{"docs/trace-for-perfetto.md", "docs/zh/trace-for-perfetto.md"},
		{"docs/glass-loop.md", "docs/zh/glass-loop.md"},
		{"docs/course.md", "docs/zh/course.md"},
		{"docs/explore.md", "docs/zh/explore.md"},
		{"docs/persistence.md", "docs/zh/persistence.md"},
		{"docs/replicas-of-this-server.md", "docs/zh/replicas-of-this-server.md"},
		{"docs/replica-of-redis.md", "docs/zh/replica-of-redis.md"},
		{"docs/way-out.md", "docs/zh/way-out.md"},
		{"docs/proxy.md", "docs/zh/proxy.md"},
		{"docs/instructors.md", "docs/zh/instructors.md"},
		{"docs/lab/README.md", "docs/zh/lab/README.md"},
		{"docs/lab/first-test.md", "docs/zh/lab/first-test.md"},
		{"docs/lab/crash.md", "docs/zh/lab/crash.md"},
		{"docs/lab/failover.md", "docs/zh/lab/failover.md"},
		{"docs/lab/cluster.md", "docs/zh/lab/cluster.md"},
		{"docs/lab/sentinel.md", "docs/zh/lab/sentinel.md"},
		{"docs/lab/topology.md", "docs/zh/lab/topology.md"},
		{"docs/lab/step.md", "docs/zh/lab/step.md"},
		{"docs/lab/stories.md", "docs/zh/lab/stories.md"},
	}
}

// The first line of a page is a link to the other language.
func TestBothLanguagesOfAPageLinkToEachOther(t *testing.T) {
	var chinese []string
	for _, p := range translated() {
		chinese = append(chinese, p.chinese)
		for _, pair := range []page{p, {p.chinese, p.english}} {
			other, err := filepath.Rel(filepath.Dir(pair.english), pair.chinese)
			require.NoError(t, err)
			first, _, _ := strings.Cut(document(t, pair.english), "\n")
			require.Contains(t, first, "]("+filepath.ToSlash(other)+")", "the first line of %s", pair.english)
		}
	}
	for _, path := range chapters(t, top()) {
		name, err := filepath.Rel(top(), path)
		require.NoError(t, err)
		if name = filepath.ToSlash(name); strings.Contains(name, "zh") && name != glossary {
			require.Contains(t, chinese, name, "translated() does not list this page")
		}
	}
}

func TestBothLanguagesOfAPageHaveTheSameHeadings(t *testing.T) {
	levels := func(text string) (all []string) {
		prose, _ := split(text)
		for _, heading := range regexp.MustCompile(`(?m)^(#+) `).FindAllStringSubmatch(prose, -1) {
			all = append(all, heading[1])
		}
		return all
	}
	for _, p := range translated() {
		require.NotEmpty(t, levels(document(t, p.english)), p.english)
		require.Equal(t, levels(document(t, p.english)), levels(document(t, p.chinese)), p.chinese)
	}
}

// Code blocks are equal byte for byte, comments included. What stands between backquotes in the text
// is on the Chinese page too: an option, a function or a command that is new must be translated.
func TestBothLanguagesOfAPageHaveTheSameCode(t *testing.T) {
	for _, p := range translated() {
		english, blocks := split(document(t, p.english))
		chinese, copies := split(document(t, p.chinese))
		require.Len(t, copies, len(blocks), "blocks of code in %s", p.chinese)
		for i := range blocks {
			require.Equal(t, blocks[i], copies[i], "block %d of %s", i+1, p.chinese)
		}
		for _, code := range inlineCode().FindAllString(english, -1) {
			require.True(t, strings.Contains(chinese, code), "%s is in %s, and %s lacks it", code, p.english, p.chinese)
		}
	}
}

// A figure that was measured again is on both pages. Small whole numbers may be words.
func TestBothLanguagesOfAPageHaveTheSameFigures(t *testing.T) {
	figure := regexp.MustCompile(`\d[\d,]*\.\d+|\d[\d,]*\d\d`)
	for _, p := range translated() {
		chinese := figure.FindAllString(words(t, p.chinese), -1)
		for _, n := range figure.FindAllString(words(t, p.english), -1) {
			require.Contains(t, chinese, n, "%s lacks %s, a figure of %s", p.chinese, n, p.english)
		}
	}
}

// A row or a paragraph that is new has a link as often as not. A link of the Chinese page leads to the
// Chinese page where there is one, and a picture is the Chinese one.
func TestBothLanguagesOfAPageHaveTheSameLinks(t *testing.T) {
	chinese := map[string]string{}
	for _, p := range translated() {
		chinese[p.english] = p.chinese
	}
	for _, p := range translated() {
		there := links(t, p.chinese)
		for _, target := range links(t, p.english) {
			if c, found := chinese[target]; found && target != p.english && target != p.chinese {
				target = c
			}
			target = strings.Replace(target, "-en.png", "-zh.png", 1)
			if target != p.chinese && target != p.english {
				require.Contains(t, there, target, "%s lacks a link of %s", p.chinese, p.english)
			}
		}
	}
}

// links returns the targets of a page's links, as paths from the top. Headings are left out.
func links(t *testing.T, name string) (targets []string) {
	t.Helper()
	prose, _ := split(document(t, name))
	for _, link := range regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`).FindAllStringSubmatch(prose, -1) {
		target := link[1]
		if !strings.Contains(target, ":") {
			target = path.Join(path.Dir(name), target)
		}
		targets = append(targets, target)
	}
	return targets
}

func TestChinesePagesUseTheWordsOfTheGlossary(t *testing.T) {
	terms, used := glossaryTerms(t), map[string]bool{}
	for _, p := range translated() {
		english, chinese := words(t, p.english), words(t, p.chinese)
		for _, term := range terms {
			if term.in(english) {
				used[term.english] = true
				require.True(t, strings.Contains(chinese, term.chinese),
					"%s says %q, so %s should say %s", p.english, term.english, p.chinese, term.chinese)
			}
		}
	}
	require.Greater(t, len(used), len(terms)/2, "most words of the glossary are in use")
}

// A term is a word of the glossary.
type term struct {
	english, chinese string
	singular         bool // the glossary has another row for the plural
}

func glossaryTerms(t *testing.T) (terms []term) {
	t.Helper()
	row := regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \|[^|]*\|$`)
	for _, r := range row.FindAllStringSubmatch(document(t, glossary), -1) {
		terms = append(terms, term{english: r[1], chinese: r[2]})
	}
	require.NotEmpty(t, terms)
	for i, one := range terms {
		terms[i].singular = slices.ContainsFunc(terms, func(other term) bool { return other.english == one.english+"s" })
	}
	return terms
}

// in reports whether an English text has the term, in the singular or in the plural.
func (t term) in(text string) bool {
	if !strings.Contains(strings.ToLower(text), strings.ToLower(t.english)) {
		return false // most texts, without compiling an expression
	}
	plural := "s?"
	if t.singular {
		plural = ""
	}
	return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(t.english) + plural + `\b`).MatchString(text)
}

// A title may stay English. It stands between asterisks.
func TestChinesePagesHaveNoEnglishSentences(t *testing.T) {
	title := regexp.MustCompile(`\*[A-Z][^*\n]+\*`)
	for _, p := range translated() {
		for _, line := range strings.Split(words(t, p.chinese), "\n") {
			require.NotRegexp(t, sentence(), title.ReplaceAllString(line, ""), p.chinese)
		}
		require.Regexp(t, sentence(), words(t, p.english), "%s has no sentence, so the pattern is wrong", p.english)
	}
}

// sentence matches six Latin words in a row: a sentence that nobody translated.
func sentence() *regexp.Regexp {
	return regexp.MustCompile(`[A-Za-z][\w'-]*[,;:]?( [A-Za-z][\w'-]*[,;:]?){5,}`)
}

// words returns the text of a page without code and without the targets of links.
func words(t *testing.T, name string) string {
	t.Helper()
	prose, _ := split(document(t, name))
	prose = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(prose, "]")
	return inlineCode().ReplaceAllString(prose, "")
}

func inlineCode() *regexp.Regexp { return regexp.MustCompile("`[^`\n]+`") }

// split separates the lines of a page from its blocks of code.
func split(text string) (prose string, blocks []string) {
	var lines []string
	for i, part := range strings.Split("\n"+text, "\n```") {
		if i%2 == 1 {
			blocks = append(blocks, part)
			continue
		}
		lines = append(lines, part)
	}
	return strings.Join(lines, "\n"), slices.Clip(blocks)
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top(), filepath.FromSlash(name)))
	require.NoError(t, err)
	return regexp.MustCompile(`(?m)^<!-- run:(?s:.*?)-->\n`).ReplaceAllString(string(text), "") // nobody reads it
}
