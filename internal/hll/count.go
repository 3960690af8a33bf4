package hll

import (
	"encoding/binary"
	"math"
)

// Count estimates the number of distinct elements of s, false if s is broken.
func (s Sketch) Count() (count uint64, sound bool) {
	if s.Dense() {
		var u Union
		u.takeDense(s[headerSize:])
		return u.Count(), true
	}
	var having [64]int
	total := 0
	for r := range s.runs() {
		having[r.value] += r.n
		total += r.n
	}
	return estimate(&having), total == registers
}

// Count estimates the number of distinct elements of the union.
func (u *Union) Count() uint64 {
	// Neighbours are often equal. In one table each would wait for the one before. Most are 0 in
	// a small set.
	var parts [4][64]int
	zeros := 0
	for i := 0; i < registers; i += 8 {
		eight := binary.LittleEndian.Uint64(u[i:])
		if eight == 0 {
			zeros += 8
			continue
		}
		for range 2 {
			parts[0][eight&registerMax]++
			parts[1][eight>>8&registerMax]++
			parts[2][eight>>16&registerMax]++
			parts[3][eight>>24&registerMax]++
			eight >>= 32
		}
	}
	var having [64]int
	for value := range having {
		having[value] = parts[0][value] + parts[1][value] + parts[2][value] + parts[3][value]
	}
	having[0] += zeros
	return estimate(&having)
}

// estimate computes the count from the number of registers with each value. The formula is
// algorithm 6 of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches"
// (arXiv:1702.01284). It is good for small and large sets. The conversions keep the compiler from
// fusing a multiplication with an addition, so that all machines give the same count.
func estimate(having *[64]int) uint64 {
	const m = float64(registers)
	const alpha = 0.721347520444481703680 // 1/(2 ln 2)
	z := m * tau((m-float64(having[hashBits+1]))/m)
	for k := hashBits; k >= 1; k-- {
		z += float64(having[k])
		z *= 0.5
	}
	z += float64(m * sigma(float64(having[0])/m))
	return uint64(math.Round(alpha * m * m / z))
}

// sigma corrects for the registers that are still 0.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for before := -1.0; z != before; {
		x *= x
		before = z
		z += float64(x * y)
		y += y
	}
	return z
}

// tau corrects for the registers that have the highest value.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for before := -1.0; z != before; {
		x = math.Sqrt(x)
		before = z
		y *= 0.5
		z -= float64((1 - x) * (1 - x) * y)
	}
	return z / 3
}
