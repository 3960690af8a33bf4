package sentinel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab/sentinel"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/lab"
	"github.com/miniredisd/miniredisd/store"
)

// Rows are the verbs of the lab for Sentinels. Any server of the process takes them.
func Rows() []command.Row {
	verb := lab.Row("sentinel",
		"(sentinel:integer (PAUSE | RESUME | (BELIEVE address:string))) | (SPLIT (OFF | port:integer+)) | RECONF",
		-3, 0,
		"O(N) where N is the number of servers of the process",
		"Makes Sentinels late or wrong, divides the network, or converts old masters at once.", verb)
	verb.Since = "0.2.0"
	return []command.Row{verb}
}

func mistake(format string, args ...any) error {
	return store.Errorf("ERR LAB SENTINEL: "+format, args...)
}

// verb is LAB SENTINEL.
func verb(l *lab.State, c *command.Call) error {
	if len(l.Sentinels) == 0 {
		return mistake("this process has no Sentinels: start it with --sentinels 3")
	}
	args := words(c.Args[2:])
	switch word := strings.ToUpper(args[0]); {
	case word == "RECONF" && len(args) == 1:
		return await(l, c, l.Sentinels, func(st *State, end func()) { st.reconf(end) })
	case word == "RECONF":
		return mistake("RECONF expects nothing behind it, not '%s'", args[1])
	case word == "SPLIT":
		return split(l, c, args[1:])
	}
	n, ok := ascii.ParseInt([]byte(args[0]))
	switch {
	case !ok:
		return mistake("expects the number of a Sentinel, SPLIT or RECONF, not '%s'", args[0])
	case n < 1 || n > int64(len(l.Sentinels)):
		return mistake("there is no Sentinel %d, only 1 to %d", n, len(l.Sentinels))
	case len(args) == 1:
		return mistake("expects PAUSE, RESUME or BELIEVE after the number")
	}
	return of(l, c, l.Sentinels[n-1], strings.ToUpper(args[1]), args[2:])
}

// of is a verb for one Sentinel.
func of(l *lab.State, c *command.Call, to *lab.State, word string, args []string) error {
	one := []*lab.State{to}
	switch {
	case (word == "PAUSE" || word == "RESUME") && len(args) > 0:
		return mistake("%s expects nothing behind it, not '%s'", word, args[0])
	case word == "PAUSE":
		return await(l, c, one, func(st *State, end func()) { st.pause(end) })
	case word == "RESUME":
		return await(l, c, one, func(st *State, end func()) { st.resume(end) })
	case word == "BELIEVE" && len(args) == 1:
		at, err := nodeNamed(l, args[0])
		if err != nil {
			return err
		}
		return await(l, c, one, func(st *State, end func()) {
			if m := st.masterOf(at); m != nil && m.Addr != addrOf(at) {
				st.brain.SwitchTo(m, addrOf(at))
			}
			st.acted()
			end()
		})
	case word == "BELIEVE":
		return mistake("BELIEVE expects one address, such as 7002 or 127.0.0.1:7002")
	}
	return mistake("expects PAUSE, RESUME or BELIEVE, not '%s'", word)
}

// await calls fn at servers that have Sentinels, and replies once all have called end.
func await(l *lab.State, c *command.Call, at []*lab.State, fn func(st *State, end func())) error {
	w := server.Waiter{By: l.Running, Request: c.Sess.Commands}
	var all []*State
	for _, s := range at {
		all = append(all, server.PartOf[*State](s.Server))
	}
	eachSentinel(l, all, func(_ int, st *State, end func()) { fn(st, end) }, func() { answerOK(l, w) })
	c.Await((*resp.Writer).NullArray)
	return nil
}

func answerOK(l *lab.State, w server.Waiter) {
	if w.IsOn() {
		l.Ex.Answer(&w.By.Sess, (*resp.Writer).OK)
	}
}

// nodeNamed returns the node with a port, or with an address.
func nodeNamed(l *lab.State, text string) (*lab.State, error) {
	port := strings.TrimPrefix(text, server.PeerHost+":")
	for _, at := range l.All {
		if strconv.Itoa(at.PeerPort) == port {
			return at, nil
		}
	}
	return nil, mistake("no master or replica of this process has the address '%s'", text)
}

