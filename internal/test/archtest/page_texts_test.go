package archtest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page of --watch has its texts in JavaScript: {en: {'key': 'text'}, zh: {'key': 'text'}}. Both
// languages have the same keys, and a text has the same variables ({n}, {name}) in both.
func TestTextsOfThePageExistInBothLanguages(t *testing.T) {
	for name, text := range pageTexts(t) {
		require.NotEmpty(t, text.english, name)
		for key, english := range text.english {
			require.Contains(t, text.chinese, key, "%s: the text exists in English only", name)
			require.Equal(t, placeholders(english), placeholders(text.chinese[key]), "%s: %s", name, key)
		}
		for key := range text.chinese {
			require.Contains(t, text.english, key, "%s: the text exists in Chinese only", name)
		}
	}
}

func TestChineseTextsOfThePageAreChinese(t *testing.T) {
	terms := glossaryTerms(t)
	for name, text := range pageTexts(t) {
		for key, english := range text.english {
			chinese := text.chinese[key]
			english := regexp.MustCompile(`\{\w+`).ReplaceAllString(english, "") // a variable's name is no word
			require.NotRegexp(t, sentence(), chinese, "%s: %s", name, key)
			for _, term := range terms {
				if term.in(english) {
					require.True(t, strings.Contains(chinese, term.chinese),
						"%s: %s says %q in English, so it should say %s in Chinese: %s", name, key, term.english, term.chinese, chinese)
				}
			}
		}
	}
}

type texts struct{ english, chinese map[string]string }

// pageTexts returns the texts of each file.
func pageTexts(t *testing.T) map[string]texts {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(top(), "lab", "glass", "glasshttp", "page", "text", "*.js"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	files := map[string]texts{}
	for _, path := range paths {
		name, err := filepath.Rel(top(), path)
		require.NoError(t, err)
		name = filepath.ToSlash(name)
		english, chinese, found := strings.Cut(document(t, name), "\n  zh: {")
		require.True(t, found, name)
		files[name] = texts{entries(english), entries(chinese)}
	}
	return files
}

// entries returns the texts of one language. Quotes are single or double, and a backslash escapes one.
func entries(object string) map[string]string {
	all := map[string]string{}
	entry := regexp.MustCompile(`'([\w.+-]+)': ('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")`)
	for _, e := range entry.FindAllStringSubmatch(object, -1) {
		all[e[1]] = e[2][1 : len(e[2])-1]
	}
	return all
}

// placeholders returns the names of {n} and {n|one|many}, each once.
func placeholders(text string) (names []string) {
	for _, v := range regexp.MustCompile(`\{(\w+)`).FindAllStringSubmatch(text, -1) {
		names = append(names, v[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}
