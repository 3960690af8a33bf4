package lab

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/repl"
)

// replicationWait replies when all replicas of the process that follow this server have what it has executed, with
// their number. It asks the nodes who follows.
func (l *State) replicationWait(c *command.Call, args [][]byte) error {
	const verb = "replication wait"
	ms, err := labNumber(verb, "timeout-milliseconds", args, 0, 0)
	if err != nil {
		return err
	}
	if l.Follow.Host != "" {
		return labError(verb, "this server is a replica: send it to its master")
	}
	rs := &l.Replicas
	w := repl.AckWait{Waiter: server.Waiter{By: l.Running, Request: c.Sess.Commands}, Offset: rs.Stream.Offset, Asks: true}
	l.askNodes(func(all []nodeState) {
		var of []*State
		for _, n := range all {
			if n.follows == l && n.isUp {
				of = append(of, n.s)
			}
		}
		w.Replicas = int64(len(of))
		if !w.IsOn() {
			return
		}
		rs.Waits = append(rs.Waits, w)
		rs.AnswerWaits()
		if ms == 0 {
			l.endWithNodes(w.Waiter, of)
		}
	})
	soFar := func(out *resp.Writer) { out.Int(rs.Acknowledged(&w)) }
	c.Await(soFar)
	if ms > 0 { // in real time: the lab's clock may stand still
		l.Loop.After(time.Duration(ms)*time.Millisecond, func() time.Duration {
			if w.IsOn() {
				l.Ex.Answer(&w.By.Sess, soFar)
			}
			return 0
		})
	}
	return nil
}

// endWithNodes ends a wait that has no time limit if one of the replicas is gone: it would last for ever.
func (l *State) endWithNodes(w server.Waiter, of []*State) {
	const often = 50 * time.Millisecond // in real time: the lab's clock may stand still
	l.Loop.After(often, func() time.Duration {
		if !w.IsOn() {
			return 0
		}
		l.askNodes(func(all []nodeState) {
			for _, n := range all {
				why := n.gone(l)
				if why == "" || !slices.Contains(of, n.s) || !w.IsOn() {
					continue
				}
				err := labError("replication wait", "the replica %d %s: it does not tell what it has", n.s.PeerPort, why)
				l.Ex.Answer(&w.By.Sess, func(out *resp.Writer) { out.Error(err.Error()) })
			}
			l.endWithNodes(w, of)
		})
		return 0
	})
}

// gone is why a node will not acknowledge what its master has, "" if it may.
func (n *nodeState) gone(master *State) string {
	switch {
	case n.ended:
		return "has ended"
	case !n.isUp:
		return "is down"
	case n.isMaster:
		return "is a master now"
	case n.follows != master:
		return "follows another server now"
	}
	return ""
}
