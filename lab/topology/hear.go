package topology

// Hear returns what a node believes once it has got the view of another one at a time in unix ms. Redis sends the same
// in PING, PONG and UPDATE (cluster.c: clusterProcessPacket, clusterUpdateSlotsConfigWith). epoch makes a new one,
// for a node that has the same epoch as the other. follows is the directive cluster-allow-replica-migration.
//
//   - What the sender says of itself counts.
//   - What it says of a third node counts if the epoch is newer than the one known, or if that node is new.
//   - A claim of a slot counts if the owner known has an older epoch, or does not claim the slot any more.
//   - A slot that this node imports changes its owner by SETSLOT alone, while it has one.
//
// The view of a stranger changes nothing, as in Redis: nodes know each other by CLUSTER MEET.
func (v View) Hear(from *View, now int64, epoch func() uint64, follows bool) View {
	if v.Find(from.Self) == nil || from.Self == v.Self {
		return v
	}
	w := v.clone()
	w.Current = max(w.Current, from.Current)
	master := w.Self // whose slots count as those of this node
	if m := w.Me().Master; m != "" {
		master = m
	}
	had := w.Serves(master)
	for i := range from.Nodes {
		if n := &from.Nodes[i]; n.ID != w.Self {
			w.learn(from, n, now)
		}
	}
	w.loosen(from)
	w.collide(from, epoch)
	if had > 0 && w.Serves(master) == 0 {
		return w.afterLoss(&v, master, follows)
	}
	return w.overGrandmaster()
}

// learn takes over what a view says of a node.
func (w *View) learn(from *View, n *Node, now int64) {
	known := w.Find(n.ID)
	isSender := n.ID == from.Self
	switch {
	case known == nil && w.Forgotten[n.ID] > now:
		return
	case known == nil:
		fresh := *n
		fresh.Heard, fresh.Down = 0, false
		if w.Find(n.Master) == nil && from.Find(n.Master) == nil {
			fresh.Master = ""
		}
		w.Nodes = append(w.Nodes, fresh)
		delete(w.Forgotten, n.ID)
	case isSender:
		known.Host, known.Port, known.TLSPort, known.BusPort = n.Host, n.Port, n.TLSPort, n.BusPort
		known.Hostname, known.Offset, known.Shard, known.Loading = n.Hostname, n.Offset, n.Shard, n.Loading
		known.Heard, known.Down, known.Epoch = now, false, max(known.Epoch, n.Epoch)
		w.setMaster(known, n.Master)
	case n.Epoch > known.Epoch:
		known.Epoch = n.Epoch
		w.setMaster(known, n.Master)
	default:
		return
	}
	if n.IsMaster() {
		w.takeClaims(from, n)
	}
}

// setMaster gives a node its role. A replica serves nothing: its slots are those of its master, who claims them as soon
// as it knows. Redis leaves them to nobody until then (cluster.c: clusterProcessPacket).
func (w *View) setMaster(n *Node, master string) {
	if master != "" && n.IsMaster() {
		w.give(n.ID, master)
	}
	n.Master = master
}

// takeClaims gives a master the slots that it claims, where its claim is the newest.
func (w *View) takeClaims(from *View, n *Node) {
	theirs, mine := int16(from.place(n.ID)+1), int16(w.place(n.ID)+1)
	for slot, i := range from.owner {
		if i != theirs || w.owner[slot] == mine {
			if i == theirs {
				delete(w.loose, slot)
			}
			continue
		}
		owner := w.Owner(slot)
		if _, imports := w.Importing[slot]; imports && owner != nil {
			continue
		}
		_, isLoose := w.loose[slot]
		if owner == nil || isLoose || owner.Epoch < n.Epoch {
			w.owner[slot] = mine
			delete(w.loose, slot)
			delete(w.Migrating, slot)
		}
	}
}

// loosen notes the slots that the sender has in this view and does not claim.
func (w *View) loosen(from *View) {
	theirs, mine := int16(from.place(from.Self)+1), int16(w.place(from.Self)+1)
	for slot, i := range w.owner {
		if i != mine || from.owner[slot] == theirs {
			continue
		}
		if w.loose == nil {
			w.loose = map[int]struct{}{}
		}
		w.loose[slot] = struct{}{}
	}
}

// collide gives this master another epoch if the sender has the same one: the node with the smaller ID changes
// (cluster.c: clusterHandleConfigEpochCollision).
func (w *View) collide(from *View, epoch func() uint64) {
	me, other := w.Me(), from.Me()
	if me.IsMaster() && other.IsMaster() && me.Epoch == other.Epoch && me.ID < other.ID {
		w.Current = max(w.Current, epoch())
		me.Epoch = w.Current
	}
}

// afterLoss decides what a node does whose last slot went to another one, or whose master's did: it follows the new
// owner, if that one took all slots that it has from there.
func (w View) afterLoss(before *View, master string, follows bool) View {
	var heir *Node
	for slot := range w.owner {
		if n := before.Owner(slot); n == nil || n.ID != master {
			continue
		}
		heir = w.Owner(slot)
	}
	switch {
	case heir == nil || heir.ID == w.Self || !heir.IsMaster():
		return w
	case follows || w.Serves(heir.ID) == before.Serves(master):
		return w.Follow(heir.ID)
	}
	return w
}

// overGrandmaster follows the master of the own master, if that is a replica.
func (w View) overGrandmaster() View {
	master := w.Find(w.Me().Master)
	if master == nil || master.IsMaster() || master.Master == w.Self || w.Find(master.Master) == nil {
		return w
	}
	return w.Follow(master.Master)
}
