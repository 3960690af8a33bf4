package hll

import (
	"encoding/binary"
	"fmt"
	"math"
)

const testElements = 1_000_000

// SelfTest returns a description of the first failed check, or "". It checks three things: each
// dense register keeps its value next to others, both forms count the same, and the count of a
// growing set stays within four times the expected error.
func SelfTest() (fault string) {
	d := make([]byte, registers*registerBits/8)
	for round := range registerMax + 1 {
		for i := range registers {
			setDense(d, i, uint8((i*7+round)&registerMax))
		}
		for i := range registers {
			if want, got := uint8((i*7+round)&registerMax), denseRegister(d, i); want != got {
				return fmt.Sprintf("Register %d should be %d but is %d", i, want, got)
			}
		}
	}
	expected := 1.04 / math.Sqrt(registers)
	s, twin := New(), New()
	twin.Densify()
	var element [8]byte
	for n, next := 1, 1; n <= testElements; n++ {
		binary.LittleEndian.PutUint64(element[:], uint64(n))
		s.Add(element[:], denseSize/4)
		twin.Add(element[:], 0)
		if n < next {
			continue
		}
		next *= 10
		count, _ := s.Count()
		if same, _ := twin.Count(); same != count {
			return fmt.Sprintf("dense and sparse count %d and %d", same, count)
		}
		if off := math.Abs(float64(n) - float64(count)); off > math.Ceil(4*expected*float64(n)) {
			return fmt.Sprintf("%d elements are counted as %d", n, count)
		}
	}
	return ""
}
