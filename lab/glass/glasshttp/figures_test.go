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

// The page of the threading models shows figures of bench/report/models.md: these loads, every model.
func loadsOfThePage() []string {
	return []string{
		"GET, 50 connections, pipeline 1, values of 1 KB",
		"GET, 1 connections, pipeline 1, values of 1 KB",
		"GET, 500 connections, pipeline 1, values of 1 KB",
		"GET, 50 connections, pipeline 16, values of 1 KB",
		"SET, 50 connections, pipeline 1, values of 1 KB",
		"SET, 50 connections, pipeline 16, values of 1 KB",
	}
}

func TestFiguresOfThePageAreThoseOfTheReport(t *testing.T) {
	report, err := os.ReadFile(filepath.Join("..", "..", "..", "bench", "report", "models.md"))
	require.NoError(t, err)
	want := figuresOf(t, string(report))
	path := filepath.Join("page", "figures.js")
	if update() {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "go test ./lab/glass/glasshttp -run Figures -update writes the file")
}

// figuresOf writes the module of the page. A row is req/s, CPU and executing us, ceiling, p50 and p99 ms.
func figuresOf(t *testing.T, report string) string {
	t.Helper()
	run := regexp.MustCompile(`(?m)^- (\d{4}-\d\d-\d\d) .*\n- (.*)$`).FindStringSubmatch(report)
	require.NotNil(t, run, "the report names no machine")
	var b strings.Builder
	fmt.Fprintln(&b, "// Code generated from bench/report/models.md by go test "+
		"./lab/glass/glasshttp -run Figures -update. DO NOT EDIT.")
	fmt.Fprintf(&b, "export const figures = {\n  machine: '%s', date: '%s',\n  loads: [\n", run[2], run[1])
	for _, load := range loadsOfThePage() {
		_, section, found := strings.Cut(report, "### "+load+"\n")
		require.True(t, found, "the report has no load %s", load)
		section, _, _ = strings.Cut(section, "\n### ")
		fmt.Fprintf(&b, "    { name: '%s', rows: {\n", strings.Replace(load, "1 connections", "1 connection", 1))
		rows := regexp.MustCompile(`(?m)^\| ([a-z0-9-]+)` + strings.Repeat(` \| ([\d.]+)`, 6) + ` \|`)
		found = false
		for _, r := range rows.FindAllStringSubmatch(section, -1) {
			fmt.Fprintf(&b, "      '%s': [%s],\n", r[1], strings.Join(r[2:], ", "))
			found = true
		}
		require.True(t, found, load)
		fmt.Fprintln(&b, "    } },")
	}
	return b.String() + "  ],\n};\n"
}

// A bar that is too long for the picture is cut, and its parts keep their shares. Where threads did not work, the page
// does not explain why they are slow.
func TestABarThatIsCutKeepsItsShares(t *testing.T) {
	s := start(t)
	p := chromium.Start(t)
	s.open(p, "models", "en")
	var share, want float64
	p.Eval(`(([whole, part]) => part / whole)([...document.querySelectorAll(".md-chart rect")].slice(-2).map(
		e => e.width.baseVal.value))`, &share)
	p.Eval(`import("/figures.js").then(({figures}) => figures.loads[0].rows["redis-server-io-4"])
		.then(([, cpu, executing]) => executing / cpu)`, &want)
	require.InDelta(t, want, share, 0.001)
	require.Equal(t, "1", p.Text(`document.querySelectorAll(".md-cut").length`))
	const why = `document.querySelector(".md-side").innerText.includes("redis.conf advises")`
	require.Equal(t, "true", p.Text(why))
	p.Eval(`(select => { select.value = 1; select.dispatchEvent(new Event("change")) })(
		document.querySelector(".md-side select"))`, nil)
	require.Equal(t, "false", p.Text(why))
	require.Empty(t, p.Problems())
}
