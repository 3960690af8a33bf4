package geo

import (
	"cmp"
	"math"
)

// Search decides which places lie in a shape, and which of two is nearer to its centre. Exact
// distances take long, so a search compares haversines: the square of the sine of half the angle
// between two places, seen from the centre of the earth. It grows with the distance. The exact
// distances decide only if the haversines are almost equal.
type Search struct {
	Shape
	lon, lat, cosLat float64 // of the centre, in radians
	limit            float64 // the greatest distance: the radius, or half the width of a box
	limitHaversine   float64
}

// doubt is a relative difference of two haversines. If they differ by more, the smaller one belongs to the shorter
// distance. Rounding cannot change that: Go's sines and cosines have errors of at most 1e-15.
const doubt = 1e-12

// NewSearch prepares a search in s.
func NewSearch(s Shape) *Search {
	q := &Search{Shape: s, lon: s.Center.Lon * radian, lat: s.Center.Lat * radian, limit: s.Radius * s.Unit}
	q.cosLat = cos(q.lat)
	if s.Box {
		q.limit = s.Width * s.Unit / 2
	}
	sine := math.Sin(min(q.limit/(2*EarthRadius), math.Pi/2)) // 1 for half way round the earth and more
	q.limitHaversine = sine * sine
	return q
}

// Hit is a place in the shape of a search.
type Hit struct {
	Place     Place
	haversine float64 // between the centre and the place
	metres    float64 // 0 until Distance computes it
}

// Holds reports whether p lies in the shape.
func (q *Search) Holds(p Place) (h Hit, ok bool) {
	north := alongMeridian(p.Lat, q.Center.Lat)
	if q.Box && north > q.Height*q.Unit/2 || !q.Box && north > q.limit*(1+doubt) {
		return h, false
	}
	lat := p.Lat * radian
	cosLat, u, v := math.Cos(lat), math.Sin((lat-q.lat)/2), math.Sin((p.Lon*radian-q.lon)/2)
	h = Hit{Place: p, haversine: u*u + q.cosLat*cosLat*v*v}
	if !q.Box {
		return h, q.within(h.haversine, q.Center, p)
	}
	// A box is equally wide at every latitude. It is not a rectangle of degrees.
	return h, q.within(cosLat*cosLat*v*v, p, Place{q.Center.Lon, p.Lat})
}

// within reports whether a and b, which have this haversine, are at most the limit apart.
func (q *Search) within(haversine float64, a, b Place) bool {
	if math.Abs(haversine-q.limitHaversine) > doubt*q.limitHaversine {
		return haversine < q.limitHaversine
	}
	return !(Distance(a, b) > q.limit)
}

// Compare returns -1 if a is nearer to the centre than b, 1 if it is farther, and 0 if their
// distances are equal to the last digit.
func (q *Search) Compare(a, b *Hit) int {
	if math.Abs(a.haversine-b.haversine) > doubt*b.haversine {
		return cmp.Compare(a.haversine, b.haversine)
	}
	return cmp.Compare(q.Distance(a), q.Distance(b))
}

// Distance returns the distance of h from the centre in metres, exact to the last digit.
func (q *Search) Distance(h *Hit) float64 {
	if h.metres == 0 {
		h.metres = distance(q.Center, h.Place, q.cosLat)
	}
	return h.metres
}
