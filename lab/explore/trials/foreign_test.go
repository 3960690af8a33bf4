package trials

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/explore"
)

const redis = `redis-server --port {port} --save ""`

// broken are the sentences of what breaks a program, and of what breaks by itself.
func broken(r *explore.Report) []string {
	return append(sentences(r, explore.Broken), itself(r))
}

func TestAtRedisTheSameFailuresBreakALock(t *testing.T) {
	redistest.Need(t, "redis-server")
	for name, c := range map[string]struct {
		faults []string
		at     func(explore.Point) bool
		found  bool
	}{
		"setnx":    {[]string{"reply-lost"}, firstOfA, true},
		"get-del":  {[]string{"paused"}, deletes, true},
		"nameless": {[]string{"paused", "restart"}, deletes, true},
		"careful":  {[]string{"reply-lost", "restart"}, ofA, false},
		"race":     {[]string{"request-lost"}, ofA, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, name, c.faults...)
			o.Cells = func(p explore.Point, _ explore.Fault) bool { return c.at(p) }
			own := play(t, o)
			o.Foreign = redis
			r := play(t, o)
			require.Equal(t, broken(own), broken(r))
			require.Equal(t, c.found, strings.Join(broken(r), "") != "")
			require.Regexp(t, `^redis \d+\.\d+\.\d+$`, r.On)
			require.Empty(t, own.On)
		})
	}
}

func TestAtRedisPlantedBugsAreFoundWithTheSameSentences(t *testing.T) {
	redistest.Need(t, "redis-server")
	for name, c := range map[string]struct {
		fault    string
		at       func(explore.Point) bool
		sentence string
	}{
		"renews-by-nothing": {"reply-lost", firstOfDog,
			"If the reply to a-dog's first PTTL is lost, a and b both hold lock:o."},
		"stray-release": {"request-lost", firstOfB, "If b's first SET is lost, a and b both hold lock:o."},
		"counts-twice": {"reply-lost", firstOfA,
			"If the reply to a's first EVAL is lost, lock:o stays taken until its lease ends, and nobody holds it."},
		"by-clocks": {"reply-lost", firstOfA, "Without any fault, a and b both hold sem:o."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, name, c.fault)
			o.Cells = func(p explore.Point, _ explore.Fault) bool { return c.at(p) }
			o.Strict = true
			own := play(t, o)
			o.Foreign = redis
			r := play(t, o)
			require.Equal(t, c.sentence, strings.Join(broken(own), ""))
			require.Equal(t, broken(own), broken(r))
		})
	}
}

func TestSeveralRedisServersAreMasters(t *testing.T) {
	t.Parallel()
	redistest.Need(t, "redis-server")
	o := options(t, "minority", "master-gone", "keys-lost")
	o.Cells = func(p explore.Point, _ explore.Fault) bool { return firstOfA(p) }
	o.Masters, o.Strict = 3, true
	own := play(t, o)
	o.Foreign = redis
	require.Equal(t, broken(own), broken(play(t, o)))
}

func TestWhatOnlyMiniredisdHasIsLeftOutByName(t *testing.T) {
	t.Parallel()
	redistest.Need(t, "redis-server")
	o := at(firstOfA, options(t, "setnx"))
	o.Foreign = redis
	require.Equal(t, "miniredisd itself as the server, without --server", o.Lacks("evicted"))
	require.Empty(t, o.Lacks("keys-lost"))
	o.Cells = func(explore.Point, explore.Fault) bool { return false }
	r := play(t, o)
	require.Contains(t, r.Notes, "left out, because only miniredisd itself has them: evicted, power-cut, fsync-fails, "+
		"disk-full, failover, message-lost, message-late, promotion, sentinel-late, slot-moves, slot-half, old-map")
	for _, f := range r.Faults {
		require.NotEqual(t, "evicted", f.Name)
	}
}

func TestAForeignServerThatEndsIsTheProgramsFault(t *testing.T) {
	t.Parallel()
	redistest.Need(t, "redis-server")
	o := options(t, "shutdown")
	o.Foreign = redis
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "the server has ended during a run: the program has sent SHUTDOWN")
	o.Foreign = "/no/such/server {port}"
	_, err = Run(t.Context(), o)
	require.ErrorContains(t, err, "the server cannot be started")
}
