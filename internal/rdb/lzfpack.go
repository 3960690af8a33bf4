package rdb

import "math"

// packer compresses strings in the format that unpackLZF reads. It looks for the latest place with the same three
// bytes, and repeats from there as many bytes as are equal.
type packer struct {
	latest [1 << packBits]uint32 // base + place, by a hash of the three bytes there
	base   uint32                // of the string at hand: what is below belongs to earlier strings
	out    []byte
}

const (
	packBits    = 14
	shortestRef = 3       // bytes; a reference takes two or three
	longestRef  = 264     // seven, a byte, and two
	farthestRef = 1 << 13 // bytes back
	longestRun  = 32      // literal bytes after one length
)

// pack returns nil unless it saves at least four bytes, as Redis asks for. The result is valid until the next pack.
func (p *packer) pack(text []byte) []byte {
	const saved = 4
	most := len(text) - saved
	if uint64(p.base)+uint64(len(text)) >= math.MaxUint32 {
		clear(p.latest[:])
		p.base = 0
	}
	p.base++ // a place that was never written is below
	defer func() { p.base += uint32(len(text)) }()
	out, run := p.out[:0], 0 // run is the start of the literal bytes that are not written yet
	defer func() { p.out = out[:0] }()
	for i := 0; i+shortestRef <= len(text); {
		h := (uint32(text[i])<<16 | uint32(text[i+1])<<8 | uint32(text[i+2])) * 2654435761 >> (32 - packBits)
		was := p.latest[h]
		p.latest[h] = p.base + uint32(i)
		n := 0
		if back := i - int(was-p.base); was >= p.base && back <= farthestRef {
			n = equal(text[i-back:], text[i:min(i+longestRef, len(text))])
			if n >= shortestRef {
				out = appendReference(appendLiterals(out, text[run:i]), n, back)
				i += n
				run = i
			}
		}
		if n < shortestRef {
			i++
		}
		if len(out)+i-run > most {
			return nil
		}
	}
	if out = appendLiterals(out, text[run:]); len(out) > most {
		return nil
	}
	return out
}

// equal returns how many bytes of b are also at the beginning of a.
func equal(a, b []byte) int {
	for i, c := range b {
		if a[i] != c {
			return i
		}
	}
	return len(b)
}

func appendLiterals(out, text []byte) []byte {
	for len(text) > 0 {
		n := min(len(text), longestRun)
		out = append(append(out, byte(n-1)), text[:n]...)
		text = text[n:]
	}
	return out
}

// appendReference writes that n bytes are those of back bytes before.
func appendReference(out []byte, n, back int) []byte {
	n -= 2
	back--
	if n < 7 {
		return append(out, byte(n<<5|back>>8), byte(back))
	}
	return append(out, byte(7<<5|back>>8), byte(n-7), byte(back))
}