// nameOf is the name of the master with a place.
func nameOf(first string, place int) string {
	if place == 0 {
		return first
	}
	return fmt.Sprintf("%s%d", first, place+1)
}

// masterOf is what this Sentinel knows of the master that a node began with, nil for nothing.
func (st *State) masterOf(at *lab.State) *sentinel.Instance {
	return st.brain.Master(nameOf(st.Cfg.SentinelName, at.Group-1))
}

// pause makes a Sentinel deaf. Its clients get the answers that it has.
func (st *State) pause(end func()) {
	st.whenQuiet(func() {
		if !st.paused {
			st.paused, st.since = true, st.now()
		}
		st.leapt()
		end()
	})
}

// resume lets a Sentinel go on. The time of its pause does not count.
func (st *State) resume(end func()) {
	if st.paused {
		st.paused = false
		st.shift -= st.now() - st.since
		st.brain.Probe()
		st.next = st.brain.Now() + 1
	}
	st.look()
	st.whenQuiet(end)
}

// learn tells a Sentinel of a LAB FAILOVER, unless it is late or cannot hear of it.
func (st *State) learn(to *lab.State) {
	m := st.masterOf(to)
	if st.paused || !st.isUp() || !st.Hears(to) || m == nil {
		return
	}
	st.brain.Adopt(m, addrOf(to))
	st.acted()
}

// reset makes a Sentinel what it was at the start. A leap was one of the time before.
func (st *State) reset() {
	st.leapt()
	st.begin()
	st.flush()
	st.look()
}

// reconf asks all nodes for their roles, and converts those that have a wrong one.
func (st *State) reconf(end func()) {
	if st.paused || !st.isUp() {
		end()
		return
	}
	st.whenQuiet(func() {
		st.brain.Probe()
		st.brain.Tick(st.brain.Now())
		st.flush()
		st.whenQuiet(func() {
			st.brain.Reconf()
			st.flush()
			st.whenQuiet(end)
		})
	})
}

// split divides the network: the servers with these ports hear each other, and the others do so. No server hears one of
// the other side. Clients reach all.
func split(l *lab.State, c *command.Call, args []string) error {
	all := slices.Concat(l.All, l.Sentinels)
	apart := make([]bool, len(all))
	off := len(args) == 1 && strings.EqualFold(args[0], "OFF")
	if len(args) == 0 {
		return mistake("SPLIT expects OFF, or the ports of one side")
	}
	for _, arg := range args {
		at := slices.IndexFunc(all, func(s *lab.State) bool { return strconv.Itoa(s.PeerPort) == arg })
		if at < 0 && !off {
			return mistake("no server of this process listens on port '%s'", arg)
		}
		if !off {
			apart[at] = true
		}
	}
	w := server.Waiter{By: l.Running, Request: c.Sess.Commands}
	missing := len(all)
	for i, s := range all {
		v := &server.InternalRequest{Errand: func(v *server.InternalRequest) {
			for j, other := range all {
				if i != j {
					s.Isolate(other, apart[i] != apart[j])
				}
			}
			v.End(nil)
		}}
		v.Done = func([]byte) {
			l.Inbox.Post(func() {
				if missing--; missing == 0 {
					answerOK(l, w)
				}
			})
		}
		v.SendTo(s.Server)
	}
	c.Await((*resp.Writer).NullArray)
	return nil
}

// describe returns what writes this Sentinel into LAB TOPOLOGY.
func (st *State) describe() func(w *resp.Writer) {
	state := "up"
	switch {
	case !st.isUp():
		state = "down"
	case !st.Hears(st.State):
		state = "blackhole"
	case st.paused:
		state = "paused"
	}
	var believes []string
	for _, m := range st.brain.Masters {
		believes = append(believes, m.Name, fmt.Sprintf("%s %s", m.MasterAddr(), m.FlagNames()))
	}
	epoch := st.brain.Epoch
	return func(w *resp.Writer) {
		w.Map(6)
		w.IntField("node", int64(st.Number))
		w.IntField("port", int64(st.PeerPort))
		w.TextField("state", state)
		w.TextField("role", "sentinel")
		w.IntField("epoch", epoch)
		w.BulkString("believes")
		w.Map(len(believes) / 2)
		for _, text := range believes {
			w.BulkString(text)
		}
	}
}
