package miniredistest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/miniredistest"
)

func TestExploreFindsALockThatAFailoverLoses(t *testing.T) {
	r := miniredistest.Explored(t, race(plain), miniredistest.Replicas(1), only("failover"))
	require.Empty(t, itself(r))
	require.Contains(t, brokenBy(r, "failover"),
		"If a failover before a's first SET loses the last half second, b and a both hold lock:order from +0.0 s.")
	for i, row := range r.Cells {
		for j, c := range row {
			if r.Faults[j].Name != "failover" {
				require.LessOrEqual(t, c.Mark, explore.LeftBehind, "%v %s: %s", r.Points[i], r.Faults[j].Name, c.Why)
			} else if c.Mark == explore.Broken {
				require.Contains(t, c.Finding.Reason, "never replicated; 1002 was promoted at ")
			}
		}
	}
}

// confirmed is a right client that believes in its lock when a replica has it, and gives it back otherwise.
func confirmed(w *miniredistest.Worker, r *room) error {
	h := newHolder(w)
	defer h.close()
	take := func() (bool, error) {
		if got, err := h.take(); !got {
			return false, err
		}
		v, err := h.do("WAIT", "1", "900")
		if err == nil && v.Int >= 1 {
			return true, nil
		}
		_ = h.release()
		return false, err
	}
	if err := retry(take); err != nil {
		return err
	}
	r.work(w, nil)
	return h.release()
}

// deafToWait is one that asks, and does not listen.
func deafToWait(w *miniredistest.Worker, r *room) error {
	h := newHolder(w)
	defer h.close()
	if err := retry(h.take); err != nil {
		return err
	}
	_, _ = h.do("WAIT", "1", "900")
	r.work(w, nil)
	return h.release()
}

func TestALockThatAReplicaHasStandsAFailover(t *testing.T) {
	r := miniredistest.Explored(t, race(confirmed), miniredistest.Replicas(1), miniredistest.Faults("failover"))
	require.Empty(t, itself(r))
	tried := 0
	for i, row := range r.Cells {
		for j, c := range row {
			if r.Faults[j].Name != "failover" || c.Mark == explore.NotTried {
				continue
			}
			tried++
			require.NotEqual(t, explore.Broken, c.Mark, "%v: %s", r.Points[i], c.Why)
			if c.Mark == explore.Undecided {
				require.Contains(t, c.Why, "did not tell of enough replicas")
			}
		}
	}
	require.Greater(t, tried, 3)

	r = miniredistest.Explored(t, race(deafToWait), miniredistest.Replicas(1), miniredistest.Faults("failover"))
	require.NotEmpty(t, brokenBy(r, "failover"), "it works without the lock, and the test sees that")
}

func TestALockOnAMajorityStandsAFailover(t *testing.T) {
	r := miniredistest.Explored(t, queue(redlock, aMoment), miniredistest.OnMasters(3), miniredistest.Replicas(1),
		miniredistest.Faults("failover"))
	require.Empty(t, itself(r))
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
