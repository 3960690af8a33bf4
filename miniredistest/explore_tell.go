package miniredistest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report"
)

// mostTold is how many mistakes the message of a test has. The page has all.
const mostTold = 3

// tell fails the test if a failure breaks a lock. loops are recordings of the first findings.
func tell(t testing.TB, r *explore.Report, loops [][]byte) {
	t.Helper()
	what := fmt.Sprintf("%d failures at %d places in %d trials", len(r.Faults), len(r.Points), r.Trials)
	found := report.Mistakes(r)
	if len(found) == 0 {
		if r.OutOfTime && r.Untried > 0 {
			t.Logf("Explore broke no lock, but %d trials are left. The option Budget gives it more time", r.Untried)
			return
		}
		t.Logf("Explore broke no lock: %s", what)
		return
	}
	var b strings.Builder
	ways := "1 way"
	if len(found) > 1 {
		ways = fmt.Sprintf("%d ways", len(found))
	}
	fmt.Fprintf(&b, "Explore broke a lock in %s: %s\n", ways, what)
	for _, all := range found[:min(len(found), mostTold)] {
		b.WriteString("\n" + told(all[0]))
		if more := len(all) - 1; more > 0 {
			fmt.Fprintf(&b, "  %d more of the failures show the same mistake.\n", more)
		}
	}
	if more := len(found) - mostTold; more > 0 {
		fmt.Fprintf(&b, "\n%d more are in the report.\n", more)
	}
	files, err := keepReport(t, r, loops)
	if err != nil {
		t.Errorf("the report of Explore: %v", err)
	}
	t.Errorf("%s\n%s", b.String(), files)
}

// findings returns one finding of each mistake: the one that the message tells.
func findings(r *explore.Report) (all []*explore.Finding) {
	for _, m := range report.Mistakes(r) {
		all = append(all, m[0])
	}
	return all
}

// told writes a finding for people.
func told(f *explore.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.Sentence)
	for _, line := range []string{f.Reason, f.Fix} {
		if line != "" && !strings.Contains(f.Sentence, line) {
			fmt.Fprintf(&b, "  %s.\n", strings.TrimSuffix(strings.ToUpper(line[:1])+line[1:], "."))
		}
	}
	switch {
	case len(f.Strikes) == 0:
		fmt.Fprintf(&b, "  Seen in %d of %d runs without a failure.\n", f.Without, f.Of)
	default:
		fmt.Fprintf(&b, "  Seen in %d of %d runs with it, and in %d of %d without it.\n", f.With, f.Of, f.Without, f.Of)
	}
	for _, line := range f.Commands {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	if f.Output != "" {
		fmt.Fprintf(&b, "  The trial printed:\n    %s\n", strings.ReplaceAll(strings.TrimSpace(f.Output), "\n", "\n    "))
	}
	return b.String()
}

// keepReport writes the report to a folder that outlasts the test, and returns lines that name its files.
func keepReport(t testing.TB, r *explore.Report, loops [][]byte) (string, error) {
	dir, err := keptDir(t, "explore-")
	if err != nil {
		return "", err
	}
	html, text := filepath.Join(dir, "explore.html"), filepath.Join(dir, "explore.txt")
	encoded := filepath.Join(dir, "explore.json")
	var asText, asJSON bytes.Buffer
	err = errors.Join(report.WriteHTML(html, r, "en"), report.Text(&asText, r, "en"), report.JSON(&asJSON, r))
	err = errors.Join(err, os.WriteFile(text, asText.Bytes(), 0o600), os.WriteFile(encoded, asJSON.Bytes(), 0o600))
	names := fmt.Sprintf("report: %s\nas text: %s\nas JSON: %s", html, text, encoded)
	for i, loop := range loops {
		if len(loop) == 0 {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("explore-%d.loop.gz", i+1))
		err = errors.Join(err, os.WriteFile(path, loop, 0o600))
		names += fmt.Sprintf("\nrecording of finding %d: %s (miniredisd watch opens it)", i+1, path)
	}
	return names, err
}
