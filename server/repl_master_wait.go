package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// ackWait is a client in WAIT, WAITAOF or LAB REPLICATION WAIT.
type ackWait struct {
	waiter
	offset   int64 // that replicas have to reach
	replicas int64 // how many
	asks     bool  // once all of them get the stream: LAB REPLICATION WAIT

	disk  bool  // on their disks: WAITAOF
	local bool  // and on the disk of this server
	bytes int64 // of its append only file
}

func WaitRows() []command.Row {
	const flags = command.NotKeyspace | command.InConnection | command.RequestAllShards | command.ResponseMin
	return []command.Row{
		row("wait", "numreplicas:integer timeout:integer",
			3, flags, "generic", "3.0.0",
			"O(1)",
			"Waits until replicas have received this connection's writes.", (*replicas).wait),
		row("waitaof", "numlocal:integer numreplicas:integer timeout:integer",
			4, command.NoScript|flags, "generic", "7.2.0",
			"O(1)",
			"Waits until this connection's writes are in append-only files.", (*replicas).waitAOF),
	}
}

const (
	errNumLocal    store.Error = "ERR value is out of range, must be between 0 and 1"
	errNumReplicas store.Error = "ERR value is out of range, must be positive"
	errNoAOF       store.Error = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
)

// WAIT numreplicas timeout (replication.c: waitCommand)
func (r *replicas) wait(c *command.Call) error {
	if r.s.Follow.Host != "" {
		return command.ErrWaitReplica
	}
	n, ok := ascii.ParseInt(c.Args[1])
	if !ok {
		return store.ErrNotInt
	}
	ms, err := command.ParseMillis(c, c.Args[2])
	if err != nil {
		return err
	}
	r.await(c, ms, ackWait{offset: c.Sess.Offset, replicas: n})
	return nil
}

// WAITAOF numlocal numreplicas timeout (replication.c: waitaofCommand)
// For this server it waits for all changes so far. Redis leaves out those of others since the client's last command.
func (r *replicas) waitAOF(c *command.Call) error {
	local, ok := ascii.ParseInt(c.Args[1])
	if !ok {
		return store.ErrNotInt
	}
	if local < 0 || local > 1 {
		return errNumLocal
	}
	n, ok := ascii.ParseInt(c.Args[2])
	if !ok || n < 0 {
		return errNumReplicas
	}
	ms, err := command.ParseMillis(c, c.Args[3])
	switch {
	case err != nil:
		return err
	case r.s.Follow.Host != "":
		return command.ErrWaitAOFReplica
	case local > 0 && !r.s.Cfg.AppendOnly:
		return errNoAOF
	}
	r.await(c, ms, ackWait{
		offset: c.Sess.Offset, replicas: n, disk: true, local: local > 0, bytes: r.s.Persist.AOF.at.appended,
	})
	return nil
}

// await answers now if there is nothing to wait for, and else as soon as it can.
func (r *replicas) await(c *command.Call, ms int64, w ackWait) {
	if r.isDone(&w) || c.Ex.Depth > 0 {
		r.answer(&w, c.Writer)
		return
	}
	w.waiter = waiter{r.s.Running, c.Sess.Commands}
	c.AwaitFor(ms, func(out *resp.Writer) { r.answer(&w, out) })
	r.keepWaits()
	r.waits = append(r.waits, w)
	r.asksAcks = true
}

func (r *replicas) answer(w *ackWait, out *resp.Writer) {
	if !w.disk {
		out.Int(r.acknowledged(w))
		return
	}
	out.Array(2)
	out.Int(OneIf(r.isLocal(w)))
	out.Int(r.acknowledged(w))
}

// isDone reports whether enough servers have what the client waits for.
func (r *replicas) isDone(w *ackWait) bool {
	return r.acknowledged(w) >= w.replicas && (!w.local || r.isLocal(w))
}

// isLocal reports whether the changes are on the disk of this server.
func (r *replicas) isLocal(w *ackWait) bool {
	return r.s.Cfg.AppendOnly && r.s.Persist.AOF.at.has(w.bytes)
}

// acknowledged counts the replicas that have told that they have what a client waits for. What was written before the
// first replica came has offset 0, as a replica has that has told nothing (replication.c:
// replicationCountAcksByOffset, replicationCountAOFAcksByOffset).
func (r *replicas) acknowledged(w *ackWait) (n int64) {
	for _, c := range r.All {
		rep := ReplicaOf(c)
		has, told := rep.Acked, rep.told != 0
		if w.disk {
			has, told = rep.synced, rep.hasFile
		}
		if rep.state == online && told && has >= w.offset && !c.Closed {
			n++
		}
	}
	return n
}

// askOnce asks the replicas for their offsets, once for each LAB REPLICATION WAIT, when all of them get the stream.
// So the bytes of the stream do not depend on the order in which replicas come.
func (r *replicas) askOnce() {
	for i := range r.waits {
		w, n := &r.waits[i], int64(0)
		if !w.asks || !w.isOn() {
			continue
		}
		for _, c := range r.All {
			n += OneIf(GetsStream(c))
		}
		if n >= w.replicas {
			w.asks, r.asksAcks = false, true
		}
	}
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

// noteFsync makes the next pass look at those who wait for the disk.
func (r *replicas) noteFsync() {
	if len(r.waits) > 0 {
		r.fsynced = true
		r.s.Loop.Post(func() {})
	}
}

// answerFsynced answers those who wait for the disk, if more is on it.
func (r *replicas) answerFsynced() {
	if r.fsynced {
		r.fsynced = false
		r.answerWaits()
	}
}

// answerWaits answers the clients whose writes are where they have to be (replication.c:
// processClientsWaitingReplicas).
func (r *replicas) answerWaits() {
	kept := r.waits[:0]
	for _, w := range r.waits {
		switch {
		case !w.isOn():
		case w.local && !r.s.Cfg.AppendOnly:
			r.s.Ex.Unblock(&w.by.Sess, errNoAOF)
		case r.isDone(&w):
			r.s.Ex.Answer(&w.by.Sess, func(out *resp.Writer) { r.answer(&w, out) })
		default:
			kept = append(kept, w)
		}
	}
	clear(r.waits[len(kept):])
	r.waits = kept
}
