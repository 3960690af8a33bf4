package node_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// A stored distance is a score, so all of its digits are visible. The C library rounds about one
// sine in a thousand wrongly, in its own way.
func TestStoredDistancesAreThoseOfRedisToTheLastDigit(t *testing.T) {
	t.Parallel()
	oracle := redistest.Start(t)
	r := rand.New(rand.NewPCG(1, 2))
	add := []string{"GEOADD", "g"}
	for i := range 5000 {
		lon, lat := (r.Float64()-0.5)*360*math.Pow10(-i%4), (r.Float64()-0.5)*170*math.Pow10(-i%4)
		add = append(add, fmt.Sprint(lon), fmt.Sprint(lat), fmt.Sprint("place", i))
	}
	var distances [2][]float64
	for i, addr := range []string{oracle.Addr, start(t, nil)} {
		c := redistest.Dial(t, addr)
		require.Equal(t, int64(5000), c.Do(add...).Int)
		require.Equal(t, int64(5000),
			c.Do("GEOSEARCHSTORE", "d", "g", "FROMLONLAT", "1", "2", "BYRADIUS", "30000", "km", "STOREDIST").Int)
		for n := range 5000 {
			d, err := strconv.ParseFloat(c.Do("ZSCORE", "d", fmt.Sprint("place", n)).Str, 64)
			require.NoError(t, err)
			distances[i] = append(distances[i], d)
		}
	}
	differ := 0
	for n, want := range distances[0] {
		if got := distances[1][n]; got != want {
			differ++
			require.InEpsilon(t, want, got, 1e-15)
		}
	}
	require.Less(t, differ, 50)
}
