package geo

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func anywhere(r *rand.Rand) Place {
	return Place{(r.Float64() - 0.5) * 2 * MaxLon, (r.Float64() - 0.5) * 2 * MaxLat}
}

func TestAPlaceIsKeptToHalfTheSideOfACell(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		p := anywhere(r)
		bits := Encode(p)
		require.Less(t, bits, uint64(1)<<52)
		q := Decode(bits)
		require.InDelta(t, p.Lon, q.Lon, 1.001*MaxLon/(1<<26))
		require.InDelta(t, p.Lat, q.Lat, 1.001*MaxLat/(1<<26))
		require.Equal(t, bits, Encode(q))
	}
}

func TestEveryNumberIsThatOfItsCell(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		bits := r.Uint64()
		require.Equal(t, bits, cell{gather(bits >> 1), gather(bits), steps}.bits())
		require.Equal(t, bits>>12, Encode(Decode(bits>>12)))
	}
}

// The nine cells are a shortcut. Away from the poles, where Redis's choice of them
// falls short, it has to find what looking at every place would find.
func TestNoPlaceOfAShapeIsOutsideOfItsCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	inside := 0
	for range 500 {
		s := Shape{Center: Place{(r.Float64() - 0.5) * 300, (r.Float64() - 0.5) * 100}, Unit: 1}
		size := math.Exp(r.Float64() * 14)
		s.Radius = size
		if r.IntN(2) == 0 {
			s.Box, s.Width, s.Height = true, size*r.Float64(), size*r.Float64()
		}
		search := NewSearch(s)
		var ranges [][2]uint64
		s.Cells(func(first, end uint64) bool {
			ranges = append(ranges, [2]uint64{first, end})
			return true
		})
		for range 100 {
			spread := 4 * size / EarthRadius / radian
			p := Place{s.Center.Lon + (r.Float64()-0.5)*spread, s.Center.Lat + (r.Float64()-0.5)*spread}
			if !p.Valid() {
				continue
			}
			bits, found := Encode(p), 0
			for _, cell := range ranges {
				if cell[0] <= bits && bits < cell[1] {
					found++
				}
			}
			require.LessOrEqual(t, found, 1, "in two cells")
			if _, ok := search.Holds(Decode(bits)); ok {
				inside++
				require.Equal(t, 1, found, "%+v %+v", s, p)
			}
		}
	}
	require.Greater(t, inside, 1000)
}

// reference adds up the series of sine or cosine with 300 bits.
func reference(x float64, n int64) float64 {
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	term, square := wide(1), wide(x)
	if n == 1 {
		term = wide(x)
	}
	square.Mul(square, square)
	sum := wide(0).Set(term)
	for ; n < 80; n += 2 {
		term.Mul(term, square)
		term.Quo(term, wide(float64(-(n+1)*(n+2))))
		sum.Add(sum, term)
	}
	v, _ := sum.Float64()
	return v
}

func TestSineAndCosineAreRightToTheLastDigit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		x := (r.Float64() - 0.5) * 2 * math.Pi * math.Pow10(-i%5)
		require.Equal(t, reference(x, 1), sin(x), "sin %v", x)
		require.Equal(t, reference(x, 0), cos(x), "cos %v", x)
	}
	for _, x := range []float64{0, math.Pi / 2, -math.Pi / 2, math.Pi, -math.Pi, math.Pi / 4, 1e-300} {
		require.Equal(t, reference(x, 1), sin(x), "sin %v", x)
		require.Equal(t, reference(x, 0), cos(x), "cos %v", x)
	}
}

// The arcsine is right when its neighbours' sines lie farther away.
func TestArcsineIsRightToTheLastDigit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	off := func(a, x float64) float64 {
		s := sinWide(a, 0)
		return math.Abs((s.hi - x) + s.lo)
	}
	for i := range 5000 {
		x := r.Float64() * math.Pow10(-i%5)
		a := asin(x)
		require.LessOrEqual(t, off(a, x), off(math.Nextafter(a, 2), x), "%v", x)
		require.LessOrEqual(t, off(a, x), off(math.Nextafter(a, -2), x), "%v", x)
	}
	require.Equal(t, math.Pi/2, asin(1))
	require.Zero(t, asin(0))
}

// chord is the distance by the straight line through the earth.
func chord(a, b Place) float64 {
	point := func(p Place) [3]float64 {
		lon, lat := p.Lon*radian, p.Lat*radian
		return [3]float64{math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)}
	}
	square := 0.0
	for i, v := range point(a) {
		square += (v - point(b)[i]) * (v - point(b)[i])
	}
	return 2 * EarthRadius * math.Asin(min(math.Sqrt(square)/2, 1))
}

func TestDistanceIsAboutWhatItShouldBe(t *testing.T) {
	require.InDelta(t, EarthRadius*math.Pi, Distance(Place{-90, 0}, Place{90, 0}), 1)
	require.InDelta(t, EarthRadius*math.Pi/180, Distance(Place{10, 0}, Place{10, 1}), 1e-6)
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		a, b := anywhere(r), anywhere(r)
		require.InEpsilon(t, chord(a, b), Distance(a, b), 1e-9)
		require.InEpsilon(t, Distance(b, a), Distance(a, b), 1e-14)
		require.Zero(t, Distance(a, a))
	}
}

// holdsExactly decides by exact distances alone.
func holdsExactly(s *Shape, p Place) bool {
	if !s.Box {
		return Distance(s.Center, p) <= s.Radius*s.Unit
	}
	return alongMeridian(p.Lat, s.Center.Lat) <= s.Height*s.Unit/2 &&
		Distance(p, Place{s.Center.Lon, p.Lat}) <= s.Width*s.Unit/2
}

func TestASearchDecidesAsTheExactDistancesDo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 32 {
		center := Decode(Encode(anywhere(r)))
		size := math.Pow10(-i % 8)
		places := []Place{center, {-center.Lon, -center.Lat}}
		for range 15 {
			east, north := (r.Float64()-0.5)*360*size, (r.Float64()-0.5)*170*size
			for _, side := range []float64{1, -1} { // pairs at almost the same distance
				p := Place{clamp(center.Lon+side*east, MaxLon), clamp(center.Lat+north, MaxLat)}
				places = append(places, p, Decode(Encode(p)))
			}
		}
		for _, edge := range places {
			radius := Distance(center, edge) // an edge lies exactly at the radius
			for _, s := range []Shape{
				{Center: center, Unit: 1, Radius: radius},
				{Center: center, Unit: 1, Radius: math.Nextafter(radius, 0)},
				{Center: center, Unit: 1, Box: true, Width: 2 * radius, Height: 4 * radius},
			} {
				search := NewSearch(s)
				for _, p := range places {
					_, ok := search.Holds(p)
					require.Equal(t, holdsExactly(&s, p), ok, "%+v %+v", s, p)
				}
			}
		}
		search := NewSearch(Shape{Center: center, Unit: 1, Radius: math.Inf(1)})
		for _, p := range places {
			a, ok := search.Holds(p)
			require.True(t, ok)
			require.Equal(t, Distance(center, p), search.Distance(&a))
			for _, q := range places {
				b, _ := search.Holds(q)
				require.Equal(t, cmp.Compare(Distance(center, p), Distance(center, q)), search.Compare(&a, &b), "%v %v", p, q)
			}
		}
	}
}
