package cluster

import (
	"maps"
	"slices"

	"github.com/miniredisd/miniredisd/lab/topology"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// DescribedFields is how many fields Describe has.
const DescribedFields = 6

// Describe returns what writes the beliefs of this node into LAB TOPOLOGY. Nodes are named by their numbers.
func (st *State) Describe() func(w *resp.Writer) {
	v, stale, moving := st.view, int64(0), st.moving()
	if st.Hooks.Stale {
		stale = 1
	}
	return func(w *resp.Writer) {
		w.IntField("epoch", int64(v.EpochOf(v.Me())))
		w.IntField("current-epoch", int64(v.Current))
		w.IntField("stale", stale)
		down := slices.DeleteFunc(slices.Clone(v.Nodes), func(n topology.Node) bool { return !n.Down })
		w.BulkString("down")
		w.Array(len(down))
		for i := range down {
			w.Int(int64(down[i].Place))
		}
		ranges := v.Ranges()
		w.BulkString("slots")
		w.Array(len(ranges))
		for _, r := range ranges {
			w.Array(3)
			w.Int(int64(r.From))
			w.Int(int64(r.To))
			w.Int(int64(r.Owner.Place))
		}
		w.BulkString("moving")
		w.Array(len(moving))
		for i := range moving {
			moving[i].write(w)
		}
	}
}

// halfway is a slot that this node gives away or gets.
type halfway struct {
	slot int
	how  string // migrating or importing
	node int    // the other one; 0 for one that this node does not know any more
	keys int    // that are here
}

func (h *halfway) write(w *resp.Writer) {
	w.Array(4)
	w.Int(int64(h.slot))
	w.BulkString(h.how)
	w.Int(int64(h.node))
	w.Int(int64(h.keys))
}

// moving returns the slots that move, in order. Keys are looked at while there are any.
func (st *State) moving() (all []halfway) {
	for _, of := range []struct {
		how   string
		slots map[int]string
	}{{"migrating", st.view.Migrating}, {"importing", st.view.Importing}} {
		for _, slot := range slices.Sorted(maps.Keys(of.slots)) {
			h := halfway{slot: slot, how: of.how}
			if n := st.view.Find(of.slots[slot]); n != nil {
				h.node = n.Place
			}
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return nil
	}
	keys := map[int]int{}
	st.KS.DBs[0].Each(func(key string, _ store.Type) { keys[topology.Slot(key)]++ })
	for i := range all {
		all[i].keys = keys[all[i].slot]
	}
	return all
}
