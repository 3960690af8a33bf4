package report

import (
	"strings"
	"unicode/utf8"
)

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

// cutMiddle returns at most n columns of s, with dots in the middle if something is missing.
func cutMiddle(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	const tail = 14 // columns, enough for the number of a master
	rest := s
	for columns(rest) > min(tail, n/2) {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return cut(s, n-columns(rest)) + rest
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
