package topology

import (
	"errors"
	"fmt"
	"maps"
)

// Claim gives free slots to this node (CLUSTER ADDSLOTS). slots may name a slot once.
func (v View) Claim(slots []int) (View, error) {
	return v.assign(slots, int16(v.place(v.Self)+1), func(slot int) error {
		if v.owner[slot] != 0 {
			return fmt.Errorf("ERR Slot %d is already busy", slot)
		}
		return nil
	})
}

// Release takes slots from whoever serves them, in this view alone (CLUSTER DELSLOTS).
func (v View) Release(slots []int) (View, error) {
	return v.assign(slots, 0, func(slot int) error {
		if v.owner[slot] == 0 {
			return fmt.Errorf("ERR Slot %d is already unassigned", slot)
		}
		return nil
	})
}

func (v View) assign(slots []int, to int16, check func(slot int) error) (View, error) {
	seen := map[int]bool{}
	for _, slot := range slots {
		if err := check(slot); err != nil {
			return v, err
		}
		if seen[slot] {
			return v, fmt.Errorf("ERR Slot %d specified multiple times", slot)
		}
		seen[slot] = true
	}
	w := v.clone()
	for _, slot := range slots {
		w.owner[slot] = to
		delete(w.loose, slot)
		delete(w.Importing, slot)
	}
	return w, nil
}

// Flush takes all its slots from this node (CLUSTER FLUSHSLOTS).
func (v View) Flush() View {
	w := v.clone()
	w.give(v.Self, "")
	return w
}

const errNotMaster = "ERR Target node is not a master"

// ErrReplica refuses CLUSTER SETSLOT on a replica.
const ErrReplica = "ERR Please use SETSLOT only with masters."

// Migrate notes that a slot goes to another node (CLUSTER SETSLOT MIGRATING).
func (v View) Migrate(slot int, to string) (View, error) {
	switch {
	case !v.Me().IsMaster():
		return v, errors.New(ErrReplica)
	case v.Owner(slot) != v.Me():
		return v, fmt.Errorf("ERR I'm not the owner of hash slot %d", slot)
	}
	if err := v.knowsMaster(to); err != nil {
		return v, err
	}
	w := v.clone()
	w.Migrating = with(w.Migrating, slot, to)
	return w, nil
}

// Import notes that a slot comes from another node (CLUSTER SETSLOT IMPORTING).
func (v View) Import(slot int, from string) (View, error) {
	switch {
	case !v.Me().IsMaster():
		return v, errors.New(ErrReplica)
	case v.Owner(slot) == v.Me():
		return v, fmt.Errorf("ERR I'm already the owner of hash slot %d", slot)
	}
	if err := v.knowsMaster(from); err != nil {
		return v, err
	}
	w := v.clone()
	w.Importing = with(w.Importing, slot, from)
	return w, nil
}

// knowsMaster says why a slot cannot go to a node or come from it.
func (v View) knowsMaster(id string) error {
	switch n := v.Find(id); {
	case n == nil:
		return fmt.Errorf("ERR I don't know about node %s", id)
	case !n.IsMaster():
		return errors.New(errNotMaster)
	}
	return nil
}

func with(m map[int]string, slot int, id string) map[int]string {
	if m == nil {
		m = map[int]string{}
	}
	m[slot] = id
	return m
}

// Settle notes that a slot stays where it is (CLUSTER SETSLOT STABLE).
func (v View) Settle(slot int) (View, error) {
	if !v.Me().IsMaster() {
		return v, errors.New(ErrReplica)
	}
	w := v.clone()
	delete(w.Importing, slot)
	delete(w.Migrating, slot)
	return w, nil
}

// Bind gives a slot to a node (CLUSTER SETSLOT NODE). keys is how many keys of the slot are here. The node that imports
// the slot claims it with a new epoch, unless its epoch is the newest already. A master that gives its last slot away
// becomes a replica of the new owner if follows allows it (cluster-allow-replica-migration).
func (v View) Bind(slot int, to string, keys int, epoch func() uint64, follows bool) (View, error) {
	n, mine := v.Find(to), v.Owner(slot) == v.Me()
	switch {
	case !v.Me().IsMaster():
		return v, errors.New(ErrReplica)
	case n == nil:
		return v, fmt.Errorf("ERR Unknown node %s", to)
	case !n.IsMaster():
		return v, errors.New(errNotMaster)
	case mine && to != v.Self && keys > 0:
		return v, fmt.Errorf("ERR Can't assign hashslot %d to a different node while I still hold keys for this hash slot.",
			slot)
	}
	w := v.clone()
	if keys == 0 {
		delete(w.Migrating, slot)
	}
	w.owner[slot] = int16(w.place(to) + 1)
	delete(w.loose, slot)
	if mine && to != v.Self && w.Serves(v.Self) == 0 && follows {
		return w.Follow(to), nil
	}
	if _, imports := w.Importing[slot]; imports && to == v.Self {
		w, _ = w.Bump(epoch)
		delete(w.Importing, slot)
	}
	return w, nil
}

