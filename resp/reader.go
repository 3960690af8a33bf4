package resp

import (
	"bytes"
	"slices"
)

// Limits bound what one client may send. A zero field means Redis's default.
type Limits struct {
	MaxBulk   int // proto-max-bulk-len; 512 MiB
	MaxArgs   int // 1,048,576. Redis allows 2^31-1, which is no bound
	MaxInline int // an inline command or a line with a length; 64 KiB

	// Unauthenticated shrinks a command to 10 arguments of 16 KiB until the client has proved who it is.
	Unauthenticated bool
}

const (
	defaultMaxBulk   = 512 << 20
	defaultMaxArgs   = 1 << 20
	defaultMaxInline = 64 << 10

	unauthenticatedArgs = 10
	unauthenticatedBulk = 16 << 10
)

// ErrProtocol is what a client did wrong, in Redis's words. The reply is "-ERR " + the text, and the connection is
// closed after it: where the next command starts is not known any more.
type ErrProtocol string

func (e ErrProtocol) Error() string { return string(e) }

const (
	errCount       ErrProtocol = "Protocol error: invalid multibulk length"
	errCountAuth   ErrProtocol = "Protocol error: unauthenticated multibulk length"
	errCountLine   ErrProtocol = "Protocol error: too big mbulk count string"
	errBulk        ErrProtocol = "Protocol error: invalid bulk length"
	errBulkAuth    ErrProtocol = "Protocol error: unauthenticated bulk length"
	errBulkLine    ErrProtocol = "Protocol error: too big bulk count string"
	errInlineLine  ErrProtocol = "Protocol error: too big inline request"
	errInlineQuote ErrProtocol = "Protocol error: unbalanced quotes in request"
)

// Parser finds the commands in a connection's input. The zero value is ready. See the package comment for its use.
type Parser struct {
	Limits Limits

	// What is known of the command that the last buffer ended in the middle of. Positions count from the command's
	// first byte, as the caller may move it between calls.
	args []span // arguments complete so far
	left int    // arguments still missing; 0 while no multibulk count has been read
	at   int    // the start of the line, or of the bulk, that is incomplete
	seen int    // up to here that line has been searched for its end
	bulk int    // 1 + the length of the bulk at `at`; 0 when a line is there
	nul  bool   // that line holds a NUL: see lineEnd
}

type span struct{ from, to int }

// Parse appends every complete command at the front of buf to b and returns how many bytes they took, empty commands
// included. The caller removes those once b has been executed and passes what is left again when more has arrived. With an error,
// the commands before it are in b and consumed counts those.
//
// While Limits.Unauthenticated is set, a command that breaks that rule is not judged behind others that are yet to be
// executed, since one of them may be the AUTH that lifts it: Parse returns early without an error. So a caller that
// executed a batch of an unauthenticated client calls Parse again before it waits for more input.
func (p *Parser) Parse(buf []byte, b *Batch) (consumed int, err error) {
	maxArgs, maxBulk := p.quickLimits()
	resumed := p.left > 0 || p.seen > 0
	for consumed < len(buf) {
		if !resumed {
			consumed += b.take(buf[consumed:], maxArgs, maxBulk)
			if consumed == len(buf) {
				break
			}
		}
		n, err := p.command(buf[consumed:], b)
		if n == 0 || err != nil {
			return consumed, err
		}
		consumed += n
		resumed = false
	}
	return consumed, nil
}

// Mem is how many bytes the parser holds for a command that is still arriving, the input itself not counted.
func (p *Parser) Mem() int { return cap(p.args) * 16 }

// Arrived is, of the command that is still arriving, the bytes of the arguments that are complete, and how many bytes of the
// input have been looked through with them.
func (p *Parser) Arrived() (args, at int) {
	for _, s := range p.args {
		args += s.to - s.from
	}
	return args, p.at
}

// Needs is how long the command that is still arriving is at least, from its first byte; 0 when that is not known.
func (p *Parser) Needs() int {
	if p.bulk == 0 {
		return 0
	}
	return p.at + p.bulk - 1 + 2
}

// quickLimits are the bounds up to which Batch.take needs no second look.
func (p *Parser) quickLimits() (args, bulk int) {
	args, bulk = p.maxArgs(), p.maxBulk()
	if p.Limits.Unauthenticated {
		args, bulk = min(args, unauthenticatedArgs), min(bulk, unauthenticatedBulk)
	}
	return args, bulk
}

func (p *Parser) maxArgs() int   { return orDefault(p.Limits.MaxArgs, defaultMaxArgs) }
func (p *Parser) maxBulk() int   { return orDefault(p.Limits.MaxBulk, defaultMaxBulk) }
func (p *Parser) maxInline() int { return orDefault(p.Limits.MaxInline, defaultMaxInline) }

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

