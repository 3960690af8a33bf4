package trials

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// The points of client a in a cluster: its release at the node that has the lock.
func releases(p explore.Point) bool { return p.Client == "a" && p.Command == "EVAL" }

// marks returns the marks of the cells that were tried, by the names of the failures.
func marks(r *explore.Report) map[string][]explore.Cell {
	all := map[string][]explore.Cell{}
	for i := range r.Points {
		for j, f := range r.Faults {
			if c := r.Cells[i][j]; c.Mark != explore.NotTried {
				all[f.Name] = append(all[f.Name], c)
			}
		}
	}
	return all
}

func TestAReleaseInAClusterIsTriedWithEachFailure(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]explore.Mark{
		"cluster": {"promotion": explore.Fine, "slot-moves": explore.Fine, "slot-half": explore.Fine,
			"old-map": explore.Fine},
		"cluster-deaf": {"promotion": explore.LeftBehind, "slot-moves": explore.LeftBehind,
			"slot-half": explore.LeftBehind, "old-map": explore.LeftBehind},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, name, "promotion", "slot-moves", "slot-half", "old-map")
			o.Masters, o.Cluster = 3, true
			o.Cells = func(p explore.Point, _ explore.Fault) bool { return releases(p) }
			r := play(t, o)
			got := marks(r)
			for fault, mark := range want {
				require.NotEmpty(t, got[fault], fault)
				for _, c := range got[fault] {
					require.Equal(t, mark, c.Mark, "%s: %s", fault, c.Why)
					left := strings.Contains(c.Why, "lock:o is free again when its lease ends")
					require.Equal(t, name == "cluster-deaf", left, "%s: %s", fault, c.Why)
				}
			}
		})
	}
}

func TestAReleaseBehindSentinelIsTriedWithEachFailure(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]explore.Mark{
		"sentinel": explore.Fine, "sentinel-first": explore.LeftBehind,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, name, "promotion", "sentinel-late")
			o.Sentinels = true
			o.Cells = func(p explore.Point, _ explore.Fault) bool { return releases(p) }
			got := marks(play(t, o))
			require.Equal(t, explore.Fine, got["promotion"][0].Mark, got["promotion"][0].Why)
			require.Equal(t, late, got["sentinel-late"][0].Mark, got["sentinel-late"][0].Why)
		})
	}
}
