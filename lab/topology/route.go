package topology

import "bytes"

// Query is a request, as far as it decides who has to execute it.
type Query struct {
	Keys      [][]byte // or shard channels: those of all commands of an EXEC
	Writes    bool
	Asking    bool // after ASKING, or a command that says so itself
	ReadsHere bool // after READONLY
	IsShard   bool // a command on shard channels
	IsMigrate bool
	Has       func(key []byte) bool // reports whether this node has a key

	IsDown          bool // the cluster does not serve: Serving is false
	ReadsWhenDown   bool // cluster-allow-reads-when-down
	PubSubWhileDown bool // cluster-allow-pubsubshard-when-down
}

// Verdict is what happens to a request.
type Verdict uint8

// The verdicts (cluster.h: CLUSTER_REDIR_*).
const (
	Here      Verdict = iota // this node executes it
	CrossSlot                // its keys are in several slots
	TryAgain                 // only some of its keys are here
	Ask                      // the slot moves, and the key is gone already
	Moved                    // another node serves the slot
	Down                     // the cluster does not serve
	DownReads                // it serves reads only
	Unbound                  // nobody serves the slot
)

// Decide says who executes a request (cluster.c: getNodeByQuery). to is the node that Ask and Moved send the client to.
// slot is -1 for a request without keys, and where Redis does not get as far as to know it.
func (v *View) Decide(q *Query) (verdict Verdict, slot int, to *Node) {
	if len(q.Keys) == 0 {
		return Here, -1, nil
	}
	slot = Slot(q.Keys[0])
	me, owner := v.Me(), v.Owner(slot)
	if owner == nil {
		return Unbound, -1, nil
	}
	gets, migrates := v.Migrating[slot]
	migrates = migrates && owner == me
	_, imports := v.Importing[slot]
	imports = imports && !migrates
	several, missing, present := false, 0, 0
	for i, key := range q.Keys {
		if i > 0 && Slot(key) != slot {
			return CrossSlot, -1, nil
		}
		several = several || imports && !bytes.Equal(key, q.Keys[0])
		if (migrates || imports) && !q.IsShard {
			if q.Has(key) {
				present++
			} else {
				missing++
			}
		}
	}
	if q.IsDown {
		switch {
		case q.IsShard && q.PubSubWhileDown:
		case q.IsShard || !q.ReadsWhenDown:
			return Down, -1, nil
		case q.Writes:
			return DownReads, -1, nil
		}
	}
	switch {
	case (migrates || imports) && q.IsMigrate:
		return Here, slot, nil
	case migrates && missing > 0 && present > 0:
		return TryAgain, slot, nil
	case migrates && missing > 0:
		return Ask, slot, v.Find(gets)
	case imports && q.Asking && several && missing > 0:
		return TryAgain, slot, nil
	case imports && q.Asking:
		return Here, slot, nil
	case (q.ReadsHere || q.IsShard) && !q.Writes && me.Master == owner.ID:
		return Here, slot, nil
	case owner == me:
		return Here, slot, nil
	}
	return Moved, slot, owner
}