// command reads one command at the front of buf, continuing where it stopped before: the general and slower way, for
// commands that arrive in pieces, break a rule, or are not multibulk. It returns 0 when bytes are missing.
func (p *Parser) command(buf []byte, b *Batch) (int, error) {
	if p.left == 0 {
		if buf[0] != '*' {
			return p.inline(buf, b)
		}
		if ok, err := p.count(buf, b.Len() > 0); !ok {
			return 0, err
		}
	}
	_, quick := p.quickLimits()
	for p.left > 0 {
		if p.bulk == 0 {
			if ok, err := p.bulkLength(buf, quick, b.Len() > 0); !ok {
				return 0, err
			}
		}
		n := p.bulk - 1
		if len(buf)-p.at-2 < n {
			return 0, nil
		}
		p.args = append(p.args, span{p.at, p.at + n})
		p.at += n + 2
		p.bulk = 0
		p.left--
	}
	if len(p.args) > 0 {
		b.add(buf, p.args)
	}
	n := p.at
	p.restart()
	return n, nil
}

// restart forgets the command that has been delivered. The room for its arguments is kept when it is ordinary.
func (p *Parser) restart() {
	p.args = p.args[:0]
	if cap(p.args) > 1024 {
		p.args = nil
	}
	p.left, p.at, p.seen, p.bulk, p.nul = 0, 0, 0, 0, false
}

// count reads the line `*<n>`. ok is false when it is incomplete, wrong, or may only be judged later.
func (p *Parser) count(buf []byte, behind bool) (ok bool, err error) {
	end, err := p.lineEnd(buf, '\r', errCountLine)
	if end < 0 {
		return false, err
	}
	n, ok := integer(buf[1:end])
	switch {
	case !ok || n > p.maxArgs():
		return false, errCount
	case n > unauthenticatedArgs && p.Limits.Unauthenticated:
		if behind {
			return false, nil
		}
		return false, errCountAuth
	}
	p.left = max(n, 0)
	p.at = end + 2
	p.seen = p.at
	return true, nil
}

// bulkLength reads the line `$<n>`, and like count leaves it where it is unless ok. Up to quick any length is right.
func (p *Parser) bulkLength(buf []byte, quick int, behind bool) (ok bool, err error) {
	if n, next := header(buf, p.at, '$'); uint(n) <= uint(quick) {
		p.bulk, p.at, p.seen = n+1, next, next
		return true, nil
	}
	end, err := p.lineEnd(buf, '\r', errBulkLine)
	if end < 0 {
		return false, err
	}
	if buf[p.at] != '$' {
		return false, ErrProtocol("Protocol error: expected '$', got '" + string(buf[p.at:p.at+1]) + "'")
	}
	n, ok := integer(buf[p.at+1 : end])
	switch {
	case !ok || n < 0 || n > p.maxBulk():
		return false, errBulk
	case n > unauthenticatedBulk && p.Limits.Unauthenticated:
		if behind {
			return false, nil
		}
		return false, errBulkAuth
	}
	p.bulk = n + 1
	p.at = end + 2
	p.seen = p.at
	return true, nil
}

// lineEnd finds where the line at p.at ends: the position of its '\n', or of its '\r' once the byte after it is there
// (which Redis does not look at). It is -1 as long as the end has not arrived, with tooLong when it cannot come any more.
//
// A NUL hides the rest of the line, as Redis searches with strchr. The client then waits in vain for an answer until it
// has sent a line's worth of bytes; Redis's own tests count on that.
func (p *Parser) lineEnd(buf []byte, terminator byte, tooLong ErrProtocol) (int, error) {
	limit := p.maxInline()
	from := max(p.seen, p.at)
	to := min(len(buf), p.at+limit+1)
	if !p.nul && from < to {
		i := bytes.IndexByte(buf[from:to], terminator)
		if i >= 0 {
			to = from + i
		}
		p.nul = bytes.IndexByte(buf[from:to], 0) >= 0
		if i >= 0 && !p.nul {
			if terminator == '\r' && to+1 == len(buf) {
				p.seen = to
				return -1, nil
			}
			return to, nil
		}
	}
	if len(buf)-p.at > limit {
		return -1, tooLong
	}
	p.seen = len(buf)
	return -1, nil
}

// integer reads a decimal in its only canonical form, as Redis's string2ll does: no plus, no leading zero, no space.
func integer(text []byte) (int, bool) {
	digits, negative := text, false
	if len(digits) > 0 && digits[0] == '-' {
		digits, negative = digits[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	if digits[0] == '0' {
		return 0, len(text) == 1
	}
	var n uint64 // 19 digits fit
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	if negative {
		return int(-n), n <= 1<<63
	}
	return int(n), n < 1<<63
}

// add appends a command whose arguments are known as positions in buf.
func (b *Batch) add(buf []byte, args []span) {
	b.args = slices.Grow(b.args, len(args))
	for _, s := range args {
		b.args = append(b.args, buf[s.from:s.to:s.to])
	}
	b.ends = append(b.ends, len(b.args))
}
