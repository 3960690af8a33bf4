package lab

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	longestArg  = 128 // bytes of an argument in an entry: the value of a lock fits
	longArgHead = 96  // bytes that stay of a longer argument
	mostArgs    = 32
	mostKeys    = 1024 // of a command with more arguments
)

// Words shortens the arguments of a command for an entry.
func Words(args [][]byte) []string {
	words := make([]string, 0, min(len(args), mostArgs+1))
	for i, arg := range args {
		if i == mostArgs {
			return append(words, fmt.Sprintf("...(%d more)", len(args)-mostArgs))
		}
		words = append(words, Word(arg))
	}
	return words
}

// Word shortens arg. Different arguments stay different.
func Word(arg []byte) string {
	if len(arg) <= longestArg {
		return Printable(string(arg))
	}
	return fmt.Sprintf("%s...(%d bytes, sha1 %x)", Printable(string(arg[:longArgHead])), len(arg), sha1.Sum(arg))
}

// Printable escapes every byte of s that is not printable text, and the backslash, as redis-cli does.
// Different texts stay different.
func Printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r == '\\' || !strconv.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case size > 1 && strconv.IsPrint(r), size == 1 && r >= ' ' && r <= '~':
			b.WriteString(s[:size])
		default:
			for i := range size {
				fmt.Fprintf(&b, `\x%02x`, s[i])
			}
		}
		s = s[size:]
	}
	return b.String()
}

// Line joins words to one line. It quotes a word that is empty or has spaces or quotes.
func Line(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w == "" || strings.ContainsAny(w, ` "'`) {
			w = `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
		}
		b.WriteString(w)
	}
	return b.String()
}

const (
	longestReply = 256
	deepestReply = 8
)

// Reply returns a short text for an encoded reply, "(nil)" for null. b may hold several replies, as
// SUBSCRIBE a b has: the text then has all of them.
func Reply(b []byte) string {
	var out strings.Builder
	for len(b) > 0 && out.Len() < longestReply {
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		if b = replyText(&out, b, 0); b == nil {
			break
		}
	}
	s := out.String()
	if len(s) > longestReply {
		s = strings.ToValidUTF8(s[:longestReply], "") + "..."
	}
	return s
}

// Kind returns the first byte of a reply, _ for every kind of null.
func Kind(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case bytes.HasPrefix(b, []byte("$-1")), bytes.HasPrefix(b, []byte("*-1")):
		return "_"
	}
	return string(b[:1])
}

// replyText writes the first reply of b and returns the bytes after it. It returns nil if b does
// not begin with a reply, or if the text is long enough.
func replyText(out *strings.Builder, b []byte, depth int) (rest []byte) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(line) == 0 {
		return nil
	}
	kind, text := line[0], line[1:]
	switch kind {
	case '$', '=', '!':
		n, err := strconv.Atoi(string(text))
		if err != nil || n < 0 || len(rest) < n+2 {
			out.WriteString("(nil)")
			return rest
		}
		out.WriteString(Word(rest[:n]))
		return rest[n+2:]
	case '*', '~', '>', '%':
		n, err := strconv.Atoi(string(text))
		if err != nil || n < 0 {
			out.WriteString("(nil)")
			return rest
		}
		if kind == '%' {
			n *= 2
		}
		return listText(out, rest, n, depth)
	case '_':
		out.WriteString("(nil)")
	default:
		out.WriteString(Printable(string(text)))
	}
	return rest
}

func listText(out *strings.Builder, rest []byte, n, depth int) []byte {
	out.WriteByte('[')
	for i := range n {
		if i > 0 {
			out.WriteByte(' ')
		}
		if out.Len() > longestReply || depth == deepestReply {
			out.WriteString("...")
			return nil
		}
		if rest = replyText(out, rest, depth+1); rest == nil {
			return nil
		}
	}
	out.WriteByte(']')
	return rest
}

// PushWords returns the bulk strings of an encoded message: its kind, its channel, and its payload
// or keys.
func PushWords(b []byte) (words [][]byte) {
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\r\n"))
		b = rest
		if len(line) == 0 || line[0] != '$' {
			continue
		}
		if n, err := strconv.Atoi(string(line[1:])); err == nil && n >= 0 && len(rest) >= n+2 {
			words, b = append(words, rest[:n]), rest[n+2:]
		}
	}
	return words
}
