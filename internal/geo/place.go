package geo

// The part of the world that has numbers is that of a square Mercator map (EPSG:900913).
const (
	MaxLon = 180
	MaxLat = 85.05112878
)

// Place is a point on the sphere, in degrees.
type Place struct{ Lon, Lat float64 }

// Valid reports whether p has a number.
func (p Place) Valid() bool {
	return p.Lon >= -MaxLon && p.Lon <= MaxLon && p.Lat >= -MaxLat && p.Lat <= MaxLat
}

// steps is the number of halvings of each side of the world for a score.
const steps = 26

// Encode is the number of the smallest cell that contains p.
func Encode(p Place) uint64 { return cellOf(p, steps, MaxLat).bits() }

// Decode is the centre of the cell with that number. A number beyond the world gives the nearest
// edge.
func Decode(bits uint64) Place {
	return Place{middle(gather(bits>>1), MaxLon), middle(gather(bits), MaxLat)}
}

// middle is the middle of the smallest column or row with number i, in degrees.
func middle(i uint32, limit float64) float64 {
	const part = 1.0 / (1 << steps)
	return clamp((side(float64(i), part, limit)+side(float64(i)+1, part, limit))/2, limit)
}

// side is the western or southern side of column or row i, in degrees. Each is that part of the
// world, a power of two.
func side(i, part, limit float64) float64 { return -limit + i*part*(2*limit) }

func clamp(v, limit float64) float64 { return max(-limit, min(v, limit)) }

// Text is the geohash of a place as other systems write it: eleven letters of five bits. Their
// world reaches to the poles. The last letter would need three more bits than there are.
func Text(p Place) string {
	const letters, length = "0123456789bcdefghjkmnpqrstuvwxyz", 11
	bits := cellOf(p, steps, 90).bits()
	var name [length]byte
	for i := range name[:length-1] {
		name[i] = letters[bits>>(2*steps-5*(i+1))&31]
	}
	name[length-1] = letters[0]
	return string(name[:])
}

// cell is a rectangle of the world: its column and row after that many halvings. At the very end of
// the world both are one too large.
type cell struct {
	col, row uint32
	steps    int
}

func cellOf(p Place, steps int, maxLat float64) cell {
	n := float64(int(1) << steps)
	return cell{
		col: uint32((p.Lon + MaxLon) / (2 * MaxLon) * n),
		row: uint32((p.Lat + maxLat) / (2 * maxLat) * n), steps: steps,
	}
}

// bits interleaves the bits of column and row, column first.
func (c cell) bits() uint64 { return spread(c.col)<<1 | spread(c.row) }

// bounds are the sides of a cell in degrees.
func (c cell) bounds() (west, south, east, north float64) {
	part := 1 / float64(int(1)<<c.steps)
	return side(float64(c.col), part, MaxLon), side(float64(c.row), part, MaxLat),
		side(float64(c.col)+1, part, MaxLon), side(float64(c.row)+1, part, MaxLat)
}

// beside is the cell that many columns to the east and rows to the north. The world continues at
// its other end in both directions. Across a pole that is wrong, but it only finds nothing.
func (c cell) beside(east, north int) cell {
	last := uint32(1)<<c.steps - 1
	if east != 0 {
		c.col = (c.col + uint32(east)) & last
	}
	if north != 0 {
		c.row = (c.row + uint32(north)) & last
	}
	return c
}

// scores is the range first <= n < end of the numbers of the smallest cells in c.
func (c cell) scores() (first, end uint64) {
	shift := 2 * (steps - c.steps)
	return c.bits() << shift, (c.bits() + 1) << shift
}

// spread puts a 0 before every bit. It moves the upper half away, then the upper halves of the
// halves, and so on.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & 0x5555555555555555
}

// gather takes every second bit, from the lowest on. It reverses spread.
func gather(x uint64) uint32 {
	x &= 0x5555555555555555
	x = (x | x>>1) & 0x3333333333333333
	x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16)
}
