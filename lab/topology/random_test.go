package topology_test

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab/topology"
)

// world plays a cluster whose nodes hear each other late or never. What one node says to another arrives in order.
type world struct {
	views  []topology.View
	newest uint64
	stale  int // hears nothing, -1 for none
	said   []*topology.View
	heard  []int // to whom
}

func (w *world) epoch() uint64 {
	w.newest++
	return w.newest
}

// sends is a view on its way to all others.
func (w *world) sends(n int) {
	v := w.views[n]
	for to := range w.views {
		if to != n {
			w.said, w.heard = append(w.said, &v), append(w.heard, to)
		}
	}
}

// step does one thing, at random.
func (w *world) step(r *rand.Rand) {
	n := r.IntN(len(w.views))
	v, slot := w.views[n], r.IntN(topology.Slots)
	other := v.Nodes[r.IntN(len(v.Nodes))].ID
	var err error
	switch r.IntN(8) {
	case 0:
		v, err = v.Import(slot, other)
	case 1:
		v, err = v.Migrate(slot, other)
	case 2:
		slot = firstOf(v.Importing, slot)
		v, err = v.Bind(slot, v.Self, 0, w.epoch, true)
	case 3:
		slot = firstOf(v.Migrating, slot)
		if to := v.Migrating[slot]; to != "" && w.claims(to, slot, v.Me().Epoch) { // the target comes first, as in redis-cli
			v, err = v.Bind(slot, to, 0, w.epoch, true)
		}
	case 4:
		if r.IntN(10) == 0 && !v.Me().IsMaster() {
			v = v.Promote(w.epoch())
		}
	case 5:
		w.stale = r.IntN(2*len(w.views)) - len(w.views)
	case 6:
		w.sends(n)
	case 7:
		for range r.IntN(20) {
			w.deliver(r)
		}
		return
	}
	if err == nil {
		w.views[n] = v
	}
}

// claims reports whether a node believes that it serves a slot, in a newer epoch than another one.
func (w *world) claims(id string, slot int, than uint64) bool {
	for n := range w.views {
		if w.views[n].Self == id {
			return w.views[n].Owner(slot) == w.views[n].Me() && w.views[n].Me().Epoch > than
		}
	}
	return false
}

func firstOf(m map[int]string, otherwise int) int {
	for slot := range topology.Slots {
		if m[slot] != "" {
			return slot
		}
	}
	return otherwise
}

// deliver lets a node hear what another one said some time ago.
func (w *world) deliver(r *rand.Rand) {
	if len(w.said) == 0 {
		return
	}
	i := r.IntN(len(w.said))
	for first := range i {
		if w.said[first].Self == w.said[i].Self && w.heard[first] == w.heard[i] {
			i = first
			break
		}
	}
	said, to := w.said[i], w.heard[i]
	w.said, w.heard = append(w.said[:i:i], w.said[i+1:]...), append(w.heard[:i:i], w.heard[i+1:]...)
	if to != w.stale {
		w.views[to] = w.views[to].Hear(said, 1, w.epoch, true)
	}
}

func TestASlotHasOneOwnerInTheNewestEpoch(t *testing.T) {
	for seed := range uint64(amount.Count(10, 150)) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := &world{views: formed(3, 3), newest: 6, stale: -1}
		for range 150 {
			w.step(r)
			w.check(t, seed)
		}
		w.stale = -1
		for n := range w.views { // what was said at last is heard by all
			w.said, w.heard = nil, nil
			w.sends(n)
			for len(w.said) > 0 {
				w.deliver(r)
			}
		}
		heardByAll(w.views)
		for slot := range topology.Slots {
			owner := ""
			for n := range w.views {
				v := &w.views[n]
				if v.Owner(slot) == nil {
					t.Fatalf("seed %d, node %d: nobody serves slot %d", seed, n+1, slot)
				}
				if _, imports := v.Importing[slot]; imports {
					continue // only SETSLOT ends that
				}
				owner = cmp.Or(owner, v.Owner(slot).ID)
				if owner != v.Owner(slot).ID {
					t.Fatalf("seed %d, node %d: slot %d has two owners", seed, n+1, slot)
				}
			}
		}
	}
}

// check compares all views: no two nodes claim a slot with the same epoch, and no epoch is newer than the newest.
func (w *world) check(t *testing.T, seed uint64) {
	for n := range w.views {
		require.LessOrEqual(t, w.views[n].Current, w.newest)
		for i := range w.views[n].Nodes {
			require.LessOrEqual(t, w.views[n].Nodes[i].Epoch, w.newest)
		}
	}
	for a := range w.views {
		for b := range a {
			v, o := &w.views[a], &w.views[b]
			if v.Me().Epoch != o.Me().Epoch || !v.Me().IsMaster() || !o.Me().IsMaster() {
				continue
			}
			for slot := range topology.Slots {
				both := v.Owner(slot) == v.Me() && o.Owner(slot) == o.Me()
				if both {
					t.Fatalf("seed %d: nodes %d and %d both claim slot %d", seed, a+1, b+1, slot)
				}
			}
		}
	}
}
