package holders

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Class returns a name without the parts that differ between locks of one kind. A part with digits
// is replaced by * if it is long, such as an id. In a short part, each number becomes #.
func Class(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		n := i
		digits := false
		for n < len(name) && isWord(name[n]) {
			digits = digits || isDigit(name[n])
			n++
		}
		switch part := name[i:n]; {
		case n == i:
			b.WriteByte(name[i])
			n++
		case !digits:
			b.WriteString(part)
		case len(part) >= 8:
			b.WriteByte('*')
		default:
			numbered(&b, part)
		}
		i = n
	}
	return b.String()
}

// numbered writes part with a # for each number.
func numbered(b *strings.Builder, part string) {
	for i := range len(part) {
		switch {
		case !isDigit(part[i]):
			b.WriteByte(part[i])
		case i == 0 || !isDigit(part[i-1]):
			b.WriteByte('#')
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// SoundsLikeLock reports whether name has a word that programmers use for locks. Longer words that
// contain such a word do not count: block, clock, leaderboard, release.
func SoundsLikeLock(name string) bool {
	name = withoutOthers(strings.ToLower(name))
	for _, word := range []string{"lock", "mutex", "lease", "leader", "latch"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// withoutOthers removes the longer words from a name. Most names have none, and cost no memory.
func withoutOthers(name string) string {
	others := [...]struct{ word, is string }{
		{"joblock", "lock"}, {"dblock", "lock"}, {"block", ""}, {"clock", ""},
		{"lockout", ""}, {"lockdown", ""}, {"leaderboard", ""}, {"release", ""}, {"please", ""},
	}
	for from := 0; ; {
		first, end, is := len(name), 0, ""
		for _, o := range others {
			if i := strings.Index(name[from:], o.word); i >= 0 && from+i < first {
				first, end, is = from+i, from+i+len(o.word), o.is
			}
		}
		if end == 0 {
			return name
		}
		name, from = name[:first]+is+name[end:], first+len(is)
	}
}

// LongestToken is the number of bytes up to which a value may be a token.
const LongestToken = 128

// LooksRandom reports whether value looks like a unique token: a UUID, hexadecimal digits, random
// bytes. Cached values often have digits, too, but they are longer, or they are sentences,
// documents or addresses.
func LooksRandom(value string) bool {
	value = raw(value)
	switch {
	case len(value) < 16 || len(value) > LongestToken:
		return false
	case isBinary(value): // random bytes may be spaces and brackets, too
		return !hasWords(value)
	case isData(value):
		return false
	}
	for i := range len(value) {
		if isDigit(value[i]) || !isText(value[i]) {
			return true
		}
	}
	return mixedCase(value)
}

// raw undoes the escapes of lab.Printable. The values of a log have them.
func raw(value string) string {
	escaped := strings.Contains(value, `\`) && utf8.ValidString(value)
	if !escaped || strings.ContainsFunc(value, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' || i+1 == len(value) {
			b.WriteByte(value[i])
			continue
		}
		i++
		switch c := value[i]; c {
		case 'n', 'r', 't':
			b.WriteByte(map[byte]byte{'n': '\n', 'r': '\r', 't': '\t'}[c])
		case 'x':
			if n, err := strconv.ParseUint(value[i+1:min(i+3, len(value))], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isBinary reports whether value is no text.
func isBinary(value string) bool {
	return !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r", r)
	})
}

// hasWords reports whether bytes have words of small letters. One in a million random tokens of 20 bytes has.
func hasWords(value string) bool {
	const shortest, enough = 4, 8
	all, run := 0, 0
	for i := range len(value) + 1 {
		if i < len(value) && value[i] >= 'a' && value[i] <= 'z' {
			run++
			continue
		}
		if run >= shortest {
			all += run
		}
		run = 0
	}
	return all >= enough
}

// mixedCase reports whether value has small letters, and large ones side by side in several places, as random
// base64 has. Names in CamelCase have single large letters.
func mixedCase(value string) bool {
	small, pairs := 0, 0
	for i := range len(value) {
		switch {
		case value[i] >= 'a' && value[i] <= 'z':
			small++
		case i > 0 && isLarge(value[i]) && isLarge(value[i-1]):
			pairs++
		}
	}
	return pairs >= 2 && 5*small >= len(value)
}

func isLarge(c byte) bool { return c >= 'A' && c <= 'Z' }

func isText(c byte) bool { return c >= ' ' && c <= '~' }

// isData reports whether value has content for a reader: text with spaces, JSON, XML, an address,
// or binary data with words in it.
func isData(value string) bool {
	if strings.ContainsAny(value, " \t\n\"<>") || strings.Contains(value, "://") ||
		strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{") {
		return true
	}
	letters, word, binary := 0, false, false
	for i := range len(value) {
		letters++
		if !isWord(value[i]) || isDigit(value[i]) || !isText(value[i]) {
			letters = 0
		}
		word = word || letters >= 5
		binary = binary || !isText(value[i])
	}
	return word && binary
}

// IsNumber reports whether value is a number, such as a time, an id or a count.
func IsNumber(value string) bool { return strings.Trim(value, "0123456789") == "" }

// IsToken reports whether value names its owner. Values such as "1" or "locked" only mean that
// somebody holds the lock.
func IsToken(value string) bool {
	return len(value) >= 4 && (strings.ContainsAny(value, "0123456789") || LooksRandom(value))
}

// Family returns the part that the tokens of one process share. A token of Redisson is the id of
// the process, a colon, and the id of the thread.
func Family(token string) string {
	if i := strings.LastIndexByte(token, ':'); i >= 16 {
		return token[:i]
	}
	return token
}
