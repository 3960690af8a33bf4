package miniredistest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// onDisk is a disk with this appendfsync.
func onDisk(fsync string) []miniredistest.Option {
	return []miniredistest.Option{miniredistest.Disk(), miniredistest.Config("--appendfsync", fsync),
		miniredistest.Faults("power-cut", "fsync-fails", "disk-full")}
}

// brokenBy returns the sentences of what a failure has broken.
func brokenBy(r *explore.Report, fault string) (all []string) {
	for _, row := range r.Cells {
		for j, c := range row {
			if r.Faults[j].Name == fault && c.Mark == explore.Broken {
				all = append(all, c.Finding.Sentence)
			}
		}
	}
	return all
}

// The same client is right on a disk that has what was answered, and wrong on one that may lose it.
func TestExploreFindsALockThatTrustsEverysec(t *testing.T) {
	r := miniredistest.Explored(t, race(plain), onDisk("everysec")...)
	require.Empty(t, itself(r))
	found := brokenBy(r, "power-cut")
	require.Contains(t, found,
		"If the power of the server is cut before a's first SET, b and a both hold lock:order from +0.7 s.")
	require.Empty(t, brokenBy(r, "fsync-fails"), "the client hears of it")
	require.Empty(t, brokenBy(r, "disk-full"), "the client hears of it")
}

func TestExploreFindsNothingInALockOnADiskThatIsFsyncedAlways(t *testing.T) {
	for name, test := range map[string]func(*miniredistest.Trial){"plain": race(plain), "watched": race(watched)} {
		r := miniredistest.Explored(t, test, onDisk("always")...)
		require.Empty(t, itself(r))
		require.Zero(t, r.Untried)
		tried := 0
		for i, row := range r.Cells {
			for j, c := range row {
				at := name + ": " + r.Points[i].Client + " " + r.Points[i].Command + " " + r.Faults[j].Name
				require.LessOrEqual(t, c.Mark, explore.LeftBehind, at+": "+c.Why)
				switch r.Faults[j].Name {
				case "power-cut":
					tried++
					require.NotEqual(t, explore.NotTried, c.Mark, at+": "+c.Why)
				case "disk-full", "fsync-fails":
					require.Equal(t, "with appendfsync always the server ends when its file fails", c.Why, at)
				}
			}
		}
		require.Greater(t, tried, 3)
	}
}

func TestExploreFindsLocksThatDoNotHearOfAFullDisk(t *testing.T) {
	for name, c := range map[string]struct {
		client   lockClient
		sentence string
	}{
		"takes errors for success": {takesErrorsForSuccess,
			"If the disk is full from b's first SET on, the test says: a works while b does."},
		"takes the lock and then sets its TTL": {takesThenExpires,
			"If the disk is full from b's first SETNX on, nobody can ever take lock:order again."},
	} {
		r := miniredistest.Explored(t, race(c.client), onDisk("everysec")...)
		require.Empty(t, itself(r))
		require.Contains(t, brokenBy(r, "disk-full"), c.sentence, name)
	}
}
