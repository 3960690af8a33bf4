package dialect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionsAreComparedPartByPart(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"8.10.0", "8.8.0", 1}, {"8.8", "8.10", -1}, {"7.2", "7.2.0", 0}, {"7.2.6", "7.2", 1},
		{"10", "9.9.9", 1}, {"", "0.0", 0},
	} {
		require.Equal(t, c.want, Compare(c.a, c.b), "%s and %s", c.a, c.b)
		require.Equal(t, -c.want, Compare(c.b, c.a), "%s and %s", c.b, c.a)
	}
}

func TestADialectHasWhatItsFamilyHadByThen(t *testing.T) {
	for _, c := range []struct {
		since Since
		in    []string
	}{
		{"1.0.0", Names()},
		{"7.2.0", Names()},
		{"8.4.0,8.1.0", []string{
			"redis-8.4", "redis-8.6", "redis-8.8", "redis-8.10", "valkey-8.1", "valkey-9.0", "valkey-9.1", "valkey-9.2"}},
		{"8.10.0,", []string{"redis-8.10"}},
		{",9.0.0", []string{"valkey-9.0", "valkey-9.1", "valkey-9.2"}},
	} {
		var in []string
		for _, d := range Known() {
			if d.Has(c.since) {
				in = append(in, d.Name)
			}
		}
		require.Equal(t, c.in, in, "%q", c.since)
	}
}

func TestTheFirstDialectIsTheDefault(t *testing.T) {
	require.Equal(t, Default, Known()[0].Name)
	require.Equal(t, Known()[0], Named(Default))
	require.Panics(t, func() { Named("redis-7.3") })
}
