package store

import (
	"bytes"
	"unsafe"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// maxStars is the number of '*' after which a pattern that needs another one matches nothing. Redis
// stops its recursion there (util.c: stringmatchlen_impl).
const maxStars = 1000

// Match reports whether s matches a glob-style pattern by the rules of util.c: stringmatchlen: '*',
// '?', '[a-z]', '[^x]' and '\'.
//
// Only the latest '*' is retried and nothing recurses, so the work is at most len(pattern)*len(s).
// The exponential and the deep patterns of CVE-2022-36021 and CVE-2024-31228 are harmless here.
func Match(pattern, s []byte, nocase bool) bool {
	if len(s) == 0 {
		// stringmatchlen reads the pattern only while there is input. So an empty string
		// matches only the empty pattern, and not "*".
		return len(pattern) == 0
	}
	p, i := 0, 0
	star, retry, stars := -1, 0, 0
	var plain []byte // the bytes after the latest '*' that are not special
	for i < len(s) {
		if p < len(pattern) {
			switch c := pattern[p]; {
			case c == '*':
				p = pastStars(pattern, p)
				if p == len(pattern) {
					return true
				}
				if stars++; stars > maxStars {
					return false
				}
				star, retry, plain = p, i-1, plainText(pattern[p:], nocase)
			case c == '[':
				if next, ok := matchClass(pattern, p+1, s[i], nocase); ok {
					p = next
					i++
					continue
				}
			case c == '\\' && p+1 < len(pattern):
				if c = pattern[p+1]; c == s[i] || nocase && ascii.Lower(c) == ascii.Lower(s[i]) {
					p += 2
					i++
					continue
				}
			case c == '?' || c == s[i] || nocase && ascii.Lower(c) == ascii.Lower(s[i]):
				p++
				i++
				continue
			}
		}
		if star < 0 {
			return false
		}
		retry++
		if len(plain) > 0 {
			found := bytes.Index(s[retry:], plain)
			if found < 0 {
				return false
			}
			retry += found
		}
		p, i = star+len(plain), retry+len(plain)
	}
	return pastStars(pattern, p) == len(pattern)
}

// pastStars is the position of the first byte from p on that is not '*'.
func pastStars(pattern []byte, p int) int {
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p
}

// plainText is the start of a pattern up to its first special byte.
func plainText(pattern []byte, nocase bool) []byte {
	if nocase {
		return nil
	}
	if end := bytes.IndexAny(pattern, `*?[\`); end >= 0 {
		return pattern[:end]
	}
	return pattern
}

// matchClass matches c against the class whose first byte is at p. As in Redis, an unclosed class
// ends with the pattern, a range may be written backwards, and case matters for an escaped byte.
func matchClass(pattern []byte, p int, c byte, nocase bool) (next int, ok bool) {
	negate := p < len(pattern) && pattern[p] == '^'
	if negate {
		p++
	}
	for p < len(pattern) {
		at := pattern[p]
		p++
		switch {
		case at == ']':
			return p, ok != negate
		case at == '\\' && p < len(pattern):
			ok = ok || pattern[p] == c
			p++
		case p+1 < len(pattern) && pattern[p] == '-':
			ok = ok || inRange(at, pattern[p+1], c, nocase)
			p += 2
		default:
			if at == c || nocase && ascii.Lower(at) == ascii.Lower(c) {
				ok = true
			}
		}
	}
	return p, ok != negate
}

func inRange(lo, hi, c byte, nocase bool) bool {
	// Redis swaps before it folds, so '[Z-a]' without case is empty.
	if lo > hi {
		lo, hi = hi, lo
	}
	if nocase {
		lo, hi, c = ascii.Lower(lo), ascii.Lower(hi), ascii.Lower(c)
	}
	return lo <= c && c <= hi
}

// MatchString is Match for a string, with case.
func MatchString(pattern []byte, s string) bool { return Match(pattern, bytesOf(s), false) }

// MatchPattern is Match for a pattern that is a string, with case.
func MatchPattern(pattern string, s []byte) bool { return Match(bytesOf(pattern), s, false) }

// bytesOf returns the bytes of a string without a copy. Match only reads them.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
