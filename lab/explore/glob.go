package explore

import (
	"strings"

	"github.com/miniredisd/miniredisd/store"
)

// matches reports whether a glob matches a key, as the log shows it. The log escapes the bytes that cannot be
// printed.
func matches(glob, key string) bool { return store.MatchPattern(glob, []byte(raw(key))) }

// globOf returns the glob that matches one key only.
func globOf(key string) string {
	var b strings.Builder
	for _, c := range []byte(raw(key)) {
		if strings.IndexByte(`*?[]\^`, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// classOf returns the glob of all keys that differ in their parts with digits only.
func classOf(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); {
		n := i
		digits := false
		for n < len(key) && isWord(key[n]) {
			digits = digits || key[n] >= '0' && key[n] <= '9'
			n++
		}
		switch {
		case n == i:
			n++
			b.WriteString(globOf(key[i:n]))
		case digits:
			b.WriteByte('*')
		default:
			b.WriteString(key[i:n])
		}
		i = n
	}
	return b.String()
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// shown returns a glob as people read it: without the escapes.
func shown(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		if glob[i] == '\\' && i+1 < len(glob) {
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

// raw undoes lab.Printable.
func raw(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; {
		case c == 'n':
			b.WriteByte('\n')
		case c == 'r':
			b.WriteByte('\r')
		case c == 't':
			b.WriteByte('\t')
		case c == 'x' && i+2 < len(text):
			b.WriteByte(hex(text[i+1])<<4 | hex(text[i+2]))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func hex(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}
