package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How many characters of a text from a stranger a report shows.
const (
	longestName     = 60   // of a client or a key in the name of a point
	longestSentence = 600  // of a sentence, a reason or a fix
	longestLine     = 400  // of a command or of a line of output
	mostOutput      = 40   // last lines of a program's output
	mostCommands    = 60   // lines that make a failure again
	mostWhys        = 40   // different reasons of one mark
	mostProgram     = 2000 // of the program's command line
)

// clean returns at most n characters of s, on one line. What is not printable is escaped, as LAB LOG does
// it. A backslash stays as it is, because most texts of a report are escaped already.
func clean(s string, n int) string {
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

// lines returns the last lines of a program's output, each of them clean. left is how many came before.
func lines(output string) (all []string, left int) {
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
		all[i] = clean(hideURLs(colour.ReplaceAllString(line, "")), longestLine)
	}
	return all, left
}

// columns returns how many columns s takes on a terminal.
func columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// columnsOf returns 2 for Chinese, Japanese and Korean characters and for their punctuation.
func columnsOf(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// cut returns at most n columns of s, with dots if something is missing.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	var b strings.Builder
	left := n - 2
	for _, r := range s {
		if left -= columnsOf(r); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + ".."
}

// pad returns s with spaces behind it, n columns in all.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-columns(s), 0)) }

// wrap breaks a text into lines of at most n columns: at spaces, and anywhere in Chinese.
func wrap(s string, n int) (all []string) {
	line, width := "", 0
	for _, part := range breakable(s) {
		w := columns(strings.TrimRight(part, " "))
		if width > 0 && width+w > n {
			all = append(all, strings.TrimRight(line, " "))
			line, width = "", 0
		}
		for w > n { // a word that is longer than a line
			head := cutHard(part, n)
			all = append(all, head)
			part = part[len(head):]
			w = columns(strings.TrimRight(part, " "))
		}
		line += part
		width += columns(part)
	}
	return append(all, strings.TrimRight(line, " "))
}

// cutHard returns as much of the beginning of s as fits into n columns.
func cutHard(s string, n int) string {
	for i, r := range s {
		if n -= columnsOf(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// breakable cuts a text behind each space and behind each wide character that no punctuation follows.
func breakable(s string) (parts []string) {
	from := 0
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		wide := columnsOf(r) == 2 && !strings.ContainsRune("，。、：；！？）」”", next) && r != '（'
		if r == ' ' || wide {
			parts = append(parts, s[from:i+utf8.RuneLen(r)])
			from = i + utf8.RuneLen(r)
		}
	}
	if from < len(s) {
		parts = append(parts, s[from:])
	}
	return parts
}
