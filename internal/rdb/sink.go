package rdb

import (
	"encoding/binary"
	"io"

	"github.com/miniredisd/miniredisd/store"
)

// Sink writes what a file is made of, in the order of its calls. After the first error of out it writes no more. It
// holds some 64 KB, and of a value no more than one string or one small collection.
type Sink struct {
	f   form
	out io.Writer
	b   []byte // not written yet
	sum bool   // keep the checksum
	crc uint64
	err error
}

// NewSink returns a Sink to out, which writes a version of the format. compress and sum are rdbcompression and
// rdbchecksum.
func NewSink(out io.Writer, version int, compress, sum bool) *Sink {
	s := &Sink{out: out, sum: sum, f: form{version: version}}
	if compress {
		s.f.packer = &packer{}
	}
	s.f.spill = s.write
	return s
}

func (s *Sink) write(b []byte) {
	if s.sum {
		s.crc = Checksum(s.crc, b)
	}
	if s.err == nil {
		_, s.err = s.out.Write(b)
	}
}

// Bytes writes bytes.
func (s *Sink) Bytes(b ...byte) { s.b = append(s.b, b...) }

// Number writes a number in the form of a length.
func (s *Sink) Number(n uint64) { s.b = appendNumber(s.b, n) }

// Fixed writes 8 bytes, little endian.
func (s *Sink) Fixed(n uint64) { s.b = binary.LittleEndian.AppendUint64(s.b, n) }

// Text writes a string.
func (s *Sink) Text(text []byte) { s.b = s.f.text(s.b, text) }

// Value writes a value: its type, its name, and itself.
func (s *Sink) Value(name []byte, v store.Value) {
	s.f.named, s.f.name = true, name
	s.b = appendValue(s.b, v, &s.f)
}

// Err returns the first error there was. What is held back may bring one more.
func (s *Sink) Err() error { return s.err }

// Flush writes all that was held back. It returns the first error there was.
func (s *Sink) Flush() error {
	s.write(s.b)
	s.b = s.b[:0]
	return s.err
}

// Checksum returns the checksum of all that was written, 0 if nobody keeps it. Flush comes first.
func (s *Sink) Checksum() uint64 { return s.crc }
