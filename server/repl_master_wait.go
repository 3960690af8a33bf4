package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// ackWait is a client in WAIT.
type ackWait struct {
	by       *client
	request  int64 // Session.Commands then: the client waits for nothing else
	offset   int64
	replicas int64
}

// WAIT numreplicas timeout (replication.c: waitCommand)
func (s *Server) wait(c *command.Call) error {
	if s.follow.host != "" {
		return command.ErrWaitReplica
	}
	r := &s.replicas
	n, ok := ascii.ParseInt(c.Args[1])
	if !ok {
		return store.ErrNotInt
	}
	ms, err := command.ParseMillis(c, c.Args[2])
	if err != nil {
		return err
	}
	offset := c.Sess.Offset
	if got := r.acknowledged(offset); got >= n || c.Ex.Depth > 0 {
		c.Int(got)
		return nil
	}
	c.AwaitFor(ms, func(w *resp.Writer) { w.Int(r.acknowledged(offset)) })
	r.keepWaits()
	r.waits = append(r.waits, ackWait{s.running, c.Sess.Commands, offset, n})
	r.asksAcks = true
	return nil
}

// acknowledged counts the replicas that have executed the stream up to an offset.
func (r *replicas) acknowledged(offset int64) (n int64) {
	for _, c := range r.all {
		if c.replica.state == online && c.replica.acked >= offset && !c.closed {
			n++
		}
	}
	return n
}

// isOn reports whether the client still waits.
func (w *ackWait) isOn() bool {
	return w.by.sess.Hold == command.Blocked && w.by.sess.Commands == w.request && !w.by.closed
}

// keepWaits forgets those whose time is over, before the list would take more memory.
func (r *replicas) keepWaits() {
	if len(r.waits) < cap(r.waits) {
		return
	}
	kept := r.waits[:0]
	for _, w := range r.waits {
		if w.isOn() {
			kept = append(kept, w)
		}
	}
	clear(r.waits[len(kept):])
	r.waits = kept
}

// answerWaits answers the clients whose writes enough replicas have (replication.c: processClientsWaitingReplicas).
func (r *replicas) answerWaits() {
	kept := r.waits[:0]
	for _, w := range r.waits {
		if !w.isOn() {
			continue
		}
		got := r.acknowledged(w.offset)
		if got < w.replicas {
			kept = append(kept, w)
			continue
		}
		r.s.ex.Answer(&w.by.sess, func(out *resp.Writer) { out.Int(got) })
	}
	clear(r.waits[len(kept):])
	r.waits = kept
}
