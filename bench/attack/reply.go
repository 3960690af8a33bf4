package main

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// reply is the beginning of what a server answered. The rest is read and dropped: replies may be larger than
// the memory of this program should become.
type reply struct {
	kind byte   // RESP's first byte, 0 when the connection ended
	text string // the line, or the beginning of the bulk string
}

func (r reply) failed() bool { return r.kind == '-' || r.kind == '!' }

const keptBytes = 16 << 10

// readReply reads one reply with all its elements, however deep. No attack asks for attributes.
func readReply(r *bufio.Reader) (first reply, err error) {
	for open := 1; open > 0; open-- {
		line, err := r.ReadString('\n')
		if err != nil {
			return reply{}, err
		}
		got := reply{line[0], strings.TrimSuffix(line[1:], "\r\n")}
		n, _ := strconv.Atoi(got.text)
		switch got.kind {
		case '*', '~', '>':
			open += max(n, 0)
		case '%':
			open += 2 * n
		case '$', '=', '!':
			if got.text, err = readBulk(r, n); err != nil {
				return reply{}, err
			}
		}
		if first.kind == 0 {
			first = got
		}
	}
	return first, nil
}

func readBulk(r *bufio.Reader, n int) (string, error) {
	if n < 0 {
		return "", nil
	}
	kept := make([]byte, min(n, keptBytes))
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

// appendCommand appends args to dst as one request.
func appendCommand(dst []byte, args ...string) []byte {
	dst = append(strconv.AppendInt(append(dst, '*'), int64(len(args)), 10), "\r\n"...)
	for _, a := range args {
		dst = append(strconv.AppendInt(append(dst, '$'), int64(len(a)), 10), "\r\n"...)
		dst = append(append(dst, a...), "\r\n"...)
	}
	return dst
}
