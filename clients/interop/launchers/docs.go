package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// The table stands between these lines of the page.
const (
	begin = "<!-- written by clients/interop/launchers/run -update -->\n"
	end   = "<!-- end -->\n"
)

// compare fails unless the page at path has the lines of t. With update it writes them there instead.
func (t *table) compare(path string, update bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	updated, err := t.into(string(text), time.Now())
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case update:
		return os.WriteFile(path, []byte(updated), 0o644)
	case !slices.Equal(rowsOf(string(text)), rowsOf(updated)):
		return fmt.Errorf("%s has other rows: write them with clients/interop/launchers/run -update", path)
	}
	return nil
}

// into replaces the rows of the ecosystems that ran. Rows of other ecosystems stay.
func (t *table) into(text string, today time.Time) (string, error) {
	head, rest, found := strings.Cut(text, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("no line %q and then %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	rows := slices.DeleteFunc(rowsOf(text), func(r string) bool { return slices.Contains(t.ran, ecosystemOf(r)) })
	for _, l := range t.lines {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s %s | %s | %s |", l.ecosystem, l.Kind, l.Name, l.Version, l.Detail,
			strings.Join(l.outcomes, " | ")))
	}
	slices.SortStableFunc(rows, func(a, b string) int { return strings.Compare(ecosystemOf(a), ecosystemOf(b)) })
	columns := fmt.Sprintf("Written on %s, beside redis-server %s.\n\n| in | what | name | what it did | %s | %s |\n%s\n",
		today.Format(time.DateOnly), t.beside, ours, control, strings.Repeat("|---", 6)+"|")
	return head + begin + columns + strings.Join(rows, "\n") + "\n" + end + tail, nil
}

// rowsOf returns the table's rows without its head.
func rowsOf(text string) (rows []string) {
	_, rest, _ := strings.Cut(text, begin)
	inside, _, _ := strings.Cut(rest, end)
	_, body, _ := strings.Cut(inside, "|---|\n")
	for line := range strings.Lines(body) {
		rows = append(rows, strings.TrimSpace(line))
	}
	return rows
}

// ecosystemOf returns the first cell of a row.
func ecosystemOf(row string) string { return strings.TrimSpace(strings.Split(row, "|")[1]) }
