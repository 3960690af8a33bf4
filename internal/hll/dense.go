package hll

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
		if i+r.n > registers {
			return false
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
