package lab

import (
	"strconv"
	"strings"
)

// Census numbers clients in the order in which they come. Connections with one name are one client. So is a
// connection that sends the token of an earlier one: its client has connected again. The zero value is empty.
type Census struct {
	numbers map[string]int // by name, connection and token
	count   int
}

// Number returns the number of a client, from 1. words are the arguments of its request that are no keys.
func (c *Census) Number(id int64, name string, words []string) int {
	if c.numbers == nil {
		c.numbers = map[string]int{}
	}
	who := "i" + strconv.FormatInt(id, 10)
	if name != "" {
		who = "n" + name
	}
	n := c.numbers[who]
	for _, w := range words {
		if n == 0 && isToken(w) {
			n = c.numbers["t"+w]
		}
	}
	if n == 0 {
		c.count++
		n = c.count
	}
	c.numbers[who] = n
	for _, w := range words {
		if isToken(w) && c.numbers["t"+w] == 0 && len(c.numbers) < mostCounted {
			c.numbers["t"+w] = n
		}
	}
	return n
}

// mostCounted bounds the tokens of a census.
const mostCounted = 1 << 16

// isToken reports whether a printable argument looks like the token of one client: at least 16 letters and
// digits, with two of both.
func isToken(word string) bool {
	if len(word) < 16 || len(word) > longestArg {
		return false
	}
	digits := 0
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', strings.IndexByte("-_:.+/=\\", c) >= 0:
		default:
			return false
		}
	}
	return digits >= 2 && len(word)-digits >= 2
}
