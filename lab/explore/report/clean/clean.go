// Package clean makes texts of strangers fit to show: on one line, of a bounded length, and without passwords. Clients,
// keys, tokens, replies and outputs are such texts. Its functions have no state, and any goroutine may call them.
package clean

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const mostOutput = 40 // lines

// Name returns the first 60 characters of a client's name, or of a key in the name of a point.
func Name(s string) string { return Text(s, 60) }

// Line returns the first 400 characters of a command, or of a line of output.
func Line(s string) string { return Text(s, 400) }

// Sentence returns the first 600 characters of a sentence, a reason or a fix.
func Sentence(s string) string { return Text(s, 600) }

// Text returns at most n characters of s, on one line. What is not printable is escaped, as LAB LOG does
// it. A backslash stays as it is, because most texts of a report are escaped already.
func Text(s string, n int) string {
	var b strings.Builder
	for left := n; len(s) > 0; left-- {
		if left == 0 {
			fmt.Fprintf(&b, "…(+%d bytes)", len(s))
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteString(s[:size])
		case r == '\n', r == '\r', r == '\t':
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

// Lines returns the last 40 lines of a program's output, each of them clean. left is how many came before.
func Lines(output string) (all []string, left int) {
	output = strings.TrimRight(output, "\r\n")
	if output == "" {
		return nil, 0
	}
	all = strings.Split(output, "\n")
	left = max(len(all)-mostOutput, 0)
	all = all[left:]
	colour := regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
	for i, line := range all {
		line = strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    ")
		all[i] = Line(hideURLs(colour.ReplaceAllString(line, "")))
	}
	return all, left
}