// Bump gives this node a new epoch, unless it has the newest one (cluster.c: clusterBumpConfigEpochWithoutConsensus).
func (v View) Bump(epoch func() uint64) (w View, bumped bool) {
	newest := v.Current
	for i := range v.Nodes {
		newest = max(newest, v.Nodes[i].Epoch)
	}
	if me := v.Me(); me.Epoch != 0 && me.Epoch == newest {
		return v, false
	}
	w = v.clone()
	w.Current = max(newest, epoch())
	w.Me().Epoch = w.Current
	return w, true
}

// Number sets the epoch of a node that is new (CLUSTER SET-CONFIG-EPOCH).
func (v View) Number(epoch uint64) (View, error) {
	switch {
	case len(v.Nodes) > 1:
		return v, errors.New("ERR The user can assign a config epoch only when the node does not know any other node.")
	case v.Me().Epoch != 0:
		return v, errors.New("ERR Node config epoch is already non-zero")
	}
	w := v.clone()
	w.Me().Epoch, w.Current = epoch, max(w.Current, epoch)
	return w, nil
}

// Replicate makes this node a replica (CLUSTER REPLICATE). isEmpty says that it has no keys.
func (v View) Replicate(master string, isEmpty bool) (View, error) {
	n := v.Find(master)
	switch {
	case n == nil:
		return v, fmt.Errorf("ERR Unknown node %s", master)
	case n.ID == v.Self:
		return v, errors.New("ERR Can't replicate myself")
	case !n.IsMaster():
		return v, errors.New("ERR I can only replicate a master, not a replica.")
	case v.Me().IsMaster() && (v.Serves(v.Self) > 0 || !isEmpty):
		return v, errors.New("ERR To set a master the node must be empty and without assigned slots.")
	}
	return v.Follow(master), nil
}

// Follow makes this node a replica of another one, which gets the slots that it still has (cluster.c:
// clusterSetMaster).
func (v View) Follow(master string) View {
	w := v.clone()
	w.give(v.Self, master)
	me := w.Me()
	me.Master, me.Shard = master, w.Find(master).Shard
	w.Migrating, w.Importing = nil, nil
	return w
}

// give gives all slots of a node to another one, or to nobody if the view does not have that one.
func (w *View) give(from, to string) {
	was, is := int16(w.place(from)+1), int16(w.place(to)+1)
	for slot, i := range w.owner {
		if i == was && i > 0 {
			w.owner[slot] = is
		}
	}
}

// Promote makes this replica a master, which claims all slots of the one before in a new epoch (cluster.c:
// clusterFailoverReplaceYourMaster).
func (v View) Promote(epoch uint64) View {
	w := v.clone()
	me := w.Me()
	w.give(me.Master, v.Self)
	w.loose = nil
	w.Current = max(w.Current, epoch)
	me.Master, me.Epoch = "", w.Current
	return w
}

// Forget removes a node (CLUSTER FORGET). It must not be heard of again before a time in unix ms.
func (v View) Forget(id string, until, now int64) (View, error) {
	switch n := v.Find(id); {
	case n == nil && v.Forgotten[id] > now:
		return v, nil
	case n == nil:
		return v, fmt.Errorf("ERR Unknown node %s", id)
	case n.ID == v.Self:
		return v, errors.New("ERR I tried hard but I can't forget myself...")
	case v.Me().Master == id:
		return v, errors.New("ERR Can't forget my master!")
	}
	w := v.clone()
	w.drop(id)
	if w.Forgotten == nil {
		w.Forgotten = map[string]int64{}
	}
	w.Forgotten[id] = until
	return w, nil
}

// drop removes a node from a clone (cluster.c: clusterDelNode). Its replicas lose their master.
func (w *View) drop(id string) {
	gone := int16(w.place(id) + 1)
	w.give(id, "")
	for slot, i := range w.owner {
		if i > gone {
			w.owner[slot] = i - 1
		}
	}
	w.Nodes = append(w.Nodes[:gone-1:gone-1], w.Nodes[gone:]...)
	isGone := func(_ int, other string) bool { return other == id }
	maps.DeleteFunc(w.Migrating, isGone)
	maps.DeleteFunc(w.Importing, isGone)
	for i := range w.Nodes {
		if w.Nodes[i].Master == id {
			w.Nodes[i].Master = ""
		}
	}
}

// Reset makes the node a master that knows nobody (CLUSTER RESET). With other IDs it is another node, and begins with
// epoch 0 (HARD).
func (v View) Reset(id, shard string) View {
	me := *v.Me()
	me.Master, me.Shard = "", shard
	w := View{Self: v.Self, Current: v.Current, owner: &[Slots]int16{}}
	if id != "" {
		me.ID, me.Epoch, w.Self, w.Current = id, 0, id, 0
	}
	w.Nodes = []Node{me}
	return w
}

// Place notes that a node is a replica of another one, which both are known.
func (v View) Place(id, master string) View {
	w := v.clone()
	n := w.Find(id)
	n.Master, n.Shard = master, w.Find(master).Shard
	return w
}

// With puts what the node knows of a node in place of what it knew. A node that is new has no slots.
func (v View) With(n Node) View {
	w := v.clone()
	if old := w.Find(n.ID); old != nil {
		*old = n
		return w
	}
	w.Nodes = append(w.Nodes, n)
	delete(w.Forgotten, n.ID)
	return w
}
