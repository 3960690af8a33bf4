package geo

import "math"

// Go's sine, cosine and arcsine have a wrong last bit for about one argument in ten. Those of the C
// library almost never have. GEOSEARCHSTORE with STOREDIST stores a distance as a score, which shows
// every digit: with Go's functions, three distances of ten differ from Redis (the test is
// TestStoredDistancesAreThoseOfRedisToTheLastDigit). The functions in this file compute with twice
// the digits and round once, at the end. They are wrong for fewer than one argument in 100,000. Translations
// of musl's C library to Go are no way out: they are wrong for three sines and six arcsines of a hundred.

// wide is the unevaluated sum of two doubles. lo is far below the last bit of hi.
type wide struct{ hi, lo float64 }

// sum2 and product2 are exact: lo is what rounding removes from hi.
func sum2(a, b float64) wide {
	s := a + b
	t := s - a
	return wide{s, (a - (s - t)) + (b - t)}
}

func product2(a, b float64) wide {
	p := a * b
	return wide{p, math.FMA(a, b, -p)}
}

func (a wide) plus(b wide) wide {
	s := sum2(a.hi, b.hi)
	return sum2(s.hi, s.lo+a.lo+b.lo)
}

func (a wide) times(b wide) wide {
	p := product2(a.hi, b.hi)
	return sum2(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

func (a wide) over(d float64) wide {
	q := a.hi / d
	return sum2(q, (math.FMA(-q, d, a.hi)+a.lo)/d)
}

// halfPi to 107 bits.
const halfPiHi, halfPiLo = 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54

// sin and cos move an angle of a few turns at most into the quarter around 0. A quarter turn changes
// sine to cosine.
func sin(x float64) float64 { return sinWide(x, 0).hi }
func cos(x float64) float64 { return sinWide(x, 1).hi }

// sinWide is the sine of x plus that many quarter turns.
func sinWide(x float64, quarters int) wide {
	r := wide{x, 0}
	if turns := math.RoundToEven(x / halfPiHi); turns != 0 {
		whole := wide{halfPiHi, halfPiLo}.times(wide{-turns, 0})
		r = sum2(x, whole.hi)
		r = sum2(r.hi, r.lo+whole.lo)
		quarters += int(turns)
	}
	negative := quarters&2 != 0
	if r.hi < 0 {
		r = wide{-r.hi, -r.lo}
		negative = negative != (quarters&1 == 0) // the cosine is the same
	}
	s := nearZero(r, quarters&1 != 0)
	if negative {
		return wide{-s.hi, -s.lo}
	}
	return s
}

// gridStep is the distance of two angles in grid.
const gridStep = 1.0 / 64

// grid has sine and cosine of the multiples of gridStep up to an eighth of a turn.
var grid = func() (g [51]struct{ sin, cos wide }) {
	for i := range g {
		r := wide{float64(i) * gridStep, 0}
		minusSquare := r.times(r).times(wide{-1, 0})
		g[i].sin, g[i].cos = series(r, minusSquare, 1), series(wide{1, 0}, minusSquare, 0)
	}
	return g
}()

// nearZero is the sine or cosine of an angle from 0 to an eighth of a turn. It adds two angles: the
// nearest one in grid, and a rest s so small that few terms of Taylor's series are left.
func nearZero(r wide, cosine bool) wide {
	i := int(r.hi/gridStep + 0.5)
	s := sum2(r.hi-float64(i)*gridStep, r.lo)
	square := s.times(s)
	q := square.hi
	sinS := sum2(s.hi, s.lo+s.hi*q*(-1.0/6+q*(1.0/120+q*(-1.0/5040+q/362880))))
	cosLess1 := sum2(-square.hi/2, -square.lo/2+q*q*(1.0/24+q*(-1.0/720+q/40320)))
	sin, cos := grid[i].sin, grid[i].cos
	if cosine {
		return cos.plus(cos.times(cosLess1).plus(wide{-sin.hi, -sin.lo}.times(sinS)))
	}
	return sin.plus(sin.times(cosLess1).plus(cos.times(sinS)))
}

// series adds up Taylor's terms. Each term is the one before, times -r*r, divided by the next two
// numbers of the factorial. Small terms need fewer digits.
func series(term, minusSquare wide, n float64) wide {
	total, rest := term, 0.0
	for math.Abs(term.hi) > 0x1p-30*math.Abs(total.hi) {
		term = term.times(minusSquare).over((n + 1) * (n + 2))
		total = total.plus(term)
		n += 2
	}
	for t := term.hi; math.Abs(t) > 0x1p-80*math.Abs(total.hi); n += 2 {
		t *= minusSquare.hi / ((n + 1) * (n + 2))
		rest += t
	}
	return total.plus(wide{rest, 0})
}

// asin corrects a good guess by Newton's method. One step doubles the number of digits.
func asin(x float64) float64 {
	guess := math.Asin(x)
	s := sinWide(guess, 0)
	return guess + ((x-s.hi)-s.lo)/math.Cos(guess)
}
