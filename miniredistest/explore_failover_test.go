package miniredistest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/miniredistest"
)

func TestExploreFindsALockThatAFailoverLoses(t *testing.T) {
	r := miniredistest.Explored(t, race(plain), miniredistest.Replicas(1))
	require.Nil(t, r.Itself)
	require.Contains(t, brokenBy(r, "failover"),
		"If a failover before a's first SET loses the last half second, b and a both hold lock:order from +0.0 s.")
	for i, row := range r.Cells {
		for j, c := range row {
			if r.Faults[j].Name != "failover" {
				require.LessOrEqual(t, c.Mark, explore.LeftBehind, "%v %s: %s", r.Points[i], r.Faults[j].Name, c.Why)
			} else if c.Mark == explore.Broken {
				require.Contains(t, c.Finding.Reason, "never replicated; 7002 was promoted at ")
			}
		}
	}
}

func TestALockOnAMajorityStandsAFailover(t *testing.T) {
	r := miniredistest.Explored(t, queue(redlock, aMoment), miniredistest.OnMasters(3), miniredistest.Replicas(1),
		miniredistest.Faults("failover"))
	require.Nil(t, r.Itself)
	tried := 0
	for i, row := range r.Cells {
		for j, c := range row {
			if r.Faults[j].Name == "failover" {
				tried++
				require.LessOrEqual(t, c.Mark, explore.LeftBehind, "%v: %s", r.Points[i], c.Why)
				require.NotEqual(t, explore.NotTried, c.Mark, c.Why)
			}
		}
	}
	require.Greater(t, tried, 6)
}
