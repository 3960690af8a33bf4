package resp

import (
	"bytes"
	"slices"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// Limits bound what one client may send. 0 means the default.
type Limits struct {
	MaxBulk   int // bytes of an argument, proto-max-bulk-len; default 512 MiB
	MaxArgs   int // arguments of a command; default 1,048,576. Redis allows 2^31-1
	MaxInline int // bytes of an inline command or of a line with a length; default 64 KiB

	// Unauthenticated limits a command to 10 arguments of 16 KiB, until the client authenticates.
	Unauthenticated bool
}

const (
	defaultMaxBulk   = 512 << 20
	defaultMaxArgs   = 1 << 20
	defaultMaxInline = 64 << 10

	unauthenticatedArgs = 10
	unauthenticatedBulk = 16 << 10
)

// ErrProtocol is a violation of the protocol, in Redis's words. The server replies "-ERR " and the text,
// and closes the connection, because nothing shows where the next command starts.
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

// Parser finds the commands in a connection's input. The zero value is ready. The package comment shows
// its use.
type Parser struct {
	Limits Limits

	// The state of a command that has arrived in part. Positions count from the first byte of the
	// command, because the caller may move the buffer between calls.
	args []span // the complete arguments
	left int    // the number of missing arguments; 0 while the multibulk count is not read
	at   int    // where the incomplete line or bulk starts
	seen int    // lineEnd has searched the incomplete line up to here
	bulk int    // 1 + the length of the bulk at position at; 0 if a line starts there
	nul  bool   // the incomplete line holds a NUL: see lineEnd
}

type span struct{ from, to int }

// Parse appends every complete command at the front of buf to b. It returns how many bytes these
// commands have, empty commands included. The caller removes these bytes once b is executed, and passes
// the rest again when more has arrived. An error is an [ErrProtocol]. Then b has the commands before
// the error, and consumed counts their bytes.
//
// While Limits.Unauthenticated is set, a command before may be the AUTH that lifts the limits. So Parse
// does not judge an oversized command after others: it returns early without an error. After executing
// the batch of an unauthenticated client, the caller calls Parse again before it waits for more input.
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

// Mem returns how many bytes the parser holds for a command that is still arriving, without the input.
func (p *Parser) Mem() int { return cap(p.args) * 16 }

// Arrived describes the command that is still arriving: the bytes of its complete arguments, and how
// many bytes of the input lie before the incomplete one.
func (p *Parser) Arrived() (args, at int) {
	for _, s := range p.args {
		args += s.to - s.from
	}
	return args, p.at
}

// Needs returns the smallest length that the command that is still arriving can have, in bytes. It
// returns 0 if the length is unknown.
func (p *Parser) Needs() int {
	if p.bulk == 0 {
		return 0
	}
	return p.at + p.bulk - 1 + 2
}

// quickLimits returns the limits for Batch.take, which leaves larger commands to Parser.command.
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

// command reads one command at the front of buf and continues where it stopped before (networking.c:
// processMultibulkBuffer). It is the general and slower path, for commands that arrive in pieces, break a rule
// or are inline. It returns the length of the command, or 0 if bytes are missing.
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

// restart forgets the last command. It keeps the room for arguments unless that is unusually large.
func (p *Parser) restart() {
	p.args = p.args[:0]
	if cap(p.args) > 1024 {
		p.args = nil
	}
	p.left, p.at, p.seen, p.bulk, p.nul = 0, 0, 0, 0, false
}

// count reads the line `*<n>`. ok is false if the line is incomplete or wrong, or if it must be judged
// later. behind reports that other commands of the batch come before.
func (p *Parser) count(buf []byte, behind bool) (ok bool, err error) {
	end, err := p.lineEnd(buf, '\r', errCountLine)
	if end < 0 {
		return false, err
	}
	n, ok := ascii.ParseInt(buf[1:end])
	switch {
	case !ok || n > int64(p.maxArgs()):
		return false, errCount
	case n > unauthenticatedArgs && p.Limits.Unauthenticated:
		if behind {
			return false, nil
		}
		return false, errCountAuth
	}
	p.left = int(max(n, 0))
	p.at = end + 2
	p.seen = p.at
	return true, nil
}

// bulkLength reads the line `$<n>`. Like count, it consumes the line only if ok. A length up to quick
// needs no further check.
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
	n, ok := ascii.ParseInt(buf[p.at+1 : end])
	switch {
	case !ok || n < 0 || n > int64(p.maxBulk()):
		return false, errBulk
	case n > unauthenticatedBulk && p.Limits.Unauthenticated:
		if behind {
			return false, nil
		}
		return false, errBulkAuth
	}
	p.bulk = int(n) + 1
	p.at = end + 2
	p.seen = p.at
	return true, nil
}

// lineEnd returns the position of the terminator of the line at p.at: '\n', or '\r' with another byte
// after it. Redis does not look at that byte. lineEnd returns -1 if the end has not arrived, and the
// error tooLong once the line exceeds MaxInline.
//
// A NUL hides the rest of the line, because Redis searches with strchr. The client then gets no answer
// until it has sent MaxInline bytes. Redis's own tests rely on that.
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

// add appends a command. args are the positions of its arguments in buf.
func (b *Batch) add(buf []byte, args []span) {
	b.args = slices.Grow(b.args, len(args))
	for _, s := range args {
		b.args = append(b.args, buf[s.from:s.to:s.to])
	}
	b.ends = append(b.ends, len(b.args))
}
