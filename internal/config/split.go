package config

import (
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// SplitArgs splits a line into words (sds.c: sdssplitargs). Double quotes allow the escapes \n \r \t \b
// \a \xhh, and a backslash before any other character. Single quotes allow only \'. A space or the end
// of the line must follow a closing quote. ok is false if the quotes are unbalanced.
func SplitArgs(line string) (args []string, ok bool) {
	for {
		line = strings.TrimLeft(line, " \t\r\n\v\f\x00")
		if line == "" {
			return args, true
		}
		arg, rest, ok := nextArg(line)
		if !ok {
			return nil, false
		}
		args, line = append(args, arg), rest
	}
}

func nextArg(s string) (arg, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n', 0:
			return b.String(), s[i:], true
		case '"', '\'':
			n := quoted(&b, s[i:])
			if n == 0 || i+n < len(s) && !strings.ContainsRune(" \t\r\n\v\f", rune(s[i+n])) {
				return "", "", false
			}
			return b.String(), s[i+n:], true
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), "", true
}

// quoted reads the quoted text at the start of s. It returns the length of that text with both quotes,
// or 0 if the closing quote is missing.
func quoted(b *strings.Builder, s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		case quote == '\'':
			if s[i+1] == '\'' {
				i++
			}
			b.WriteByte(s[i])
		default:
			i += escape(b, s[i+1:])
		}
	}
	return 0
}

// escape writes the character for the escape whose text after the backslash is s. It returns the
// length of that text.
func escape(b *strings.Builder, s string) int {
	if s[0] == 'x' && len(s) >= 3 {
		if v, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			b.WriteByte(byte(v))
			return 3
		}
	}
	c := s[0]
	if i := strings.IndexByte("nrtba", c); i >= 0 {
		c = "\n\r\t\b\a"[i]
	}
	b.WriteByte(c)
	return 1
}

// quote writes s in double quotes, so that SplitArgs returns s.
func quote(s string) string { return string(ascii.AppendQuoted(nil, s)) }
