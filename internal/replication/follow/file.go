package follow

import (
	"bytes"
	"strconv"
	"strings"
)

// open takes the line in front of the file. The master may send empty lines before, while it saves.
func (l *Link) open(line string) (Event, error) {
	if line == "" {
		return Event{}, nil
	}
	if strings.HasPrefix(line, "-") {
		return Event{}, fail("MASTER aborted replication with an error: %s", printable(line[1:]))
	}
	length, ok := strings.CutPrefix(line, "$")
	if !ok {
		return Event{}, fail("Bad protocol from MASTER, the first byte is not '$' (we received '%s'), are you sure the host "+
			"and port are right?", printable(line))
	}
	if mark, ok := strings.CutPrefix(length, "EOF:"); ok && len(mark) == idSize {
		l.mark, l.state = []byte(mark), file
		return Event{Kind: FileBegin, Size: -1}, nil
	}
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil || n <= 0 {
		return Event{}, fail("Bad protocol from MASTER: the length of the file is '%s'", printable(length))
	}
	l.left, l.state = n, file
	return Event{Kind: FileBegin, Size: n}, nil
}

// piece returns what has arrived of the file.
func (l *Link) piece() Event {
	if l.ended {
		l.ended, l.state = false, stream
		return Event{Kind: FileEnd, At: l.at}
	}
	rest := l.in[l.next:]
	n, behind := len(rest), 0
	if l.mark == nil {
		n = int(min(int64(n), l.left))
		l.left -= int64(n)
		l.ended = l.left == 0
	} else if end := bytes.Index(rest, l.mark); end >= 0 {
		n, behind, l.ended = end, idSize, true
	} else {
		n = max(n-idSize+1, 0) // the rest may be the beginning of the mark
	}
	l.next += n + behind
	switch {
	case n > 0:
		return Event{Kind: FileData, Data: rest[:n]}
	case l.ended:
		return l.piece()
	}
	return Event{}
}
