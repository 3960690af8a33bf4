package geo

import "math"

// EarthRadius is the mean radius in metres that Redis reckons with.
const EarthRadius = 6372797.560856

// radian is one degree. The division is that of two doubles, as in C: the exact
// quotient may differ in the last bit, and with it every distance.
const radian = float64(math.Pi) / 180

// Distance is how many metres lie between two places on a sphere. It is the outcome
// of many roundings, all of which have to be the same as in Redis for a stored
// distance to be.
func Distance(a, b Place) float64 { return haversine(a, b, sin, cos, asin) }

// roughly is Distance but for the last digits, and much faster.
func roughly(a, b Place) float64 { return haversine(a, b, math.Sin, math.Cos, math.Asin) }

// The conversions keep processors from rounding a product and a sum in one go.
func haversine(a, b Place, sin, cos, asin func(float64) float64) float64 {
	v := sin((b.Lon*radian - a.Lon*radian) / 2)
	if v == 0 {
		return alongMeridian(a.Lat, b.Lat)
	}
	lat1, lat2 := a.Lat*radian, b.Lat*radian
	u := sin((lat2 - lat1) / 2)
	h := float64(u*u) + float64(cos(lat1)*cos(lat2)*v*v)
	return 2 * EarthRadius * asin(math.Sqrt(h))
}

func alongMeridian(lat1, lat2 float64) float64 {
	return EarthRadius * math.Abs(lat2*radian-lat1*radian)
}
