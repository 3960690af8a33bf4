package lab

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/repl"
)

// LAB FAILOVER does what Sentinel does, and decides by itself when:
//
//	home                    the nodes of the master
//	askNodes ─────────────> who is up, and how far?         a replica executes what has arrived of the stream
//	promote ──────────────> the replica with the best offset becomes a master
//	turn ─────────────────> the other replicas follow it
//	turn ─────────────────> and the old master, if other nodes reach it
//	the reply
//
// A node that others do not reach (LAB CRASH DOWN, BLACKHOLE, PARTITION of its links) is told when they do. Until then
// an old master is a master that does not know. A node with a slow script is told when the script is over.

// failing is a LAB FAILOVER that waits for the nodes.
type failing struct {
	*State
	server.Waiter
	to     int64 // the port, 0 for the best
	leaves bool  // the old master as it is
}

func (l *State) failover(c *command.Call) error {
	f := &failing{State: l, Waiter: server.Waiter{By: l.Running, Request: c.Sess.Commands}}
	for args := c.Args[2:]; len(args) > 0; {
		switch word := labVerb(args[0]); {
		case word == "TO" && f.to == 0 && len(args) > 1:
			port, ok := ascii.ParseInt(args[1])
			if !ok || port < 1 || port > server.MaxPort {
				return labError("failover", "TO expects a port, not '%s'", printable(args[1]))
			}
			f.to, args = port, args[2:]
		case word == "TO" && f.to == 0:
			return labError("failover", "port is missing behind TO")
		case word == "LEAVE" && !f.leaves:
			f.leaves, args = true, args[1:]
		default:
			return labError("failover", "expects TO port or LEAVE, not '%s'", printable(args[0]))
		}
	}
	if len(l.nodes()) <= 1 {
		return labError("failover", "this server has no replicas in its process: start it with --replicas 1")
	}
	l.askNodes(f.decide)
	c.Await((*resp.Writer).NullArray)
	return nil
}

// answer replies to the client, if it still waits.
func (f *failing) answer(write func(w *resp.Writer)) {
	if f.IsOn() {
		f.Ex.Answer(&f.By.Sess, write)
	}
}

// decide chooses the new master.
func (f *failing) decide(all []nodeState) {
	group := slices.DeleteFunc(all, func(n nodeState) bool { return n.s.Group != f.Group })
	chosen, err := f.choose(group)
	if err != nil {
		f.answer(func(w *resp.Writer) { w.Error(err.Error()) })
		return
	}
	f.eachNode([]*State{chosen.s}, func(_ int, at *State, end func()) {
		at.afterScript(func() {
			at.promote()
			end()
		})
	}, func() { f.turnOthers(chosen.s, group) })
}

func (f *failing) choose(group []nodeState) (*nodeState, error) {
	var fit []*nodeState
	var whyNot string
	for i := range group {
		n := &group[i]
		why := n.unfit()
		switch {
		case f.to != 0 && int64(n.s.PeerPort) == f.to && why != "":
			return nil, labError("failover", "%d cannot become the master: %s", f.to, why)
		case f.to != 0 && int64(n.s.PeerPort) == f.to:
			return n, nil
		case why == "" && n.priority > 0:
			fit = append(fit, n)
		case !n.isMaster || n.ended:
			if why == "" {
				why = "its replica-priority is 0"
			}
			whyNot += fmt.Sprintf(", %d: %s", n.s.PeerPort, why)
		}
	}
	if f.to != 0 {
		return nil, labError("failover", "no node of this master listens on port %d", f.to)
	}
	if len(fit) == 0 {
		return nil, labError("failover", "no replica can become the master%s", whyNot)
	}
	return slices.MinFunc(fit, func(a, b *nodeState) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.offset, a.offset),
			cmp.Compare(a.s.Number, b.s.Number))
	}), nil
}

