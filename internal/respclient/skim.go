package respclient

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// skimmed is how much of a string Skim keeps, in bytes.
const skimmed = 16 << 10

// Skim reads one reply and drops nearly all of it: a reply may be larger than the caller's memory should become.
// kind is the first byte of its type. text is its line, or the beginning of a bulk string. Replies with
// attributes are not for Skim.
func (c *Conn) Skim() (kind byte, text string, err error) {
	if err := c.await(); err != nil {
		return 0, "", err
	}
	for open := 1; open > 0; open-- {
		line, err := c.In.ReadString('\n')
		if err != nil {
			return 0, "", err
		}
		first, rest := line[0], strings.TrimSuffix(line[1:], "\r\n")
		n, _ := strconv.Atoi(rest)
		switch first {
		case '*', '~', '>':
			open += max(n, 0)
		case '%':
			open += 2 * max(n, 0)
		case '$', '=', '!':
			if rest, err = skimString(c.In, n); err != nil {
				return 0, "", err
			}
		}
		if kind == 0 {
			kind, text = first, rest
		}
	}
	return kind, text, nil
}

func skimString(r *bufio.Reader, n int) (string, error) {
	if n < 0 {
		return "", nil
	}
	kept := make([]byte, min(n, skimmed))
	if _, err := io.ReadFull(r, kept); err != nil {
		return "", err
	}
	for rest := n - len(kept) + len("\r\n"); rest > 0; {
		dropped, err := r.Discard(min(rest, 1<<20))
		if err != nil {
			return "", err
		}
		rest -= dropped
	}
	return string(kept), nil
}
