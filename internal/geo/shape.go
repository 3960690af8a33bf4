package geo

import "math"

// Shape is the area of a search around a centre: a circle, or a box with two sides along meridians.
// Lengths are in units of Unit metres.
type Shape struct {
	Center        Place
	Unit          float64
	Box           bool
	Radius        float64 // of a circle
	Width, Height float64 // of a box
}

// reach is the extent of s to each side of its centre, in degrees.
func (s *Shape) reach() (lon, lat float64) {
	width, height := s.Unit*s.Radius, s.Unit*s.Radius
	if s.Box {
		width, height = s.Unit*(s.Width/2), s.Unit*(s.Height/2)
	}
	lat = height / EarthRadius / radian
	// Meridians converge, so the side nearer to a pole counts.
	far := s.Center.Lat + lat
	if s.Center.Lat < 0 {
		far = s.Center.Lat - lat
	}
	return width / EarthRadius / math.Cos(far*radian) / radian, lat
}

// extent is the radius of the circle around s, in metres.
func (s *Shape) extent() float64 {
	if s.Box {
		return math.Sqrt(s.Width/2*(s.Width/2)+s.Height/2*(s.Height/2)) * s.Unit
	}
	return s.Radius * s.Unit
}

// mercatorMax is half the width of the map, in metres.
const mercatorMax = 20037726.37

// coarseness is the number of halvings after which cells have the right size for a search of so
// many metres (geohash_helper.c: geohashEstimateStepsByRadius). Cells are narrower near the poles,
// so larger cells are taken there.
func coarseness(metres, lat float64) int {
	if metres == 0 {
		return steps
	}
	n := -1 // a cell has to be at least twice as large as the radius
	for ; metres < mercatorMax; metres *= 2 {
		n++
	}
	switch lat = math.Abs(lat); {
	case lat > 80:
		n -= 2
	case lat > 66:
		n--
	}
	return max(1, min(n, steps))
}

// direction is the place of a cell as seen from the cell of the centre.
type direction struct{ east, north int }

// Cells calls look with the range first <= n < end of each cell that may hold places of s, until
// look returns false. The cell of the centre comes first, then the neighbours that share a side,
// then the others.
func (s *Shape) Cells(look func(first, end uint64) (more bool)) {
	n := coarseness(s.extent(), s.Center.Lat)
	center := cellOf(s.Center, n, MaxLat)
	if n > 1 && !s.within(center) {
		n--
		center = cellOf(s.Center, n, MaxLat)
	}
	var last cell
	for i, d := range [...]direction{{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}} {
		c := center.beside(d.east, d.north)
		// After one halving, the next cell to the west is also the next to the east.
		if i > 0 && c == last || n > 1 && !s.reaches(center, d) {
			continue
		}
		if !look(c.scores()) {
			return
		}
		last = c
	}
}

// within reports whether the neighbours of a cell reach as far as s. At the edge of the world they
// do not, because they lie at its other end.
func (s *Shape) within(center cell) bool {
	lon, lat := s.reach()
	_, _, _, north := center.beside(0, 1).bounds()
	_, south, _, _ := center.beside(0, -1).bounds()
	_, _, east, _ := center.beside(1, 0).bounds()
	west, _, _, _ := center.beside(-1, 0).bounds()
	return !(north < s.Center.Lat+lat || south > s.Center.Lat-lat || east < s.Center.Lon+lon || west > s.Center.Lon-lon)
}

// reaches reports whether s extends beyond the sides between its cell and the neighbour in
// direction d.
func (s *Shape) reaches(center cell, d direction) bool {
	west, south, east, north := center.bounds()
	lon, lat := s.reach()
	return !(d.north < 0 && south < s.Center.Lat-lat || d.north > 0 && north > s.Center.Lat+lat ||
		d.east < 0 && west < s.Center.Lon-lon || d.east > 0 && east > s.Center.Lon+lon)
}