// unfit is why a node cannot become the master, "" if it can.
func (n *nodeState) unfit() string {
	switch {
	case n.ended:
		return "it has ended"
	case !n.isUp:
		return "it is down"
	case n.isMaster:
		return "it is a master"
	case n.isCut:
		return "it is in a black hole"
	case n.isBusy:
		return "it runs a slow script"
	case !n.hasData:
		return "it has not all keys of its master"
	}
	return ""
}

// turnOthers makes the other nodes follow the new master: first the replicas, so that none of them goes back to the old
// master meanwhile.
func (f *failing) turnOthers(to *State, group []nodeState) {
	var replicas, masters, later, left []*State
	for _, n := range group {
		switch {
		case n.s == to || n.ended:
		case n.isMaster && f.leaves:
			left = append(left, n.s)
		case n.isMaster:
			masters = append(masters, n.s)
		case n.isBusy:
			later = append(later, n.s)
		default:
			replicas = append(replicas, n.s)
		}
	}
	turn := func(_ int, at *State, end func()) {
		at.turn(to)
		end()
	}
	stay := func(_ int, at *State, end func()) {
		at.turns = nil // of a failover before, if nobody has reached it since
		end()
	}
	f.eachNode(left, stay, func() {
		f.eachNode(replicas, turn, func() {
			f.eachNode(append(masters, later...), turn, func() {
				f.Tell.Promoted(to, func() {
					f.answer(func(w *resp.Writer) { w.Int(int64(to.PeerPort)) })
				})
			})
		})
	})
}

// promote makes this replica a master, as Sentinel does: a restart does not undo it.
func (l *State) promote() {
	l.turns = nil
	l.endFailover()
	if l.Follow.Host != "" {
		l.Follow.Promote()
		l.Log('*', "MASTER MODE enabled (LAB FAILOVER)")
	}
	l.Cfg.ReplicaOf, l.config.ReplicaOf = "", ""
}

// endFailover ends a FAILOVER of this node, and its pause: the lab gives the roles now.
func (l *State) endFailover() {
	if v := &l.Role.Failover; v.State != repl.NoFailover {
		v.Abort("LAB gives this server a role")
	}
}

// turn makes this node follow another one, now or once it can be told.
func (l *State) turn(to *State) {
	l.turns = to
	l.turnIfReached()
}

// turnIfReached is called when something has ended that may have kept other nodes from this one. A slow script ends
// first.
func (l *State) turnIfReached() {
	to := l.turns
	switch {
	case to == nil || l.down != nil || l.cutsOff(to):
		return
	case l.Ex.Scripts.Busy() != nil:
		l.Deferred = append(l.Deferred, l.turnIfReached)
		return
	}
	l.follow(to)
}

func (l *State) follow(to *State) {
	l.turns = nil
	l.endFailover()
	if l.Follow.Host != server.PeerHost || l.Follow.Port != to.PeerPort {
		l.Follow.Follow(server.PeerHost, to.PeerPort)
	}
	l.config.ReplicaOf = l.Cfg.ReplicaOf
}

// firstRole gives this node the role that it had at the start. The first master gives the others theirs when it is one
// again.
func (l *State) firstRole() {
	l.turns = nil
	l.releaseAll()
	first := l.All[l.Group-1]
	if first != l {
		l.turn(first)
		return
	}
	l.afterScript(func() {
		l.promote()
		l.eachNode(l.nodes()[1:], func(_ int, at *State, end func()) {
			at.firstRole()
			end()
		}, func() {})
	})
}

// firstRoles gives all nodes of this one's master the roles that they had at the start, and then calls fn here.
func (l *State) firstRoles(fn func()) {
	if l.Cfg.Replicas == 0 || l.Cfg.IsSentinel(l.Number) {
		fn()
		return
	}
	first := l.All[l.Group-1]
	if first == l {
		l.firstRole()
		fn()
		return
	}
	l.eachNode([]*State{first}, func(_ int, at *State, end func()) {
		at.firstRole()
		end()
	}, func() {
		l.firstRole()
		fn()
	})
}
