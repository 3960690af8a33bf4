package explore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab"
)

// evicting explores the world plain, and returns an Explorer whose trials evict.
func evicting(t *testing.T, opt Options) *Explorer {
	t.Helper()
	opt.Only = []string{"evicted"}
	return exploreWorld(t, opt, func(tr Trial) Outcome { return plain(&tr) })
}

func TestALockIsEvictedOnlyWhereAClientCanStandIt(t *testing.T) {
	for _, c := range []struct {
		opt   Options
		tried bool
	}{{Options{}, false}, {Options{Strict: true}, true}, {Options{Masters: 3}, true}} {
		r := evicting(t, c.opt).Report()
		require.Equal(t, c.tried, r.Trials > 0)
		if !c.tried {
			require.Equal(t, "no client of a single server can stand it; --strict tries it", r.Cells[0][0].Why)
		}
	}
}

// The lock is evicted while the request waits, if it exists. Then the request goes on.
func TestALockIsEvictedJustBeforeARequest(t *testing.T) {
	e := evicting(t, Options{Strict: true})
	for name, c := range map[string]struct {
		held   string
		change func(*lab.Entry)
		evicts bool
	}{
		"of its holder":            {deletes, func(*lab.Entry) {}, true},
		"of another client":        {refused, func(*lab.Entry) {}, true},
		"that changes all keys":    {"a FLUSHALL x -> OK", func(*lab.Entry) {}, true},
		"in a transaction":         {"a EXEC x -> OK", func(*lab.Entry) {}, true},
		"in another database":      {deletes, func(en *lab.Entry) { en.DB = 3 }, false},
		"about a lock that is not": {deletes, func(*lab.Entry) {}, false},
	} {
		left := map[string]int64{"lock:o": 900}
		if name == "about a lock that is not" {
			left = nil
		}
		s := outcome(left, takes, "explore-1! "+c.held).Scene
		held := &s.Histories[0].Entries[1]
		held.Outcome = lab.Held
		c.change(held)
		if held.DB != 0 {
			s.Histories[0].Entries[0].DB = held.DB
		}
		var said []string
		for _, o := range e.Held(Trial{Strikes: []Strike{{2, 0}}}, "explore-1", s).First {
			said = append(said, strings.Join(o.Words, " "))
		}
		want := []string{"LAB FAULT DEL explore-1"}
		if c.evicts {
			want = append([]string{"LAB EVICT lock:o"}, want...)
		}
		require.Equal(t, want, said, name)
	}
}

// A cell says so if there was nothing to evict. It is not fine: nothing was tried.
func TestWhereNoLockExistsNothingIsEvicted(t *testing.T) {
	e := evicting(t, Options{Strict: true})
	for _, c := range e.Report().Cells {
		require.Equal(t, Cell{Mark: NotTried, Why: notThere}, c[0])
	}
	require.Zero(t, e.Report().Untried)
	require.Zero(t, e.Report().Unreached())
}

func TestTheCommandsOfAnEvictionNameItsKey(t *testing.T) {
	e := evicting(t, Options{Strict: true, Masters: 3})
	said := strings.Join(e.commands(Trial{Strikes: []Strike{{2, 0}}}, nil), "\n")
	require.Contains(t, said, "LAB MASTER 1 HOLD WAIT explore-1 60000\nLAB MASTER 1 EVICT lock:o\n"+
		"LAB MASTER 1 FAULT DEL explore-1")
	e.points[2].glob, e.points[2].Key = "lock:*-x", "lock:*-x"
	said = strings.Join(e.commands(Trial{Strikes: []Strike{{2, 0}}}, nil), "\n")
	require.Contains(t, said, "# LAB EVICT the key that lock:*-x is in this run, then:\nLAB MASTER 1 FAULT DEL explore-1")
}
