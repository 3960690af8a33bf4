package doctor

import "strings"

// class is a name without what differs from one lock to the next: parts with digits in
// them are ids when they are long, else numbered.
func class(name string) string {
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

// numbered writes part with a # for each number in it.
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

// soundsLikeLock goes by the words that programmers use for locks.
func soundsLikeLock(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"lock", "mutex", "lease", "leader", "latch"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// looksRandom tells a token that was made to be unlike any other: a UUID, hexadecimal
// or binary digits.
func looksRandom(value string) bool {
	if len(value) < 16 {
		return false
	}
	for i := range len(value) {
		if isDigit(value[i]) || value[i] < ' ' || value[i] > '~' {
			return true
		}
	}
	return false
}

// isToken tells a value that names its owner from one that just says that somebody
// holds the lock, such as 1 or locked.
func isToken(value string) bool {
	return looksRandom(value) || len(value) >= 4 && strings.ContainsAny(value, "0123456789")
}

// family is what the tokens of one process have in common: Redisson's are an id of the
// process and, behind a colon, one of the thread.
func family(token string) string {
	if i := strings.LastIndexByte(token, ':'); i >= 16 {
		return token[:i]
	}
	return token
}
