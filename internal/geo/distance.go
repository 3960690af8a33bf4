package geo

import "math"

// EarthRadius is the mean radius in metres that Redis uses.
const EarthRadius = 6372797.560856

// radian is one degree. The division is one of two doubles, as in C. The exact quotient may differ
// in the last bit, and then every distance differs.
const radian = float64(math.Pi) / 180

// Distance is the distance of two places on a sphere in metres. Each rounding must be that of
// Redis, because a stored distance shows all digits. The conversions to float64 keep a processor
// from rounding a product and a sum in one step.
func Distance(a, b Place) float64 { return distance(a, b, cos(a.Lat*radian)) }

// distance is Distance with the cosine of a's latitude.
func distance(a, b Place, cosLat float64) float64 {
	v := sin((b.Lon*radian - a.Lon*radian) / 2)
	if v == 0 {
		return alongMeridian(a.Lat, b.Lat)
	}
	lat1, lat2 := a.Lat*radian, b.Lat*radian
	u := sin((lat2 - lat1) / 2)
	h := float64(u*u) + float64(cosLat*cos(lat2)*v*v)
	return 2 * EarthRadius * asin(math.Sqrt(h))
}

func alongMeridian(lat1, lat2 float64) float64 {
	return EarthRadius * math.Abs(lat2*radian-lat1*radian)
}
