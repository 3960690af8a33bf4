package aof

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/persist/disk"
)

const (
	numberLine     = 126      // the most bytes in the line of a number (redis-check-aof.c: readLong)
	annotationLine = 1023     // the most bytes in an annotation (server.h: AOF_ANNOTATION_LINE_MAX_LEN)
	chunk          = 64 << 10 // the most bytes that a reader asks for at once
)

// The ways to end too early.
const (
	errShort disk.Error = "the file ends in the middle of a command"
	errNote  disk.Error = "the file ends in the middle of an annotation"
	errMulti disk.Error = "the file ends in the middle of a transaction: its EXEC is missing"
)

// reader reads the records of one part.
type reader struct {
	*Loading
	in    *bufio.Reader
	path  string
	size  int64 // of the part
	at    int64 // bytes that were read
	whole int64 // the bytes before this one are whole commands and transactions
	multi bool  // MULTI has come, and EXEC has not
	argv  [][]byte
}

func newReader(l *Loading, in io.Reader, size int64, path string) *reader {
	return &reader{Loading: l, in: buffered(in, size), path: path, size: size}
}

// buffered reads size bytes through a buffer that has room for every line.
func buffered(in io.Reader, size int64) *bufio.Reader {
	return bufio.NewReaderSize(in, int(min(max(size, annotationLine), chunk)))
}

// beginsWithRDB reports whether the part begins with an RDB file (aof.c: loadSingleAppendOnlyFile).
func (r *reader) beginsWithRDB() (bool, error) {
	head, err := r.in.Peek(int(min(r.size, int64(len("VALKEY")))))
	if err != nil {
		return false, r.damage(0, err)
	}
	return bytes.HasPrefix(head, []byte("REDIS")) || bytes.HasPrefix(head, []byte("VALKEY")), nil
}

// base lets Base read the RDB file.
func (r *reader) base() error {
	n, rest, err := r.Base(r.in, r.size, r.path)
	if err != nil {
		return err
	}
	r.in, r.at, r.whole = buffered(rest, r.size-n), n, n
	return nil
}

// records reads annotations and commands up to the end (redis-check-aof.c: checkSingleAof).
func (r *reader) records() error {
	for r.at < r.size {
		from := r.at
		if err := r.record(); err != nil {
			return r.damage(from, err)
		}
		if !r.multi {
			r.whole = r.at
		}
	}
	if r.multi {
		return r.damage(r.whole, errMulti)
	}
	return nil
}

// damage is what is wrong with the record that begins at from.
func (r *reader) damage(from int64, why error) *DamageError {
	if errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF) {
		why = errors.New("the file became shorter while it was read")
	}
	return &DamageError{
		File: r.path, Offset: from, Whole: r.whole, Why: why.Error(),
		Truncated: why == errShort || why == errNote || why == errMulti,
	}
}

func (r *reader) record() error {
	mark, err := r.in.Peek(1)
	if err != nil {
		return err
	}
	switch mark[0] {
	case '#':
		return r.annotation()
	case '*':
		return r.command()
	}
	return fmt.Errorf("a command begins with '*', and here is %q", mark[0])
}

// line reads a line of at most that many bytes with its end.
func (r *reader) line(most int) ([]byte, error) {
	n := int(min(int64(most), r.size-r.at))
	b, err := r.in.Peek(n)
	if err != nil {
		return nil, err
	}
	end := bytes.IndexByte(b, '\n') + 1
	if end == 0 && n < most {
		return nil, errShort
	}
	if end == 0 {
		return nil, fmt.Errorf("the line has no end: %.20q...", b)
	}
	_, _ = r.in.Discard(end)
	r.at += int64(end)
	return b[:end], nil
}

// annotation reads a line that begins with #. The time is the only one that Redis writes (aof.c:
// genAofTimestampAnnotationIfNeeded).
func (r *reader) annotation() error {
	line, err := r.line(annotationLine)
	if err == errShort {
		return errNote
	}
	if err != nil {
		return err
	}
	if text, is := bytes.CutPrefix(line, []byte("#TS:")); is {
		if unix, ok := ascii.ParseInt(bytes.TrimSuffix(text, []byte("\r\n"))); ok {
			r.Stamp(unix)
		}
	}
	return nil
}

