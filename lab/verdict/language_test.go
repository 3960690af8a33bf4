package verdict

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/words"
)

// inChineseOf judges a history, and returns its picture and its page in Chinese. names has the words of the history.
func inChineseOf(t *testing.T, path string) (svg, page string, names map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	histories, err := Read(bytes.NewReader(text))
	require.NoError(t, err)
	names = map[string]bool{"LAB": true, "SNAPSHOT": true, "RESTORE": true, "TTL": true, "NX": true}
	for _, h := range histories {
		for _, e := range h.Entries {
			texts := append([]string{e.Name, e.Event, e.Key, e.Reply}, e.Cmd...)
			for _, word := range latin().FindAllString(strings.Join(texts, " "), -1) {
				names[word] = true
			}
		}
	}
	for _, english := range []string{"clock", "crash", "restore", "expired", "command"} {
		delete(names, english)
	}
	v, err := Judge(histories)
	require.NoError(t, err)
	v.Language = words.Chinese
	var b bytes.Buffer
	require.NoError(t, v.Picture(&b))
	return svgOf(t, v), b.String(), names
}

func latin() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z]{2,}`) }

// Outside of what clients have sent, a Chinese picture and a Chinese page have no English word.
func TestAChinesePictureHasNoEnglishWords(t *testing.T) {
	shortened := regexp.MustCompile(`[A-Za-z]+…`)
	paths, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	require.NoError(t, err)
	require.Greater(t, len(paths), 5)
	for _, path := range paths {
		svg, page, names := inChineseOf(t, path)
		texts := regexp.MustCompile(`<(?:text|title|desc)[^>]*>([^<]*)<`).FindAllStringSubmatch(svg, -1)
		require.NotEmpty(t, texts)
		_, data, found := strings.Cut(page, "const data = ")
		require.True(t, found)
		var shown any
		require.NoError(t, json.NewDecoder(strings.NewReader(data)).Decode(&shown))
		texts = append(texts, descriptions(shown)...)
		for _, text := range texts {
			for _, word := range latin().FindAllString(shortened.ReplaceAllString(entities().Replace(text[1]), ""), -1) {
				require.True(t, names[word], "%s: %q in %q", path, word, text[1])
			}
		}
	}
}

func entities() *strings.Replacer {
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#xA;", " ")
}

// descriptions returns what the page of porcupine shows.
func descriptions(data any) (all [][]string) {
	switch data := data.(type) {
	case []any:
		for _, v := range data {
			all = append(all, descriptions(v)...)
		}
	case map[string]any:
		for name, v := range data {
			text, is := v.(string)
			switch {
			case is && (name == "Description" || name == "StateDescription" || name == "Tag"):
				all = append(all, []string{"", text})
			case !is:
				all = append(all, descriptions(v)...)
			}
		}
	}
	return all
}

// If porcupine says something else one day, its page would be English again.
func TestWhatThePageOfPorcupineSaysIsTranslated(t *testing.T) {
	v, _ := judgeFile(t, "clock-jump.json")
	var page bytes.Buffer
	require.NoError(t, v.Picture(&page))
	english := page.String()
	_, chinese, _ := inChineseOf(t, filepath.Join("testdata", "clock-jump.json"))
	for _, text := range ofPorcupine() {
		require.Equal(t, text.times, strings.Count(english, text.english), text.english)
		require.Equal(t, text.times, strings.Count(chinese, text.chinese), text.chinese)
	}
	frame, _, _ := strings.Cut(chinese, "<script>")
	_, body, _ := strings.Cut(frame, "<body>")
	require.NotRegexp(t, `>[^<]*[A-Za-z]{2,}[^<]*<`, body)
	sentences := regexp.MustCompile(`['"][A-Z⟨][a-z]+ [a-z][^'"]*['"]`)
	require.Empty(t, sentences.FindAllString(chinese[:strings.Index(chinese, "const data = ")], -1))
}

func TestTheChinesePictureIsDrawnAsBefore(t *testing.T) {
	svg, _, _ := inChineseOf(t, filepath.Join("testdata", "clock-jump.json"))
	path := filepath.Join("testdata", "pictures", "clock-jump-zh.svg")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(svg), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), svg)
}
