package miniredistest_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// moving is a lock client that finds the node of its lock. Its work takes no time if it has no room.
func moving(find func(p *peer), release func(h *holder) error) lockClient {
	return func(w *miniredistest.Worker, r *room) error {
		h := newHolder(w)
		defer h.close()
		find(h.peer)
		if err := retry(h.take); err != nil {
			return err
		}
		if r != nil {
			r.work(w, nil)
		}
		return release(h)
	}
}

// once is a release that is tried once.
func once(h *holder) error {
	_, _ = h.do("EVAL", compareAndDelete, "1", theLock, h.token)
	return nil
}

// deaf is one that looks for no other node.
func deaf(h *holder) error {
	h.find = nil
	return once(h)
}

// inCluster lets a peer follow MOVED and ASK.
func inCluster(p *peer) {
	home := ""
	p.find = func(v resp.Value, _ error) bool {
		if home != "" { // ASK was for one request
			p.move(home)
			home = ""
		}
		words := strings.Fields(v.Str)
		if v.Kind != '-' || len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
			return v.Kind == '-' && strings.HasPrefix(v.Str, "TRYAGAIN")
		}
		if words[0] == "ASK" {
			p.asking, home = true, p.addr
		}
		p.move(words[2])
		return true
	}
}

// behindSentinels lets a peer ask the first so many Sentinels for the master.
func behindSentinels(ask int) func(p *peer) {
	return func(p *peer) {
		p.find = func(v resp.Value, err error) bool {
			lost, before := v.Kind == '-' && strings.HasPrefix(v.Str, "READONLY"), p.addr
			if lost || v.Kind == 0 && err != nil {
				p.move(masterBy(p.w, ask))
			}
			return lost && p.addr != before
		}
		p.addr = masterBy(p.w, ask)
	}
}

// masterBy returns the address that one of the first Sentinels names and that says itself that it is the master. If
// there is none, it returns the last one.
func masterBy(w *miniredistest.Worker, ask int) (addr string) {
	once := func(addr string, words ...string) []resp.Value {
		p := newPeer(w)
		p.addr = addr
		defer p.close()
		v, _ := p.do(words...)
		return v.Elems
	}
	for _, sentinel := range w.Server().SentinelAddrs()[:ask] {
		if at := once(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"); len(at) == 2 {
			addr = at[0].Str + ":" + at[1].Str
		}
		if role := once(addr, "ROLE"); len(role) > 0 && role[0].Str == "master" {
			return addr
		}
	}
	return addr
}

// one lets a single worker work, for no time if it has no room.
func one(c lockClient, r *room) func(*miniredistest.Trial) {
	return func(t *miniredistest.Trial) {
		t.Go("a", func(w *miniredistest.Worker) error { return c(w, r) })
	}
}

// topology is a cluster or Sentinels, with a client that is right and one that misses its master.
type topology struct {
	option        miniredistest.Option
	right, misses lockClient
	faults        []string
	leaves        []string // at the release: then the wrong client leaves its lock behind
	sentence      string   // about the first of them
}

func inTopology() map[string]topology {
	const stays = theLock + " stays taken until its lease ends, and nobody holds it."
	in := []string{"promotion", "slot-moves", "slot-half", "old-map"}
	return map[string]topology{
		"cluster": {miniredistest.Cluster(), moving(inCluster, (*holder).release), moving(inCluster, deaf), in, in,
			"If a replica is promoted before a's first EVAL to master 2, " + stays},
		"sentinels": {miniredistest.Sentinels(3), moving(behindSentinels(3), (*holder).release),
			moving(behindSentinels(1), once), []string{"promotion", "sentinel-late"}, []string{"sentinel-late"},
			"If a replica is promoted before a's first EVAL and one Sentinel is late, " + stays},
	}
}

// Nothing is broken, and each failure was tried.
func TestExploreFindsNothingInALockThatFindsItsMaster(t *testing.T) {
	for name, on := range inTopology() {
		t.Run(name, func(t *testing.T) {
			r := miniredistest.Explored(t, race(on.right), on.option, only(on.faults...))
			require.Empty(t, itself(r))
			require.Zero(t, r.Untried)
			tried := map[string]bool{}
			for i, row := range r.Cells {
				for j, c := range row {
					at := r.Points[i].Client + " " + r.Points[i].Command + " " + r.Faults[j].Name
					require.LessOrEqual(t, c.Mark, explore.Noticed, at+": "+c.Why)
					require.True(t, c.Mark != explore.NotTried || c.Why != "", at)
					tried[r.Faults[j].Name] = tried[r.Faults[j].Name] || c.Mark == explore.Fine
				}
			}
			for _, fault := range on.faults {
				require.True(t, tried[fault], fault)
			}
		})
	}
}

// releases returns the marks of a worker's release, by the names of the failures.
func releases(r *explore.Report) map[string]explore.Mark {
	all := map[string]explore.Mark{}
	for i, row := range r.Cells {
		for j, c := range row {
			if r.Points[i].Command == "EVAL" {
				all[r.Faults[j].Name] = c.Mark
			}
		}
	}
	return all
}

func TestExploreSeesALockThatIsReleasedAtTheWrongNode(t *testing.T) {
	for name, on := range inTopology() {
		t.Run(name, func(t *testing.T) {
			options := []miniredistest.Option{on.option, miniredistest.Faults(on.faults...)}
			marks := releases(miniredistest.Explored(t, one(on.misses, &room{}), options...))
			for _, fault := range on.faults {
				want := explore.Fine
				if slices.Contains(on.leaves, fault) {
					want = explore.LeftBehind
				}
				require.Equal(t, want, marks[fault], fault)
			}
			r := miniredistest.Explored(t, one(on.misses, &room{}), append(options, miniredistest.Strict())...)
			require.Contains(t, brokenBy(r, on.leaves[0]), on.sentence)
		})
	}
}

// Here the time is the machine's.
func TestExploreMovesMastersInRealTimeToo(t *testing.T) {
	for name, on := range inTopology() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := miniredistest.Explored(t, one(on.right, nil), on.option, miniredistest.Faults(on.faults...),
				miniredistest.RealTime())
			for _, fault := range on.faults {
				require.Equal(t, explore.Fine, releases(r)[fault], fault)
			}
		})
	}
}

func TestTwoExplorationsOfMovingMastersAreEqualByteForByte(t *testing.T) {
	for name, on := range inTopology() {
		t.Run(name, func(t *testing.T) {
			var all [2]bytes.Buffer
			for i := range all {
				r := miniredistest.Explored(t, race(on.right), on.option, only(on.faults...))
				require.NoError(t, report.JSON(&all[i], r))
			}
			require.Equal(t, all[0].String(), all[1].String())
		})
	}
}
