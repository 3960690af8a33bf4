package stage

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/lab/doctor"
)

func start(t *testing.T, more ...string) *Stage {
	s, err := New(1, more...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// now is the time of a master, in unix ms.
func now(t *testing.T, s *Stage, master int) int {
	v, err := s.Do(limited(t), master, "TIME")
	require.NoError(t, err)
	seconds, err := strconv.Atoi(v.Elems[0].Str)
	require.NoError(t, err)
	us, err := strconv.Atoi(v.Elems[1].Str)
	require.NoError(t, err)
	return seconds*1000 + us/1000
}

func TestTheClocksOfAllMastersStandAndMoveTogether(t *testing.T) {
	for _, masters := range []string{"1", "3"} {
		s := start(t, "--masters", masters)
		require.NoError(t, s.Freeze(limited(t)))
		for n := range s.Addrs {
			require.Equal(t, dawn, now(t, s, n+1))
		}
		require.NoError(t, s.Advance(limited(t), 1500*time.Millisecond))
		for n := range s.Addrs {
			require.Equal(t, dawn+1500, now(t, s, n+1))
		}
	}
}

func TestARequestOfAStoryGoesToItsMaster(t *testing.T) {
	s := start(t, "--masters", "2")
	_, err := s.Do(limited(t), 2, "SET", "k", "v")
	require.NoError(t, err)
	for n, want := range []int64{0, 1} {
		v, err := s.Do(limited(t), n+1, "EXISTS", "k")
		require.NoError(t, err)
		require.Equal(t, want, v.Int)
	}
}

func TestAMistakeOfAStoryIsAnErrorThatNamesTheRequest(t *testing.T) {
	s := start(t)
	_, err := s.Lab(limited(t), 1, "NOSUCHVERB", "x")
	require.ErrorContains(t, err, "LAB NOSUCHVERB x: ")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Freeze(over), context.Canceled)
	require.ErrorIs(t, s.Advance(over, time.Second), context.Canceled)
	_, err = s.Findings(over)
	require.ErrorIs(t, err, context.Canceled)
	_, err = New(1, "--no-such-directive", "yes")
	require.Error(t, err)
}

func TestTheDoctorsFindingsAreThoseOfAllMasters(t *testing.T) {
	s := start(t, "--masters", "2")
	require.NoError(t, s.Freeze(limited(t)))
	c, err := respclient.Dial(s.Addrs[1])
	require.NoError(t, err)
	defer c.Close()
	c.Limit = time.Minute
	for _, words := range [][]string{
		{"SET", "lock:a", "token-A", "NX", "PX", "30000"}, {"GET", "lock:a"}, {"DEL", "lock:a"},
	} {
		_, err := c.Do(words...)
		require.NoError(t, err)
	}
	found, err := s.Findings(limited(t))
	require.NoError(t, err)
	require.Contains(t, found, Finding{string(doctor.GetDel), "lock:a"})
}

func TestARecordingHasSnapshotsUnlessItIsBare(t *testing.T) {
	for _, bare := range []bool{false, true} {
		s := start(t)
		s.Record(1, bare)
		_, err := s.Do(limited(t), 1, "DBSIZE")
		require.NoError(t, err)
		r := s.EndRecording(1)
		require.NotEmpty(t, r.Lines)
		stops := 0
		for _, line := range r.Lines {
			if line.Stop != nil {
				stops++
			}
		}
		require.Equal(t, bare, stops == 0)
	}
}
