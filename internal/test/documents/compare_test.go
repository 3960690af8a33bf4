package documents

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compare returns how what a terminal shows differs from the page, or "". In the page, a line "..."
// stands for any lines, but for no error. Inside a line it stands for any text. The numbers in a text of
// anyNumbers, such as "client 7", stand for any numbers. redis-cli's time of a slow reply, such as (0.61s),
// does not count.
func compare(want []string, got string, anyNumbers []string) string {
	took := regexp.MustCompile(`^\(\d+\.\d\ds\)$`)
	var shown []string
	for line := range strings.Lines(got) {
		if line = strings.TrimRight(line, " \t\r\n"); !took.MatchString(line) {
			shown = append(shown, line)
		}
	}
	for len(shown) > 0 && shown[len(shown)-1] == "" {
		shown = shown[:len(shown)-1]
	}
	pattern := strings.Builder{}
	for _, line := range want {
		pattern.WriteString(lineAsPattern(strings.TrimRight(line, " \t"), anyNumbers))
	}
	text := strings.Join(append(shown, ""), "\n")
	problem := ""
	if !regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(text) {
		problem = "the page and the terminal differ"
	} else if hidden := hiddenError(want, shown); hidden != "" {
		problem = "the page hides an error"
	}
	if problem == "" {
		return ""
	}
	return fmt.Sprintf("%s\n%s%s", problem, prefixed("  page:     ", want), prefixed("  terminal: ", shown))
}

func lineAsPattern(line string, anyNumbers []string) string {
	if line == "..." {
		return `(?:.*\n)*`
	}
	line = strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`)
	for _, text := range anyNumbers {
		text = regexp.QuoteMeta(text)
		loose := regexp.MustCompile(`\d+`).ReplaceAllString(text, `\d+`)
		whole := regexp.MustCompile(`(^|\D)` + regexp.QuoteMeta(text) + `(\D|$)`)
		line = whole.ReplaceAllStringFunc(line, func(s string) string { return strings.Replace(s, text, loose, 1) })
	}
	return line + `\n`
}

// isError reports whether a line is an error of redis-cli or of an HTTP reply.
func isError(line string) bool {
	return regexp.MustCompile(`^(\d+\) )*\(error\) |^Error: |^(ERR|WRONGTYPE|NOAUTH) |^\{"ok":false`).MatchString(line)
}

// hiddenError returns an error that the page does not show.
func hiddenError(want, shown []string) string {
	for _, line := range shown {
		if isError(line) && !slices.ContainsFunc(want, func(w string) bool { return isError(w) }) {
			return line
		}
	}
	return ""
}

func prefixed(prefix string, lines []string) string {
	if len(lines) == 0 {
		return prefix + "(nothing)\n"
	}
	return prefix + strings.Join(lines, "\n"+prefix) + "\n"
}

func TestAPageIsComparedWithATerminal(t *testing.T) {
	for _, row := range []struct {
		want, got string
		any       []string
		problem   string // the first line; "" if they are equal
	}{
		{"OK", "OK\r\n", nil, ""},
		{"OK", "OK\n(0.61s)\n", nil, ""},
		{"OK", "OK\nOK\n", nil, "the page and the terminal differ"},
		{"OK", "", nil, "the page and the terminal differ"},
		{"", "OK\n", nil, "the page and the terminal differ"},
		{"", "", nil, ""},
		{"a\n...\nz", "a\nb\n\nc\nz\n", nil, ""},
		{"a\n...\nz", "a\nz\n", nil, ""},
		{"a\n...", "b\nz\n", nil, "the page and the terminal differ"},
		{"port ... is free", "port 7777 is free\n", nil, ""},
		{"port ... is free", "port 77\n77 is free\n", nil, "the page and the terminal differ"},
		{"a.b", "axb\n", nil, "the page and the terminal differ"},
		{"(integer) 29987", "(integer) 30000\n", []string{"29987"}, ""},
		{"(integer) 29987", "(integer) 30000\n", nil, "the page and the terminal differ"},
		{"(integer) 29987", "(nil)\n", []string{"29987"}, "the page and the terminal differ"},
		{"client 7 a: 7", "client 12 a: 7\n", []string{"client 7"}, ""},
		{"client 7 a: 7", "client 7 a: 8\n", []string{"client 7"}, "the page and the terminal differ"},
		{"client 71 a", "client 72 a\n", []string{"client 7"}, "the page and the terminal differ"},
		{`"client":7,"n":7`, `"client":8,"n":7`, []string{`"client":7`}, ""},
		{"1 (1) 1", "2 (3) 4", []string{"1"}, ""},
		{"...", "(error) ERR unknown command\n", nil, "the page hides an error"},
		{"...", "a\nError: Server closed the connection\n", nil, "the page hides an error"},
		{"(error) ERR ...", "(error) ERR unknown command\n", nil, ""},
		{"a (+b)* [c]", "a (+b)* [c]\n", nil, ""},
	} {
		var want []string
		if row.want != "" {
			want = strings.Split(row.want, "\n")
		}
		problem, _, _ := strings.Cut(compare(want, row.got, row.any), "\n")
		require.Equal(t, row.problem, problem, "%q and %q", row.want, row.got)
	}
}
