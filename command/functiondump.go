package command

import (
	"encoding/binary"
	"hash/crc64"
	"strconv"
)

// The payload of FUNCTION DUMP is a piece of an RDB file (rdb.c; cluster.c:
// createDumpPayload): for each library the byte 245 and its code as a string, then the
// version of the format and a checksum of all before it, both little endian.
//
// Code is written plainly. What a Redis with rdbcompression has written, and any other
// form in which RDB writes strings, is read.

const (
	opcodeFunction = 245

	// Redis 7.2 writes version 11 and reads all up to it. Nothing about libraries has
	// changed since version 10, which Redis 7.0 reads too: so that is written.
	rdbVersionWritten = 10
	rdbVersionRead    = 11

	footer = 10 // bytes of the version and the checksum

	// The polynomial of the checksum, by Jones, with its bits the other way round.
	jones = 0x95ac9329ac4bc9b5
)

// checksum starts at zero and ends as it is, where package crc64 inverts both.
func checksum(b []byte) uint64 {
	return ^crc64.Update(^uint64(0), crc64.MakeTable(jones), b)
}

func dumpLibraries(code []string) []byte {
	var b []byte
	for _, text := range code {
		b = append(b, opcodeFunction)
		b = appendLength(b, len(text))
		b = append(b, text...)
	}
	b = binary.LittleEndian.AppendUint16(b, rdbVersionWritten)
	return binary.LittleEndian.AppendUint64(b, checksum(b))
}

// appendLength writes a length in 6, 14 or 32 bits, which is enough for an argument.
func appendLength(b []byte, n int) []byte {
	switch {
	case n < 1<<6:
		return append(b, byte(n))
	case n < 1<<14:
		return append(b, 0x40|byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(append(b, 0x80), uint32(n))
}

// readLibraries returns the code in a payload, up to the first thing wrong with it:
// whoever runs the code finds what is wrong there first, as Redis does.
func readLibraries(payload []byte) (code [][]byte, err error) {
	end := len(payload) - footer
	if end < 0 {
		return nil, errPayload
	}
	version := binary.LittleEndian.Uint16(payload[end:])
	sum := binary.LittleEndian.Uint64(payload[end+2:])
	if version > rdbVersionRead || sum != checksum(payload[:end+2]) {
		return nil, errPayload
	}
	for p := (rdbReader{b: payload}); len(p.b) > footer; { // a string may reach into it, Redis does not mind
		if p.take(1)[0] != opcodeFunction {
			return code, errPayloadType
		}
		text := p.text()
		if p.failed {
			return code, errPayloadContents
		}
		code = append(code, text)
	}
	return code, nil
}

// rdbReader reads from b, until it has failed.
type rdbReader struct {
	b      []byte
	failed bool
}

// take returns the next n bytes. If there are fewer, it fails, and returns zeros
// where the few bytes of a number are wanted.
func (p *rdbReader) take(n int) []byte {
	if n < 0 || n > len(p.b) {
		p.b, p.failed = nil, true
		return make([]byte, min(max(n, 0), 8))
	}
	taken := p.b[:n]
	p.b = p.b[n:]
	return taken
}

// length reads a length, or, when it is special, the code of a form that a string can
// have instead (rdb.c: rdbLoadLenByRef).
func (p *rdbReader) length() (n int, special bool) {
	first := p.take(1)[0]
	switch {
	case first>>6 == 0:
		return int(first), false
	case first>>6 == 1:
		return int(first&0x3f)<<8 | int(p.take(1)[0]), false
	case first>>6 == 3:
		return int(first & 0x3f), true
	case first == 0x80:
		return int(binary.BigEndian.Uint32(p.take(4))), false
	case first == 0x81:
		return int(binary.BigEndian.Uint64(p.take(8))), false
	}
	p.failed = true
	return 0, false
}

// The special forms of a string: a number in 8, 16 or 32 bits, and compressed.
const (
	rdbInt8 = iota
	rdbInt16
	rdbInt32
	rdbLZF
)

func (p *rdbReader) text() []byte {
	n, special := p.length()
	if !special {
		return p.take(n)
	}
	switch n {
	case rdbInt8:
		return strconv.AppendInt(nil, int64(int8(p.take(1)[0])), 10)
	case rdbInt16:
		return strconv.AppendInt(nil, int64(int16(binary.LittleEndian.Uint16(p.take(2)))), 10)
	case rdbInt32:
		return strconv.AppendInt(nil, int64(int32(binary.LittleEndian.Uint32(p.take(4)))), 10)
	case rdbLZF:
		packed, _ := p.length()
		unpacked, _ := p.length()
		text, ok := unpackLZF(p.take(packed), unpacked)
		p.failed = p.failed || !ok
		return text
	}
	p.failed = true
	return nil
}

// unpackLZF undoes LibLZF's compression: a byte below 32 is followed by that many
// literal bytes and one; any other is the beginning of a reference, which repeats what
// stands a distance back. Its upper three bits are the length less two, seven of them
// being added to by the next byte; the lower five and one byte more are the distance
// less one. It fails unless exactly size bytes come out.
func unpackLZF(packed []byte, size int) (_ []byte, ok bool) {
	const longest = 264 // of what three bytes repeat
	if size < 0 || size > longest*len(packed) {
		return nil, false
	}
	out := make([]byte, 0, size)
	for i := 0; i < len(packed); {
		lead := int(packed[i])
		i++
		if lead < 32 {
			end := i + lead + 1
			if end > len(packed) {
				return nil, false
			}
			out = append(out, packed[i:end]...)
			i = end
			continue
		}
		length, back := lead>>5+2, lead&0x1f<<8
		if lead>>5 == 7 && i < len(packed) {
			length += int(packed[i])
			i++
		}
		if i == len(packed) {
			return nil, false
		}
		from := len(out) - back - int(packed[i]) - 1
		i++
		if from < 0 || len(out)+length > size {
			return nil, false
		}
		for k := range length { // byte by byte: what is repeated may overlap
			out = append(out, out[from+k])
		}
	}
	return out, len(out) == size
}
