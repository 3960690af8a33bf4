package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestPointsArePowersSoThatEqualStepsAreLogarithmic(t *testing.T) {
	for _, c := range curves() {
		require.Equal(t, 1, c.points[0], c.name)
		for i := range c.points[2:] {
			require.Equal(t, c.points[i+1]*c.points[i+1], c.points[i]*c.points[i+2], c.name)
		}
		require.Contains(t, c.points, c.short, c.name)
	}
	require.Equal(t, []int{1, 10, 100}, powers(10, 2))
}

func TestTheShortFormLeavesOutTheLargestPoints(t *testing.T) {
	short := chosenCurves(regexp.MustCompile("^keys$"), true)
	require.Len(t, short, 1)
	require.Equal(t, powers(10, 5), short[0].points)
	require.Len(t, chosenCurves(regexp.MustCompile(""), false), len(curves()))
}

// grown is a curve that rises away from redis-server's at its last point.
func grown() drawnCurve {
	return drawnCurve{
		curve: curve{
			name: "keys", quantity: "keys", note: "A note.", points: []int{1, 1000, 1 << 20}, lines: []string{"GET"},
		},
		servers: []string{"redis-server", "miniredisd"},
		figures: [][][]float64{{{2, 2, 4}, {2, 1, 6}}},
	}
}

func TestLabelsOfManyPointsDoNotTouch(t *testing.T) {
	require.Equal(t, []string{"1", "10", "100", "1k", "10k"}, labels(powers(10, 4)))
	require.Equal(t, []string{"1", "", "16", "", "256", "", "4Ki", "", "64Ki", "", "1Mi"}, labels(powers(4, 10)))
}

func TestATableMarksWhereACurveBends(t *testing.T) {
	d := grown()
	require.Equal(t, [][]string{
		{"keys", "CPU us, redis", "CPU us, miniredisd", "x, miniredisd"},
		{"1", "2.00", "2.00", "1.00"},
		{"1000", "2.00", "1.00", "0.50"},
		{"1048576", "4.00", "6.00", "1.50 bends"},
	}, d.table(0))
	d.figures[0][1][2] = 3.8
	require.Equal(t, "0.95", d.table(0)[3][3], "a ratio below 1 is no bend")
}

func TestTheReportOfGrowthHasATableAndADrawing(t *testing.T) {
	dir := t.TempDir()
	g := &growth{about: []string{"the machine"}, drawn: []drawnCurve{grown()}}
	require.NoError(t, g.write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "scale.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "- the machine\n")
	require.Contains(t, string(text), "## keys\n\nA note.\n\n![keys](scale-keys.svg)\n\n### keys: GET\n")
	require.Contains(t, string(text), "| 1048576 | 4.00 | 6.00 | 1.50 bends |\n")
	drawing, err := os.ReadFile(filepath.Join(dir, "scale-keys.svg"))
	require.NoError(t, err)
	for _, word := range []string{"1k", "1Mi", "redis-server", "miniredisd"} {
		require.Contains(t, string(drawing), ">"+word+"<")
	}
}

func TestPointsBeyondTheOpenFilesAreLeftOutByName(t *testing.T) {
	g := &growth{}
	c := g.fit(curve{name: "connections", points: []int{1, 10, 100}}, 50)
	require.Equal(t, []int{1, 10}, c.points)
	require.Equal(t, []string{"left out: connections 100: more open files than the system allows"}, g.about)
}

func TestAFleetSendsWhatItCounts(t *testing.T) {
	s, err := twoServers(t)[1].start(anyCore)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	f, err := openFleet(s.addr, 5)
	require.NoError(t, err)
	defer f.close()
	n, err := f.drive(job{args: []string{"INCR", "counter:__rand_int__"}, n: 1000, pipeline: 4, keys: 10})
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	require.Contains(t, redistest.Dial(t, s.addr).Do("INFO", "commandstats").Str, "cmdstat_incr:calls=1000,")
	_, err = f.drive(job{args: []string{"INCR"}, n: 5, pipeline: 1, keys: 1})
	require.ErrorContains(t, err, "wrong number of arguments")
}

func TestEveryCurveIsMeasuredOnEveryServer(t *testing.T) {
	chosen := curves()
	for i := range chosen {
		chosen[i].points = chosen[i].points[:3]
	}
	g := &growth{contenders: twoServers(t), cores: unpinned(), rounds: 1, share: 0.01}
	require.NoError(t, g.run(chosen))
	require.Len(t, g.drawn, len(chosen))
	for _, d := range g.drawn {
		for _, line := range d.figures {
			require.Len(t, line, 2)
			for _, points := range line {
				require.Len(t, points, 3)
				for _, v := range points {
					require.Positive(t, v, d.name)
				}
			}
		}
	}
}

func TestACurveEndsBeforeThePointAtWhichAServerGivesUp(t *testing.T) {
	c := grown().curve
	c.measure = func(s *server, x int, _ float64) ([]float64, error) {
		if x > 1000 {
			return nil, errors.New("connection timed out")
		}
		return []float64{1}, nil
	}
	g := &growth{contenders: twoServers(t), cores: unpinned(), rounds: 1, share: 1}
	require.NoError(t, g.run([]curve{c}))
	require.Equal(t, []int{1, 1000}, g.drawn[0].points)
	require.Contains(t, g.about[len(g.about)-1], "left out: keys from 1048576 on: ")
	c.points = c.points[2:]
	require.ErrorContains(t, g.run([]curve{c}), "connection timed out")
}
