package geo

import "math"

// Shape is what a search looks into, around a centre: a circle, or a box if one side
// is along the meridian. Lengths are in units of Unit metres.
type Shape struct {
	Center        Place
	Unit          float64
	Box           bool
	Radius        float64 // of a circle
	Width, Height float64 // of a box
}

// Holds tells whether p lies in s and how many metres from its centre.
func (s *Shape) Holds(p Place) (metres float64, ok bool) {
	if !s.Box {
		if roughly(s.Center, p) > s.Radius*s.Unit*(1+1e-9) {
			return 0, false
		}
		metres = Distance(s.Center, p)
		return metres, !(metres > s.Radius*s.Unit)
	}
	// a box is as wide at every latitude: not a rectangle of degrees
	if alongMeridian(p.Lat, s.Center.Lat) > s.Height*s.Unit/2 ||
		Distance(p, Place{s.Center.Lon, p.Lat}) > s.Width*s.Unit/2 {
		return 0, false
	}
	return Distance(s.Center, p), true
}

// reach is how far s extends from its centre, in degrees to each side.
func (s *Shape) reach() (lon, lat float64) {
	width, height := s.Unit*s.Radius, s.Unit*s.Radius
	if s.Box {
		width, height = s.Unit*(s.Width/2), s.Unit*(s.Height/2)
	}
	lat = height / EarthRadius / radian
	// meridians converge: what counts is the side that is nearer to a pole
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

// coarseness is after how many halvings cells are as large as a search of so many
// metres wants them (geohash_helper.c: geohashEstimateStepsByRadius). Near the poles
// they are narrower than elsewhere, so larger ones are taken.
func coarseness(metres, lat float64) int {
	if metres == 0 {
		return steps
	}
	n := -1 // a cell is to be twice as large as the radius at least
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

// direction is where a cell lies from that of the centre.
type direction struct{ east, north int }

// Cells calls look with the numbers, from first up to, not including, end, of each
// cell that may hold places of s, until it says that this is enough. The cell of the
// centre comes first, then its neighbours: those that share a side, then the others.
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
		// after a single halving the next cell to the west is that to the east
		if i > 0 && c == last || n > 1 && !s.reaches(center, d) {
			continue
		}
		if !look(c.scores()) {
			return
		}
		last = c
	}
}

// within tells whether the neighbours of a cell reach as far as s does. Where the
// world ends they do not: they lie at its other end.
func (s *Shape) within(center cell) bool {
	lon, lat := s.reach()
	_, _, _, north := center.beside(0, 1).bounds()
	_, south, _, _ := center.beside(0, -1).bounds()
	_, _, east, _ := center.beside(1, 0).bounds()
	west, _, _, _ := center.beside(-1, 0).bounds()
	return !(north < s.Center.Lat+lat || south > s.Center.Lat-lat || east < s.Center.Lon+lon || west > s.Center.Lon-lon)
}

// reaches tells whether s goes beyond the sides that lie between its cell and the
// neighbour in direction d.
func (s *Shape) reaches(center cell, d direction) bool {
	west, south, east, north := center.bounds()
	lon, lat := s.reach()
	return !(d.north < 0 && south < s.Center.Lat-lat || d.north > 0 && north > s.Center.Lat+lat ||
		d.east < 0 && west < s.Center.Lon-lon || d.east > 0 && east > s.Center.Lon+lon)
}
