package follow

import (
	"bytes"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

const (
	argsMost   = 1 << 20  // arguments of a request
	numberMost = 32       // bytes of a line with a number
	inlineMost = 64 << 10 // bytes of a request without lengths
)

// request is a request of the stream that has arrived in part. Places count from Link.next.
type request struct {
	args [][2]int // the complete arguments: from, to
	left int      // arguments that are missing; 0 before the first line is complete
	at   int      // where the incomplete line or argument begins
	bulk int      // 1 + the length of the argument at that place; 0 for a line
}

// request returns the next request of the stream (networking.c: processMultibulkBuffer). It counts the bytes of
// everything: a master pings with an empty line, too.
func (l *Link) request() (Event, error) {
	rest := l.in[l.next:]
	if len(rest) == 0 {
		return Event{}, nil
	}
	if rest[0] != '*' && l.latest.left == 0 {
		return l.inline(rest)
	}
	r := &l.latest
	complete, err := r.read(rest, l.MaxRequest)
	if err != nil || !complete {
		return Event{}, err
	}
	l.argv = l.argv[:0]
	for _, a := range r.args {
		l.argv = append(l.argv, rest[a[0]:a[1]:a[1]])
	}
	e := Event{Kind: Request, Args: l.argv, Data: rest[:r.at], At: l.count(r.at)}
	*r = request{args: r.args[:0]}
	return e, nil
}

// count notes that n bytes of the stream are done, and returns the place after them.
func (l *Link) count(n int) Position {
	l.next += n
	l.at.Offset += int64(n)
	return l.at
}

// inline reads an empty line. A line of words is no request: after a wrong resynchronization it would be the middle of
// a value (networking.c: processInlineBuffer).
func (l *Link) inline(rest []byte) (Event, error) {
	end := bytes.IndexByte(rest[:min(len(rest), inlineMost)], '\n')
	if end < 0 && len(rest) >= inlineMost {
		return Event{}, fail("Protocol error (too big inline request) from the master")
	}
	if end < 0 {
		return Event{}, nil
	}
	if len(bytes.Fields(rest[:end])) > 0 {
		return Event{}, fail("WARNING: Receiving inline protocol from master, master stream corruption? Closing the " +
			"master connection and discarding the cached master.")
	}
	return Event{Kind: Request, Data: rest[:end+1], At: l.count(end + 1)}, nil
}

// read continues with a request. It reports whether the request is complete.
func (r *request) read(b []byte, most int) (complete bool, err error) {
	if r.left == 0 {
		n, ok, err := r.number(b, '*')
		if err != nil || !ok {
			return false, err
		}
		if n > argsMost {
			return false, fail("Protocol error (invalid multibulk length) from the master")
		}
		r.left = int(max(n, 0))
	}
	for r.left > 0 {
		if r.bulk == 0 {
			n, ok, err := r.number(b, '$')
			if err != nil || !ok {
				return false, err
			}
			if n < 0 || n > int64(most-r.at) {
				return false, fail("Protocol error (invalid bulk length) from the master")
			}
			r.bulk = int(n) + 1
		}
		end := r.at + r.bulk - 1
		if len(b) < end+2 {
			return false, nil
		}
		r.args = append(r.args, [2]int{r.at, end})
		r.at, r.bulk = end+2, 0
		r.left--
	}
	return true, nil
}

// number reads a line of a number after a sign.
func (r *request) number(b []byte, sign byte) (n int64, ok bool, err error) {
	line := b[r.at:]
	end := bytes.IndexByte(line[:min(len(line), numberMost)], '\n')
	if end < 0 && len(line) >= numberMost {
		return 0, false, fail("Protocol error (too big count string) from the master")
	}
	if end < 0 {
		return 0, false, nil
	}
	text := bytes.TrimSuffix(line[:end], []byte("\r"))
	if line[0] == sign {
		n, ok = ascii.ParseInt(text[1:])
	}
	if !ok {
		return 0, false, fail("Protocol error (expected '%c' and a number, got '%s') from the master", sign,
			printable(string(text)))
	}
	r.at += end + 1
	return n, true, nil
}
