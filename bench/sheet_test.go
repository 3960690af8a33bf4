package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// threeRows has a row without a ratio, because redis-server used nothing.
func threeRows() *sheet {
	return &sheet{
		servers: []string{"redis-server", "miniredisd", "valkey-server"},
		columns: []column{{"CPU", "%.1f"}, {"rate", "%.0f"}},
		rows: []row{
			{"none", "b", [][]float64{{0, 10}, {1, 10}, {1, 10}}},
			{"good", "a", [][]float64{{4, 10}, {1, 40}, {4, 10}}},
			{"bad", "b", [][]float64{{2, 10}, {8, 5}, {1, 20}}},
		},
	}
}

func TestWorstRowsComeFirstAndRowsWithoutARatioLast(t *testing.T) {
	s := threeRows()
	s.worstFirst()
	require.Equal(t, [][]string{
		{
			"row", "CPU x, miniredisd", "CPU x, valkey", "rate x, miniredisd", "rate x, valkey",
			"CPU, redis", "CPU, miniredisd", "CPU, valkey", "rate, redis", "rate, miniredisd", "rate, valkey",
		},
		{"bad", "4.00", "0.50", "0.50", "2.00", "2.0", "8.0", "1.0", "10", "5", "20"},
		{"good", "0.25", "1.00", "4.00", "1.00", "4.0", "1.0", "4.0", "10", "40", "10"},
		{"none", "-", "-", "1.00", "1.00", "0.0", "1.0", "1.0", "10", "10", "10"},
	}, s.table())
}

func TestGeometricMeansAreTakenOverAllRowsAndOverGroups(t *testing.T) {
	require.Equal(t, [][]string{
		{"geometric mean", "rows", "CPU x, miniredisd", "CPU x, valkey", "rate x, miniredisd", "rate x, valkey"},
		{"all", "3", "1.00", "0.71", "1.26", "1.26"},
		{"a", "1", "0.25", "1.00", "4.00", "1.00"},
		{"b", "2", "4.00", "0.50", "0.71", "1.41"},
	}, threeRows().means())
	require.InDelta(t, 2, geometricMean([]float64{1, 4, math.NaN()}), 1e-9)
	require.True(t, math.IsNaN(geometricMean(nil)))
}

func TestAReportHasWhatWasRunAndEveryRow(t *testing.T) {
	text := threeRows().markdown("Title", []string{"the machine"})
	require.Contains(t, text, "# Title\n\n- the machine\n")
	require.Contains(t, text, "| all | 3 | 1.00 | 0.71 | 1.26 | 1.26 |\n")
	require.Contains(t, text, "| bad | 4.00 | 0.50 | 0.50 | 2.00 | 2.0 | 8.0 | 1.0 | 10 | 5 | 20 |\n")
}

func TestAServerAloneHasFiguresButNoRatios(t *testing.T) {
	s := sheet{servers: []string{ours}, columns: []column{{"CPU", "%.1f"}}, rows: []row{{"get", "a", [][]float64{{2}}}}}
	require.Nil(t, s.means())
	require.Equal(t, [][]string{{"row", "CPU, miniredisd"}, {"get", "2.0"}}, s.table())
}

func TestNamedProgramsTakePart(t *testing.T) {
	path, err := os.Executable()
	require.NoError(t, err)
	names := func(p programs) (names []string) {
		list, err := p.contenders(t.TempDir())
		require.NoError(t, err)
		for _, c := range list {
			names = append(names, c.name)
			require.True(t, filepath.IsAbs(c.command[0]), "servers run in another folder")
		}
		return names
	}
	require.Equal(t, []string{"redis-server", "miniredisd"}, names(programs{ours: path, redis: path}))
	all := programs{ours: path, redis: path, valkey: path}
	require.Equal(t, []string{"redis-server", "miniredisd", "valkey-server"}, names(all))
	for _, wrong := range []programs{
		{ours: "/none", redis: path}, {ours: path, redis: "/none"}, {ours: path, redis: path, valkey: "/none"},
	} {
		_, err := wrong.contenders(t.TempDir())
		require.ErrorContains(t, err, "/none")
	}
}

func TestWithoutRedisServerMiniredisdIsMeasuredAlone(t *testing.T) {
	path, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("PATH", t.TempDir())
	list, err := programs{ours: path, redis: "redis-server"}.contenders(t.TempDir())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, ours, list[0].name)
}
