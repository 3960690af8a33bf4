package report

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

func htmlOf(t *testing.T, r *explore.Report, lang string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, HTML(&b, r, lang))
	return b.String()
}

// present and absent do not print a page that fails.
func present(t *testing.T, text, page string) {
	t.Helper()
	require.True(t, strings.Contains(page, text), "the page lacks %s", text)
}

func absent(t *testing.T, pattern, page string) {
	t.Helper()
	require.Empty(t, regexp.MustCompile(pattern).FindAllString(page, 3))
}

func TestThePageNeedsNothingElse(t *testing.T) {
	page := htmlOf(t, sample(t), "en")
	for _, link := range regexp.MustCompile(`(?:src|href|action|data)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.Regexp(t, `^(#|data:)`, link[1])
	}
	absent(t, `[^.]url\(|@import|https?://`, page)
	require.Less(t, len(page), 400_000)
}

func TestEachBrokenCellLeadsToItsFinding(t *testing.T) {
	r := sample(t)
	page := htmlOf(t, r, "en")
	require.Len(t, strings.Split(page, `<section class="mistake `), 6)
	require.Len(t, regexp.MustCompile(`<td class="(broken|hangs)"><a href="#f\d">`).FindAllString(page, -1), 7)
	for n, part := range strings.Split(page, `<details class="finding `)[1:] {
		present(t, `id="f`+string(rune('1'+n))+`"`, part)
		present(t, "LAB FAULT ADD explore-1", part)
		for _, language := range languages() {
			present(t, "<summary>"+language, part)
		}
	}
	present(t, `download="explored-4.svg"`, page)
	present(t, `download="explored-4.loop.gz"`, page)
	loop := base64.StdEncoding.EncodeToString(facts(r)[3].Loop)
	present(t, `href="data:application/gzip;base64,`+loop, page)
}

// Outside of its texts, a page full of evil has the same elements as any other page.
func TestStrangersCannotWriteIntoThePage(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		page := htmlOf(t, hostile(), lang)
		require.True(t, utf8.ValidString(page))
		absent(t, `<script>alert`, page)
		absent(t, "[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]", page)
		require.Equal(t, 1, strings.Count(page, "<script"))
		absent(t, "secret", page)
		absent(t, "ZgotmplZ", page) // html/template refuses a value
		require.Less(t, len(page), 4<<20)
	}
}

func TestALargeReportIsBounded(t *testing.T) {
	r := sample(t)
	picture, loop := bytes.Repeat([]byte("x"), 900_000), bytes.Repeat([]byte("y"), 3_000_000)
	pictures := map[string][]byte{"en": picture, "zh": picture}
	for len(r.Points) < 2000 {
		f := *r.Cells[0][1].Finding
		f.SVG, f.Loop = pictures, loop
		r.Points = append(r.Points, r.Points[0])
		row := append([]explore.Cell{}, r.Cells[3]...)
		row[2] = explore.Cell{Mark: explore.Broken, Finding: &f}
		r.Cells = append(r.Cells, row)
	}
	page := htmlOf(t, r, "en")
	require.Less(t, len(page), 32<<20)
	present(t, "1700 more places are in the JSON report.", page)
	present(t, "1945 more findings are not shown here. The JSON report has them.", page)
	present(t, "It is too big for this page (2.9 MB).", page)
	var b bytes.Buffer
	require.NoError(t, JSON(&b, r))
	require.Less(t, b.Len(), 64<<20)
}

func TestBothLanguagesAreInThePage(t *testing.T) {
	en, zh := htmlOf(t, sample(t), "en"), htmlOf(t, sample(t), "zh")
	present(t, `<html lang="en" data-other="zh">`, en)
	present(t, `<span data-x="有 4 个错误会弄坏锁，6 个故障让它显现">4 mistakes break the lock, shown by 6 failures</span>`, en)
	present(t, `<span data-x="4 mistakes break the lock, shown by 6 failures">有 4 个错误会弄坏锁，6 个故障让它显现</span>`, zh)
}

// A text that nobody has translated says that it is in English.
func TestAnUnknownSentenceIsMarkedAsEnglish(t *testing.T) {
	page := htmlOf(t, sample(t), "zh")
	present(t, `<span lang="en">The log cannot tell whether the DEL was of the holder.</span>`, page)
}

func TestAPageIsWellFormed(t *testing.T) {
	page := htmlOf(t, sample(t), "en")
	body := page[strings.Index(page, "<body>"):strings.Index(page, "<script>")]
	d := xml.NewDecoder(strings.NewReader(body + "</body>"))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, xml.HTMLAutoClose
	for open := 0; ; {
		token, err := d.Token()
		if err == io.EOF {
			require.Zero(t, open)
			return
		}
		require.NoError(t, err)
		switch token.(type) {
		case xml.StartElement:
			open++
		case xml.EndElement:
			open--
		}
	}
}

func TestAReportReplacesOnlyReports(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	require.NoError(t, WriteHTML(path, sample(t), "en"))
	require.NoError(t, WriteHTML(path, sample(t), "zh"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, htmlOf(t, sample(t), "zh"), string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	foreign := filepath.Join(dir, "index.html")
	for _, content := range []string{"", "<!doctype html>\nmine", signature[:20]} {
		require.NoError(t, os.WriteFile(foreign, []byte(content), 0o644))
		require.ErrorContains(t, WriteHTML(foreign, sample(t), "en"), "is no report of miniredisd explore")
		text, err = os.ReadFile(foreign)
		require.NoError(t, err)
		require.Equal(t, content, string(text))
	}
	link := filepath.Join(dir, "link.html")
	require.NoError(t, os.Symlink(path, link))
	require.ErrorContains(t, WriteHTML(link, sample(t), "en"), "is not a file")
	require.Error(t, WriteHTML(filepath.Join(dir, "none", "report.html"), sample(t), "en"))
	require.Error(t, WriteHTML(path, sample(t), "fr"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 3, "no temporary file stays")
}
