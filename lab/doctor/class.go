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

// soundsLikeLock goes by the words that programmers use for locks, and not by longer ones
// that contain them: a block, a clock, a leaderboard, a release.
func soundsLikeLock(name string) bool {
	name = notLocks().Replace(strings.ToLower(name))
	for _, word := range []string{"lock", "mutex", "lease", "leader", "latch"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func notLocks() *strings.Replacer {
	return strings.NewReplacer("joblock", "lock", "dblock", "lock", "block", "", "clock", "", "lockout", "", "lockdown", "",
		"leaderboard", "", "release", "", "please", "")
}

// looksRandom tells a token that was made to be unlike any other: a UUID, hexadecimal
// or binary digits. Values that are cached often have digits in them as well, but are longer,
// or are sentences, documents and addresses.
func looksRandom(value string) bool {
	if len(value) < 16 || len(value) > maxArg || isData(value) {
		return false
	}
	for i := range len(value) {
		if isDigit(value[i]) || !isText(value[i]) {
			return true
		}
	}
	return false
}

func isText(c byte) bool { return c >= ' ' && c <= '~' }

// isData tells what is read by those who get the value: text with spaces in it, JSON, XML,
// an address, or something binary that has words in it.
func isData(value string) bool {
	if strings.ContainsAny(value, " \t\n\"<>") || strings.Contains(value, "://") || strings.ContainsAny(value[:min(len(value), 1)], "[{") {
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

// isNumber tells a time, an ID or a count.
func isNumber(value string) bool { return strings.Trim(value, "0123456789") == "" }

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
