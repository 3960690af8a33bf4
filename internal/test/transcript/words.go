package transcript

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	errQuotes = errors.New("unbalanced quotes")

	groupOf  = regexp.MustCompile(`\{(\d+)\.\.(\d+): ([^}]*)\}`)
	rangeOf  = regexp.MustCompile(`\{(\d+)\.\.(\d+)\}`)
	timesOf  = regexp.MustCompile(`\{([^*{}]+)\*(\d+)\}`)
	nameOf   = regexp.MustCompile(`<([a-z]+)>`)
	escapeOf = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t'}
)

// split turns the text of a command into arguments. known has the values that <name=...> patterns have
// remembered.
func split(s string, known map[string]string) ([]string, error) {
	s = groupOf.ReplaceAllStringFunc(s, func(g string) string {
		m := groupOf.FindStringSubmatch(g)
		var parts []string
		for _, i := range numbers(m[1], m[2]) {
			parts = append(parts, strings.ReplaceAll(m[3], "#", i))
		}
		return strings.Join(parts, " ")
	})
	var words []string
	for {
		s = strings.TrimLeft(s, " ")
		if s == "" {
			return words, nil
		}
		if s[0] != '"' && s[0] != '\'' {
			var w string
			w, s, _ = strings.Cut(s, " ")
			words = append(words, bare(w, known)...)
			continue
		}
		w, n, err := unquote(s)
		if err != nil {
			return nil, err
		}
		words, s = append(words, w), s[n:]
		if s != "" && s[0] != ' ' {
			return nil, errQuotes
		}
	}
}

func bare(w string, known map[string]string) []string {
	w = nameOf.ReplaceAllStringFunc(w, func(n string) string {
		if v, ok := known[n[1:len(n)-1]]; ok {
			return v
		}
		return n
	})
	w = timesOf.ReplaceAllStringFunc(w, func(g string) string {
		m := timesOf.FindStringSubmatch(g)
		n, _ := strconv.Atoi(m[2])
		return strings.Repeat(m[1], n)
	})
	m := rangeOf.FindStringSubmatchIndex(w)
	if m == nil {
		return []string{w}
	}
	var out []string
	for _, i := range numbers(w[m[2]:m[3]], w[m[4]:m[5]]) {
		out = append(out, w[:m[0]]+i+w[m[1]:])
	}
	return out
}

func numbers(from, to string) []string {
	a, _ := strconv.Atoi(from)
	b, _ := strconv.Atoi(to)
	var out []string
	for ; a <= b; a++ {
		out = append(out, strconv.Itoa(a))
	}
	return out
}

// unquote reads the quoted string at the start of s. n is its length in s, with the quotes.
func unquote(s string) (word string, n int, err error) {
	quote := s[0]
	var b []byte
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return string(b), i + 1, nil
		case s[i] != '\\' || i+1 == len(s):
			b = append(b, s[i])
		case quote == '\'':
			if s[i+1] == '\'' {
				i++
			}
			b = append(b, s[i])
		case s[i+1] == 'x' && i+3 < len(s):
			v, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				return "", 0, err
			}
			b = append(b, byte(v))
			i += 3
		default:
			i++
			c, ok := escapeOf[s[i]]
			if !ok {
				c = s[i]
			}
			b = append(b, c)
		}
	}
	return "", 0, errQuotes
}

// quote writes a string as in a reply of a transcript: printable ASCII is unchanged.
func quote(s string) string {
	b := []byte{'"'}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c > '~':
			b = fmt.Appendf(b, `\x%02x`, c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
