package hll

import "encoding/binary"

const (
	registerBits = 6
	registerMax  = 1<<registerBits - 1
)

// denseRegister reads register i of the dense form. Its six bits may begin in one byte and end in
// the next.
func denseRegister(b []byte, i int) uint8 {
	at, shift := i*registerBits/8, i*registerBits%8
	v := uint(b[at]) >> shift
	if shift > 8-registerBits {
		v |= uint(b[at+1]) << (8 - shift)
	}
	return uint8(v & registerMax)
}

func setDense(b []byte, i int, value uint8) {
	at, shift := i*registerBits/8, i*registerBits%8
	b[at] = b[at]&^byte(registerMax<<shift) | value<<shift
	if shift > 8-registerBits {
		b[at+1] = b[at+1]&^byte(registerMax>>(8-shift)) | value>>(8-shift)
	}
}

func raiseDense(b []byte, i int, value uint8) (changed bool) {
	if denseRegister(b, i) >= value {
		return false
	}
	setDense(b, i, value)
	return true
}

// takeDense merges the registers of a dense sketch, eight at a time.
func (u *Union) takeDense(packed []byte) {
	for i := 0; i < registers; i += 8 {
		six := (*[6]byte)(packed) // six bytes hold eight registers
		eight := spread(uint64(binary.LittleEndian.Uint32(six[:])) | uint64(binary.LittleEndian.Uint16(six[4:]))<<32)
		at := (*[8]byte)(u[i:])
		binary.LittleEndian.PutUint64(at[:], larger(binary.LittleEndian.Uint64(at[:]), eight))
		packed = packed[6:]
	}
}

// spread moves eight registers of six bits to eight bytes. Each step moves the upper half of each group to
// the upper half of a group that is twice as wide.
func spread(b uint64) uint64 {
	b = b&0x0000000000ffffff | b<<8&0x00ffffff00000000
	b = b&0x00000fff00000fff | b<<4&0x0fff00000fff0000
	return b&0x003f003f003f003f | b<<2&0x3f003f003f003f00
}

// larger returns the larger of each pair of bytes. All are below 128, so the highest bit of a byte is free:
// it stays set in the difference where a is at least b.
func larger(a, b uint64) uint64 {
	const high = 0x8080808080808080
	atLeast := ((a | high) - b) & high
	mask := atLeast - atLeast>>7 // 127 in each of these bytes
	return a&mask | b&^mask
}

// Densify gives s the dense form. It returns false and changes nothing if s is broken.
func (s *Sketch) Densify() (sound bool) {
	if s.Dense() {
		return true
	}
	d := make(Sketch, denseSize)
	copy(d, (*s)[:headerSize])
	d[formAt] = dense
	i := 0
	for r := range s.runs() {
		if r.value == 0 {
			i += r.n
			continue
		}
		if i+r.n > registers {
			break // as in takeSparse
		}
		for range r.n {
			setDense(d[headerSize:], i, r.value)
			i++
		}
	}
	if i != registers {
		return false
	}
	*s = d
	return true
}

// Register is register i of a dense sketch.
func (s Sketch) Register(i int) uint8 { return denseRegister(s[headerSize:], i) }

// Registers is the number of registers.
const Registers = registers
