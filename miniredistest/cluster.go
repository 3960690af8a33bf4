package miniredistest

import (
	"strconv"

	"github.com/miniredisd/miniredisd/resp"
)

// Cluster makes the masters one cluster, which shares all slots among them:
//
//	m := miniredistest.RunMasters(t, 3, miniredistest.Cluster(), miniredistest.Replicas(1))
//	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: m.Addrs(), Dialer: m.Dial})
//	lock.Acquire("order:42", 30*time.Second)
//	m.MoveSlot("order:42", m[0], miniredistest.SlotKeys) // the release meets ASK
//
// In a bubble, nodes look after each other as long as time passes: a test that waits for ever is not noticed.
func Cluster() Option { return Config("--cluster", "yes") }

// SlotStep is how far MoveSlot moves a slot.
type SlotStep string

// The steps of MoveSlot, in their order. After each, a client meets what stands behind it.
const (
	SlotImporting SlotStep = "IMPORTING" // MOVED to the old node
	SlotMigrating SlotStep = "MIGRATING" // ASK for a key that the old node lacks, TRYAGAIN for several if it has some
	SlotKeys      SlotStep = "KEYS"      // ASK for all keys of the slot
	SlotNode      SlotStep = "NODE"      // MOVED to the new node
)

// MoveSlot moves the slot of a key up to a step. The next call continues from there.
func (m Masters) MoveSlot(key string, to *Server, until SlotStep) {
	t := m[0].t
	t.Helper()
	m[0].lab("CLUSTER", "MOVE", strconv.Itoa(m.Slot(key)), "TO", strconv.Itoa(to.place+1), "STEP", string(until))
}

// Slot returns the slot of a key.
func (m Masters) Slot(key string) int {
	m[0].t.Helper()
	return int(m[0].Do("CLUSTER", "KEYSLOT", key).Int)
}

// Owner returns the node that serves the slot of a key, as the first master believes. It is nil for none.
func (m Masters) Owner(key string) *Server {
	m[0].t.Helper()
	return m[0].serves(m.Slot(key), m[0].Do("CLUSTER", "SLOTS"))
}

// serves returns the node that serves a slot by the reply to CLUSTER SLOTS, nil for none.
func (s *Server) serves(slot int, slots resp.Value) *Server {
	for _, r := range slots.Elems {
		if int(r.Elems[0].Int) <= slot && slot <= int(r.Elems[1].Int) {
			return s.nodeAt(int(r.Elems[2].Elems[1].Int))
		}
	}
	return nil
}

// Stale lets a node of a cluster keep its map of the slots, or ends that.
func (s *Server) Stale(on bool) {
	s.t.Helper()
	args := []string{"CLUSTER", "STALE", strconv.Itoa(s.place + 1)}
	if !on {
		args = append(args, "OFF")
	}
	s.lab(args...)
}
