package lab

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/cluster"
)

// LAB CLUSTER makes nodes believe what a client should meet:
//
//	STALE 2                    node 2 hears nothing more: it keeps its old map, and is asked for what it lost
//	MOVE 5 TO 2 STEP KEYS      slot 5 is on its way to node 2, and stands still after a step:
//
//	step         where             what                              a client meets
//	IMPORTING    the new owner     CLUSTER SETSLOT IMPORTING         MOVED to the old one, unless it asks
//	MIGRATING    the old owner     CLUSTER SETSLOT MIGRATING         ASK for keys that are not there, TRYAGAIN
//	KEYS         the old owner     MIGRATE of all keys               ASK for all keys
//	NODE         both              CLUSTER SETSLOT NODE              MOVED to the new one
//
// The next MOVE continues where the last one has stopped.

func clusterRows() []command.Row {
	const syntax = "STALE node:integer [OFF] | MOVE slot:integer TO node:integer " +
		"[STEP (IMPORTING|MIGRATING|KEYS|NODE)]"
	return []command.Row{
		wordsRow("cluster", syntax,
			-4, "O(N) where N is the number of keys of the slot's owner",
			"Leaves a node with its old map of the slots, or moves a slot step by step.",
			labWord{"STALE", 1, 2, 0, (*State).clusterStale},
			labWord{"MOVE", 3, 5, 0, (*State).clusterMove}),
	}
}

// JoinCluster lets the network of the lab cut off nodes of a cluster.
func (l *State) JoinCluster(st *cluster.State) {
	l.cluster = st
	st.Hooks.Off = func() bool { return l.down != nil }
	st.Hooks.CutOff = func(number int) bool { return l.cutsOff(l.All[number-1]) }
}

// node reads the number of a node.
func (l *State) nodeArgument(verb string, arg []byte) (*State, error) {
	if l.cluster == nil {
		return nil, labError(verb, "this server is in no cluster: start it with --cluster yes")
	}
	n, ok := ascii.ParseInt(arg)
	if !ok || n < 1 || n > int64(len(l.All)) {
		return nil, labError(verb, "expects the number of a node from 1 to %d, not '%s'", len(l.All), printable(arg))
	}
	return l.All[n-1], nil
}

func (l *State) clusterStale(c *command.Call, args [][]byte) error {
	at, err := l.nodeArgument("cluster stale", args[0])
	switch {
	case err != nil:
		return err
	case len(args) == 2 && labVerb(args[1]) != "OFF":
		return labError("cluster stale", "expects OFF, not '%s'", printable(args[1]))
	}
	by, stale := server.Waiter{By: l.Running, Request: c.Sess.Commands}, len(args) == 1
	l.eachNode([]*State{at}, func(_ int, at *State, end func()) {
		at.cluster.SetStale(stale)
		end()
	}, func() {
		if by.IsOn() {
			l.Ex.Answer(&by.By.Sess, (*resp.Writer).OK)
		}
	})
	c.Await((*resp.Writer).NullArray)
	return nil
}

// moving is a LAB CLUSTER MOVE that waits for the nodes.
type moving struct {
	*State
	server.Waiter
	slot     string
	from, to *State
	steps    []func(reply []byte) // what is left, each with the reply to the request before
}

func (l *State) clusterMove(c *command.Call, args [][]byte) error {
	const verb = "cluster move"
	slot, ok := ascii.ParseInt(args[0])
	if !ok || slot < 0 || slot > 16383 {
		return labError(verb, "slot expects a number from 0 to 16383, not '%s'", printable(args[0]))
	}
	if labVerb(args[1]) != "TO" {
		return labError(verb, "expects TO node, not '%s'", printable(args[1]))
	}
	to, err := l.nodeArgument(verb, args[2])
	if err != nil {
		return err
	}
	names := []string{"IMPORTING", "MIGRATING", "KEYS", "NODE"}
	last := len(names) - 1
	if len(args) > 3 {
		if labVerb(args[3]) != "STEP" || len(args) == 4 {
			return labError(verb, "expects STEP and a step, not '%s'", printable(args[3]))
		}
		if last = slices.Index(names, labVerb(args[4])); last < 0 {
			return labError(verb, "STEP expects IMPORTING, MIGRATING, KEYS or NODE, not '%s'", printable(args[4]))
		}
	}
	owner := l.cluster.OwnerOf(int(slot))
	switch {
	case owner == 0:
		return labError(verb, "nobody serves slot %d", slot)
	case owner == to.Number:
		return labError(verb, "node %d serves slot %d already", to.Number, slot)
	}
	m := &moving{State: l, Waiter: server.Waiter{By: l.Running, Request: c.Sess.Commands},
		slot: strconv.FormatInt(slot, 10), from: l.All[owner-1], to: to}
	m.plan(last)
	m.next(nil)
	c.Await((*resp.Writer).NullArray)
	return nil
}

// plan notes what has to be done up to a step.
func (m *moving) plan(last int) {
	from, to := m.cluster.IDOf(m.from.Number), m.cluster.IDOf(m.to.Number)
	set := func(at *State, words ...string) func([]byte) {
		return func([]byte) { m.ask(at, append([]string{"CLUSTER", "SETSLOT", m.slot}, words...)...) }
	}
	all := [][]func([]byte){
		{set(m.to, "IMPORTING", from)},
		{set(m.from, "MIGRATING", to)},
		{func([]byte) { m.ask(m.from, "CLUSTER", "GETKEYSINSLOT", m.slot, strconv.Itoa(1<<31-1)) }, m.migrate},
		{set(m.to, "NODE", to), set(m.from, "NODE", to)},
	}
	for _, steps := range all[:last+1] {
		m.steps = append(m.steps, steps...)
	}
}

// migrate sends the keys that a node has of the slot to the other one.
func (m *moving) migrate(keys []byte) {
	v, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(keys)))
	if err != nil || len(v.Elems) == 0 {
		m.next(nil)
		return
	}
	words := []string{"MIGRATE", server.PeerHost, strconv.Itoa(m.to.PeerPort), "", "0", "5000", "REPLACE"}
	if password := m.Cfg.RequirePass; password != "" {
		words = append(words, "AUTH", password)
	}
	words = append(words, "KEYS")
	for _, key := range v.Elems {
		words = append(words, string(key.Str))
	}
	m.ask(m.from, words...)
}

// ask sends a request to a node. The next step begins with the reply, unless it is an error.
func (m *moving) ask(at *State, words ...string) {
	v := &server.InternalRequest{}
	for _, word := range words {
		v.Args = append(v.Args, []byte(word))
	}
	v.Sess.Proto = 2
	v.Done = func(reply []byte) { m.Inbox.Post(func() { m.next(reply) }) }
	v.SendTo(at.Server)
}

// next does the next step, or replies to the client if it still waits.
func (m *moving) next(reply []byte) {
	failed := len(reply) > 0 && reply[0] == '-'
	if len(m.steps) > 0 && !failed {
		step := m.steps[0]
		m.steps = m.steps[1:]
		step(reply)
		return
	}
	if m.IsOn() {
		m.Ex.Answer(&m.By.Sess, func(w *resp.Writer) {
			if failed {
				w.Raw(reply)
			} else {
				w.OK()
			}
		})
	}
}
