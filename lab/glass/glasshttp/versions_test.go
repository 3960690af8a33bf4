package glasshttp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the page says about Redis 7.2, Redis 8, Valkey and this server is the table of docs/threading-model.md: each
// statement there was read in a source, and names its file and function.
// go test ./lab/glass/glasshttp -run Versions -update writes the texts of the page.
func TestVersionsOfThePageAreThoseOfTheDocument(t *testing.T) {
	var b strings.Builder
	fmt.Fprintln(&b, "// Code generated from docs/threading-model.md by go test "+
		"./lab/glass/glasshttp -run Versions -update. DO NOT EDIT.\nexport default {")
	for _, lang := range []struct{ name, path string }{
		{"en", "threading-model.md"}, {"zh", filepath.Join("zh", "threading-model.md")},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", lang.path))
		require.NoError(t, err)
		fmt.Fprintf(&b, "  %s: {\n", lang.name)
		for _, entry := range versions(t, string(text)) {
			fmt.Fprintf(&b, "    'which.%s': '%s',\n", entry[0], strings.ReplaceAll(entry[1], "'", `\'`))
		}
		fmt.Fprintln(&b, "  },")
	}
	want := b.String() + "};\n"
	path := filepath.Join("page", "text", "which.js")
	if update() {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "go test ./lab/glass/glasshttp -run Versions -update writes the file")
}

// versions returns keys and texts: the title of the section, what was read, the names of the versions, a question and
// its answers for each row, and what all of them have in common.
func versions(t *testing.T, document string) (entries [][2]string) {
	t.Helper()
	_, section, found := strings.Cut(document, "\n"+regexp.MustCompile(`## .*Redis[?？]`).FindString(document)+"\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	title := regexp.MustCompile(`## (.*Redis[?？])`).FindStringSubmatch(document)[1]
	add := func(key, text string) { entries = append(entries, [2]string{key, text}) }
	add("title", title)
	var paragraphs []string
	for _, p := range strings.Split(strings.TrimSpace(section), "\n\n") {
		if !strings.HasPrefix(p, "|") {
			paragraphs = append(paragraphs, joined(p))
		}
	}
	require.Len(t, paragraphs, 3)
	add("read", paragraphs[0])
	add("unread", paragraphs[1])
	add("same", paragraphs[2])
	names := []string{"r7", "r8", "v8", "mini"}
	rows := regexp.MustCompile(`(?m)^\| (.*) \|$`).FindAllStringSubmatch(section, -1)
	for i, cell := range strings.Split(strings.TrimPrefix(rows[0][1], "| "), " | ") {
		add(names[i], cell)
	}
	keys := []string{"owner", "queue", "reads", "writes", "executes", "barrier", "meanwhile", "idle", "count", "waits",
		"prefetch", "advised"}
	require.Len(t, rows, len(keys)+1)
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	for i, row := range rows[1:] {
		cells := strings.Split(row[1], " | ")
		require.Len(t, cells, 1+len(names), row[1])
		add(keys[i], strings.Trim(cells[0], "*"))
		for n, cell := range cells[1:] {
			add(keys[i]+"."+names[n], link.ReplaceAllString(cell, "$1"))
		}
	}
	return entries
}

// joined returns the lines of a paragraph as one. Between Chinese signs there is no blank.
func joined(paragraph string) string {
	chinese := regexp.MustCompile(`([\x{3000}-\x{9fff}\x{ff00}-\x{ffef}])\n`)
	return strings.ReplaceAll(chinese.ReplaceAllString(paragraph, "$1"), "\n", " ")
}

// The choice of a version changes what stands beside a step, a verdict and a drawing, and outlives a reload.
func TestAReaderChoosesWhichRedisThePageSpeaksOf(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	p.Prefer("light", false)
	s.open(p, "loop", "en")
	s.pause(p)
	s.command(p, "A", "GET k")
	s.stopped(p, "0")
	s.seek(p, "GET k")
	choose := func(version, says string) {
		p.Click(fmt.Sprintf("[data-version=%s]", version))
		p.Wait(fmt.Sprintf(`document.querySelector("[data-version=%s][aria-pressed=true]")`, version))
		p.Wait(fmt.Sprintf(`document.querySelector(".wh-says").innerText.includes(%q)`, says))
	}
	choose("r7", "main: networking.c: processCommandAndResetClient")
	choose("v8", "processIOThreadsReadDone")
	choose("r8", "processClientsFromIOThread")
	s.must("/lab/step/continue", "")

	s.open(p, "claims", "en")
	p.Wait(`document.querySelector("[data-claim='6']")`)
	p.Click("[data-claim='6']")
	p.Wait(`document.querySelector("[data-n='6']")`)
	require.Equal(t, "0", p.Text(`document.querySelectorAll(".wh-says").length`), "it would answer the question")
	p.Click("[data-answer=b]")
	p.Wait(`document.querySelector(".wh-says")?.innerText.includes("With io-threads, the thread that owns the client")`)
	choose("r7", "io-threads-do-reads")

	s.open(p, "models", "en")
	for _, drawn := range [][2]string{{"r7", "barrier"}, {"r8", "no barrier"}, {"v8", "no barrier"}, {"mini", "eight"}} {
		choose(drawn[0], "Is there a barrier?")
		p.Wait(fmt.Sprintf(`document.querySelector("[data-model=%s]").innerText.includes(%q)`, drawn[0], drawn[1]))
	}
	p.Press("l")
	p.Wait(`document.querySelector(".wh-says").innerText.includes("有没有屏障？")`)
	require.Empty(t, p.Problems())
}
