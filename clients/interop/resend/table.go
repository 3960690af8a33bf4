package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

type table []row

// brief is what a caller can tell apart: OK, nil or an error.
func brief(saw string) string {
	word, _, _ := strings.Cut(saw, ":")
	return word
}

// lines are the table in Markdown. A client that sends once by default needs no setting.
func (t table) lines() []string {
	lines := []string{
		"| client | setting | reply lost: executed | the caller sees | reply late: executed | the caller sees |",
		"|---|---|---|---|---|---|",
	}
	for _, r := range t {
		setting := "defaults"
		if r.setting != "" {
			setting = "`" + r.setting + "`"
		}
		lost, late := r.seen["lost"], r.seen["late"]
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |",
			r.client, setting, times(lost.sent), lost.saw, times(late.sent), late.saw))
	}
	return lines
}

func times(n int) string {
	if n > 1 {
		return fmt.Sprintf("**%d**", n)
	}
	return fmt.Sprint(n)
}

// compare returns an error for rows that the document does not have. With update it writes the table
// into the document instead.
func (t table) compare(path string, update bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	have := strings.Split(string(text), "\n")
	if update {
		return os.WriteFile(path, []byte(strings.Join(replaced(have, t.lines()), "\n")), 0o644)
	}
	if missing := t.missing(have); len(missing) > 0 {
		return fmt.Errorf("%s does not have:\n%s", path, strings.Join(missing, "\n"))
	}
	return nil
}

// missing returns the lines of the table that are not among those of the document.
func (t table) missing(document []string) (missing []string) {
	for _, line := range t.lines() {
		if !slices.Contains(document, line) {
			missing = append(missing, line)
		}
	}
	return missing
}

// replaced puts lines in the place of the table that begins with the same line.
func replaced(have, lines []string) []string {
	from := slices.Index(have, lines[0])
	if from < 0 {
		return append(have, lines...)
	}
	to := from
	for to < len(have) && strings.HasPrefix(have[to], "|") {
		to++
	}
	return slices.Replace(have, from, to, lines...)
}