// command reads a command and calls Command.
func (r *reader) command() error {
	argv, err := r.arguments()
	if err != nil {
		return err
	}
	if err := r.bracket(argv[0]); err != nil {
		return err
	}
	return r.Command(argv)
}

// arguments reads those of a command. Nearly all commands are whole in the buffer, and well formed.
func (r *reader) arguments() ([][]byte, error) {
	held, _ := r.in.Peek(r.in.Buffered())
	argv, n := wholeCommand(held, r.argv[:0])
	if n == 0 || int64(n) > r.size-r.at {
		return r.argumentsOneByOne()
	}
	r.argv = argv
	_, _ = r.in.Discard(n) // the bytes stay in the buffer until the next read
	r.at += int64(n)
	return argv, nil
}

// wholeCommand appends the arguments at the beginning of b to argv, without a copy, and returns how many bytes they
// have. That is 0 for whatever is unusual.
func wholeCommand(b []byte, argv [][]byte) (all [][]byte, bytes int) {
	count, at := plainNumber(b, 0, '*')
	if count == 0 || count > mostInBuffer {
		return argv, 0
	}
	for range count {
		n, from := plainNumber(b, at, '$')
		end := from + n
		if from == 0 || end+2 > len(b) || b[end] != '\r' || b[end+1] != '\n' {
			return argv, 0
		}
		argv = append(argv, b[from:end:end])
		at = end + 2
	}
	return argv, at
}

// mostInBuffer is the most arguments of a command that are kept for the next one.
const mostInBuffer = 1 << 10

// plainNumber reads the line of a number at a place of b, and returns where the next one begins. That is 0 unless the
// line is whole and the number is one as servers write it.
func plainNumber(b []byte, at int, mark byte) (n, next int) {
	if at >= len(b) || b[at] != mark {
		return 0, 0
	}
	first := at + 1
	for i := first; i+1 < len(b) && i < first+8; i++ {
		c := b[i] - '0'
		switch {
		case c <= 9 && (n > 0 || i == first):
			n = 10*n + int(c)
		case i > first && b[i] == '\r' && b[i+1] == '\n':
			return n, i + 2
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// argumentsOneByOne reads arguments that are long, or says what is wrong with them.
func (r *reader) argumentsOneByOne() ([][]byte, error) {
	n, err := r.number('*')
	if err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("a command of %d arguments", n)
	}
	var argv [][]byte
	for range n {
		arg, err := r.argument()
		if err != nil {
			return nil, err
		}
		argv = append(argv, arg)
	}
	return argv, nil
}

// bracket notices MULTI and EXEC.
func (r *reader) bracket(name []byte) error {
	switch {
	case ascii.EqualFold(name, "multi"):
		if r.multi {
			return errors.New("MULTI inside MULTI")
		}
		r.multi = true
	case ascii.EqualFold(name, "exec"):
		if !r.multi {
			return errors.New("EXEC without MULTI")
		}
		r.multi = false
	}
	return nil
}

// number reads a line of a number after a mark.
func (r *reader) number(mark byte) (int64, error) {
	if r.at == r.size {
		return 0, errShort
	}
	line, err := r.line(numberLine)
	if err != nil {
		return 0, err
	}
	if line[0] != mark {
		return 0, fmt.Errorf("'%c' is expected here, and there is %q", mark, line[0])
	}
	n, ok := ascii.ParseInt(bytes.TrimSuffix(line[1:], []byte("\r\n")))
	if !ok {
		return 0, fmt.Errorf("no number with \\r\\n at its end: %.20q", line)
	}
	return n, nil
}

// argument reads a length and as many bytes.
func (r *reader) argument() ([]byte, error) {
	n, err := r.number('$')
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, fmt.Errorf("an argument of %d bytes", n)
	}
	if n > r.size-r.at-2 {
		return nil, errShort
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r.in, b); err != nil {
		return nil, err
	}
	end, err := r.in.Peek(2)
	if err != nil {
		return nil, err
	}
	if end[0] != '\r' || end[1] != '\n' {
		return nil, fmt.Errorf("an argument of %d bytes has no \\r\\n behind it", n)
	}
	_, _ = r.in.Discard(2)
	r.at += n + 2
	return b, nil
}
