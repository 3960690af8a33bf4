package repl

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// AckWait is a client in WAIT, WAITAOF or LAB REPLICATION WAIT.
type AckWait struct {
	server.Waiter
	Offset   int64 // that replicas have to reach
	Replicas int64 // how many
	Asks     bool  // once all of them get the stream: LAB REPLICATION WAIT

	disk  bool  // on their disks: WAITAOF
	local bool  // and on the disk of this server
	bytes int64 // of its append only file
}

func waitRows() []command.Row {
	const flags = command.NotKeyspace | command.InConnection | command.RequestAllShards | command.ResponseMin
	return []command.Row{
		server.Row("wait", "numreplicas:integer timeout:integer",
			3, flags, "generic", "3.0.0",
			"O(1)",
			"Waits until replicas have received this connection's writes.", (*replicas).wait),
		server.Row("waitaof", "numlocal:integer numreplicas:integer timeout:integer",
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
	r.await(c, ms, AckWait{Offset: c.Sess.Offset, Replicas: n})
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
	r.await(c, ms, AckWait{
		Offset: c.Sess.Offset, Replicas: n, disk: true, local: local > 0, bytes: r.s.Persist.AOF.At.Appended,
	})
	return nil
}

// await answers now if there is nothing to wait for, and else as soon as it can.
func (r *replicas) await(c *command.Call, ms int64, w AckWait) {
	if r.isDone(&w) || c.Ex.Depth > 0 {
		r.answer(&w, c.Writer)
		return
	}
	w.Waiter = server.Waiter{By: r.s.Running, Request: c.Sess.Commands}
	c.AwaitFor(ms, func(out *resp.Writer) { r.answer(&w, out) })
	r.keepWaits()
	r.Waits = append(r.Waits, w)
	r.asksAcks = true
}

func (r *replicas) answer(w *AckWait, out *resp.Writer) {
	if !w.disk {
		out.Int(r.Acknowledged(w))
		return
	}
	out.Array(2)
	out.Int(server.OneIf(r.isLocal(w)))
	out.Int(r.Acknowledged(w))
}

// isDone reports whether enough servers have what the client waits for.
func (r *replicas) isDone(w *AckWait) bool {
	return r.Acknowledged(w) >= w.Replicas && (!w.local || r.isLocal(w))
}

// isLocal reports whether the changes are on the disk of this server.
func (r *replicas) isLocal(w *AckWait) bool {
	return r.s.Cfg.AppendOnly && r.s.Persist.AOF.At.Has(w.bytes)
}

// Acknowledged counts the replicas that have told that they have what a client waits for. What was written before the
// first replica came has offset 0, as a replica has that has told nothing (replication.c:
// replicationCountAcksByOffset, replicationCountAOFAcksByOffset).
func (r *replicas) Acknowledged(w *AckWait) (n int64) {
	for _, c := range r.All {
		rep := ReplicaOf(c)
		has, told := rep.Acked, rep.Told != 0
		if w.disk {
			has, told = rep.synced, rep.hasFile
		}
		if rep.State == Online && told && has >= w.Offset && !c.Closed {
			n++
		}
	}
	return n
}

// askOnce asks the replicas for their offsets, once for each LAB REPLICATION WAIT, when all of them get the stream.
// So the bytes of the stream do not depend on the order in which replicas come.
func (r *replicas) askOnce() {
	for i := range r.Waits {
		w, n := &r.Waits[i], int64(0)
		if !w.Asks || !w.IsOn() {
			continue
		}
		for _, c := range r.All {
			n += server.OneIf(GetsStream(c))
		}
		if n >= w.Replicas {
			w.Asks, r.asksAcks = false, true
		}
	}
}

// keepWaits forgets those whose time is over, before the list would take more memory.
func (r *replicas) keepWaits() {
	if len(r.Waits) < cap(r.Waits) {
		return
	}
	kept := r.Waits[:0]
	for _, w := range r.Waits {
		if w.IsOn() {
			kept = append(kept, w)
		}
	}
	clear(r.Waits[len(kept):])
	r.Waits = kept
}

// noteFsync makes the next pass look at those who wait for the disk.
func (r *replicas) noteFsync() {
	if len(r.Waits) > 0 {
		r.fsynced = true
		r.s.Loop.Post(func() {})
	}
}

// answerFsynced answers those who wait for the disk, if more is on it.
func (r *replicas) answerFsynced() {
	if r.fsynced {
		r.fsynced = false
		r.AnswerWaits()
	}
}

// AnswerWaits answers the clients whose writes are where they have to be (replication.c:
// processClientsWaitingReplicas).
func (r *replicas) AnswerWaits() {
	kept := r.Waits[:0]
	for _, w := range r.Waits {
		switch {
		case !w.IsOn():
		case w.local && !r.s.Cfg.AppendOnly:
			r.s.Ex.Unblock(&w.By.Sess, errNoAOF)
		case r.isDone(&w):
			r.s.Ex.Answer(&w.By.Sess, func(out *resp.Writer) { r.answer(&w, out) })
		default:
			kept = append(kept, w)
		}
	}
	clear(r.Waits[len(kept):])
	r.Waits = kept
}
