package store

import "unsafe"

// Match reports whether s matches a glob-style pattern with the rules of
// Redis's stringmatchlen (util.c): '*', '?', '[a-z]', '[^x]' and '\'.
//
// Only the latest '*' is ever retried, so the work is bounded by
// len(pattern)*len(s) and nothing recurses: the exponential and the deep
// patterns of CVE-2022-36021 and CVE-2024-31228 have nowhere to bite.
func Match(pattern, s []byte, nocase bool) bool {
	if len(s) == 0 {
		// stringmatchlen looks at the pattern only while there is input, so
		// an empty string matches nothing but the empty pattern: not even "*".
		return len(pattern) == 0
	}
	p, i := 0, 0
	star, retry := -1, 0
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			for p < len(pattern) && pattern[p] == '*' {
				p++
			}
			if p == len(pattern) {
				return true
			}
			star, retry = p, i
			continue
		}
		if p < len(pattern) {
			if next, ok := matchOne(pattern, p, s[i], nocase); ok {
				p = next
				i++
				continue
			}
		}
		if star < 0 {
			return false
		}
		retry++
		p, i = star, retry
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches the single-byte item of the pattern at p and returns where
// the next item starts.
func matchOne(pattern []byte, p int, c byte, nocase bool) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return matchClass(pattern, p+1, c, nocase)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, pattern[p] == c || nocase && lower(pattern[p]) == lower(c)
}

// matchClass matches c against the class whose first byte is at p. As in
// Redis a class that is never closed ends with the pattern, a range may be
// written backwards, and an escaped byte is compared with its case.
func matchClass(pattern []byte, p int, c byte, nocase bool) (next int, ok bool) {
	negate := p < len(pattern) && pattern[p] == '^'
	if negate {
		p++
	}
	for ; p < len(pattern); p++ {
		switch rest := pattern[p:]; {
		case rest[0] == '\\' && len(rest) >= 2:
			p++
			ok = ok || rest[1] == c
		case rest[0] == ']':
			return p + 1, ok != negate
		case len(rest) >= 3 && rest[1] == '-':
			p += 2
			ok = ok || inRange(rest[0], rest[2], c, nocase)
		default:
			ok = ok || rest[0] == c || nocase && lower(rest[0]) == lower(c)
		}
	}
	return p, ok != negate
}

func inRange(lo, hi, c byte, nocase bool) bool {
	// The swap comes before the case folding, so '[Z-a]' without case is empty.
	if lo > hi {
		lo, hi = hi, lo
	}
	if nocase {
		lo, hi, c = lower(lo), lower(hi), lower(c)
	}
	return lo <= c && c <= hi
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// MatchString is Match for a string, with case.
func MatchString(pattern []byte, s string) bool {
	return Match(pattern, unsafe.Slice(unsafe.StringData(s), len(s)), false)
}
