package command

import (
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// ServeReady serves the clients that wait for keys with something new. Do calls it after each
// command, and the server where keys change without a command
// (blocked.c: handleClientsBlockedOnKeys). BLMOVE may make further keys ready while it is served.
// While a script runs, its keys are not ready yet, and if it was cut they never are.
func (ws *Waiters) ServeReady() {
	if ws.ex.Depth > 0 || ws.ex.Cut {
		return
	}
	later := 0
	for i := 0; i < len(ws.toServe); i++ {
		q := ws.toServe[i]
		q.ready = false
		if ws.serve(q) {
			q.ready = true
			ws.toServe[later] = q
			later++
		}
	}
	clear(ws.toServe[later:])
	ws.toServe = ws.toServe[:later]
}

// Again runs the command of a client that waits for keys again, and those of the others in its queue.
func (ws *Waiters) Again(s *Session) {
	if len(s.Wait.places) > 0 {
		ws.note(s.Wait.places[0].in)
	}
	ws.ServeReady()
}

// serve runs the commands of one queue again, in order, while the key has something for them. A
// client that blocks again goes to the end of the queue and is not tried again in this round. serve
// reports whether CLIENT PAUSE has kept a client from its turn.
func (ws *Waiters) serve(q *queue) (later bool) {
	ex := ws.ex
	db, key := ex.KS.DBs[q.db], []byte(q.key)
	q.next = q.first
	for n := q.len; n > 0 && q.next != nil; n-- {
		p := q.next
		q.next = p.next
		found := db.Lookup(key, store.LookupNoEffects)
		if !found.Exists() && q.orGone == 0 {
			break
		}
		switch w := p.of.Wait; {
		case !w.orGone && (!found.Exists() || found.Type() != w.typ):
		case ex.Refusals.holds(w.cmd.Flags):
			later = true
		default:
			ex.retry(p.of)
		}
	}
	q.next = nil
	return later
}

// retry runs the command of a blocked client again.
func (ex *Executor) retry(s *Session) {
	w := s.Wait
	ex.Waiters.Remove(s)
	s.Hold = NotHeld
	ex.running, ex.executing, ex.retrying = s, true, w
	r := ex.unblockedReply(s)
	if err := ex.admitNow(s, w.cmd, w.args); err != nil {
		ex.Show.request(trace.Refused, s, w.cmd, w.args)
		ex.fail(r.w, 0, ex.refuse(s, w.cmd, w.args, err))
	} else {
		began := ex.Now.Mono - w.took
		w.took = 0
		ex.setNow(ex.Clock.At(ex.run(w.cmd, s, w.args, r.w, 0, began)))
	}
	ex.running, ex.executing, ex.retrying = nil, false, nil
	ex.finish(&r)
	ex.sendPending(&r)
}

// Unblock ends the wait of s: with the error err, or with the reply of a timeout when err is nil.
func (ex *Executor) Unblock(s *Session, err error) {
	w := s.Wait
	ex.Waiters.Remove(s)
	s.Hold = NotHeld
	r := ex.unblockedReply(s)
	r.over = true
	if err != nil {
		ex.Table.Calls(w.cmd).Failed++
		ex.fail(r.w, 0, err)
	} else {
		w.timeoutReply(r.w)
	}
	ex.account(w.cmd, s, w.args, w.took, r.w, 0)
	ex.finish(&r)
}

// Answer ends the wait of a client in Call.Await. write appends the reply.
func (ex *Executor) Answer(s *Session, write func(*resp.Writer)) {
	s.Wait.timeoutReply = write
	ex.Unblock(s, nil)
}
