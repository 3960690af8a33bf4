package rdb

import (
	"bytes"
	"io"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

// Source reads what a file is made of, one after another. It holds a piece of the file at a time: at least chunk
// bytes, and at least the string that it reads. No length makes it take more memory than the file still has bytes.
type Source struct {
	p     reader
	in    io.Reader
	size  uint64 // bytes that in had at the beginning
	ahead uint64 // of them, those that p does not have yet
	crc   uint64 // of what came before held
	held  []byte // what was in p.b when crc was computed
	short bool   // there was less than a length said
	open  bool   // nobody knows yet where in ends
	err   error  // of in
}

// chunk is the number of bytes that a Source asks for at once.
const chunk = 256 << 10

// NewSource returns a Source of in, which has size bytes. Its values belong to ks.
func NewSource(in io.Reader, size int64, ks *store.Keyspace) *Source {
	s := &Source{in: in, size: uint64(size), ahead: uint64(size)}
	s.p = reader{ks: ks, file: s}
	return s
}

// endless is more than any connection brings.
const endless = 1 << 62

// NewStream is NewSource for bytes that arrive, until in ends. No length makes it take more memory than twice the
// bytes that have come.
func NewStream(in io.Reader, ks *store.Keyspace) *Source {
	s := NewSource(in, endless, ks)
	s.open = true
	return s
}

// fill reads until there are n bytes. What earlier strings refer to stays as it is.
func (s *Source) fill(n uint64) bool {
	if s == nil || s.err != nil {
		return false
	}
	if s.open {
		return s.arrive(n)
	}
	have := uint64(len(s.p.b))
	if n > have+s.ahead {
		s.short = true
		return false
	}
	s.sum()
	next := make([]byte, min(max(n, chunk), have+s.ahead))
	copy(next, s.p.b)
	if _, err := io.ReadFull(s.in, next[have:]); err != nil {
		s.err = err
		return false
	}
	s.ahead -= uint64(len(next)) - have
	s.p.b, s.held = next, next
	return true
}

// arrive is fill for a Source that NewStream has made.
func (s *Source) arrive(n uint64) bool {
	s.sum()
	next := append(make([]byte, 0, max(2*len(s.p.b), chunk)), s.p.b...)
	for uint64(len(next)) < n {
		if len(next) == cap(next) {
			next = slices.Grow(next, len(next))
		}
		got, err := s.in.Read(next[len(next):cap(next)])
		next = next[:len(next)+got]
		s.ahead -= uint64(got)
		switch {
		case err == io.EOF:
			s.short = uint64(len(next)) < n
		case err != nil:
			s.err = err
		}
		if err != nil {
			break
		}
	}
	s.p.b, s.held = next, next
	return uint64(len(next)) >= n
}

// sum adds what was read to the checksum.
func (s *Source) sum() {
	s.crc = Checksum(s.crc, s.held[:len(s.held)-len(s.p.b)])
	s.held = s.p.b
}

// behind returns the number of bytes that a reader does not have yet.
func (s *Source) behind() uint64 {
	if s == nil {
		return 0
	}
	return s.ahead
}

// Offset returns how many bytes were read.
func (s *Source) Offset() int64 { return int64(s.size - s.p.left()) }

// Left returns how many bytes are still to be read, 0 if nobody knows.
func (s *Source) Left() uint64 {
	if s.open {
		return 0
	}
	return s.p.left()
}

// Rest returns what comes after the bytes that were read.
func (s *Source) Rest() io.Reader { return io.MultiReader(bytes.NewReader(s.p.b), s.in) }

// Checksum returns the checksum of what was read.
func (s *Source) Checksum() uint64 {
	s.sum()
	return s.crc
}

// Bytes reads n bytes. After a failure they are missing or zeros.
func (s *Source) Bytes(n int) []byte { return s.p.take(uint64(n)) }

// Byte reads a byte.
func (s *Source) Byte() byte { return s.p.take(1)[0] }

// Number reads a number in the form of a length.
func (s *Source) Number() uint64 { return s.p.number() }

// Fixed reads 8 bytes, little endian.
func (s *Source) Fixed() uint64 { return s.p.fixed() }

// Text reads a string, which is valid for ever.
func (s *Source) Text() []byte { return s.p.text() }

// Value reads a value after its type. empty is that of a collection without elements, which Redis skips, because
// some of its versions wrote such. Then there is no value, and the Source continues after it.
func (s *Source) Value(kind byte) (v store.Value, empty bool) {
	v = s.p.value(kind)
	if s.p.empty && s.err == nil {
		s.p.empty, s.p.failed = false, false
		return store.Value{}, true
	}
	return v, false
}

// Err returns why something could not be read, or nil. Nothing can be read after that.
func (s *Source) Err() error {
	switch {
	case s.err != nil:
		return s.err
	case s.short:
		return ErrShort
	case s.p.failed:
		return ErrFormat
	}
	return nil
}

// ErrShort says that a file has fewer bytes than its lengths say.
const ErrShort store.Error = "the file ends too early"
