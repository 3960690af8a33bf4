package command

import (
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// ServeReady gives those who wait for keys that have appeared their turn. It is
// called when a command is over, and where keys change without one. Serving one may
// make a key ready for others: BLMOVE passes elements on. Inside a script that runs so
// long that others are answered meanwhile, it is not yet time.
func (ex *Executor) ServeReady() {
	if ex.Depth > 0 {
		return
	}
	ws := &ex.waiters
	later := 0
	for i := 0; i < len(ws.ready); i++ {
		q := ws.ready[i]
		q.ready = false
		if ex.serve(q) {
			q.ready = true
			ws.ready[later] = q
			later++
		}
	}
	clear(ws.ready[later:])
	ws.ready = ws.ready[:later]
}

// serve has the waiters of one key try again, in their order, for as long as there
// is something for them. Who has to wait on, does so at the end of the queue, out of
// reach of this turn. It returns true when some could not try because of CLIENT
// PAUSE.
func (ex *Executor) serve(q *queue) (later bool) {
	db, key := ex.KS.DBs[q.db], []byte(q.key)
	ex.KS.Now = ex.Clock.Wall(ex.mono)
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
		case ex.Pause != PauseNone && ex.Pause.holds(w.cmd.Flags):
			later = true
		default:
			ex.retry(p.of)
		}
	}
	q.next = nil
	return later
}

// retry runs the command of s again.
func (ex *Executor) retry(s *Session) {
	w := s.Wait
	ex.dequeue(s)
	s.Hold = NotHeld
	ex.running, ex.executing, ex.retrying = s, true, w
	ex.KS.Now = ex.Clock.Wall(ex.mono)
	out := &ex.late
	out.Buf, out.Proto = out.Buf[:0], s.Proto
	if err := ex.permit(s, w.cmd, w.args); err != nil {
		w.cmd.Calls.Rejected++
		ex.fail(out, 0, err)
	} else {
		began := ex.mono - w.took
		w.took = 0
		ex.mono = ex.run(w.cmd, s, w.args, out, 0, began)
	}
	ex.running, ex.executing, ex.retrying = nil, false, nil
	if s.Hold == NotHeld {
		ex.resume(s)
	}
	if s.Tracker != nil {
		ex.tellPending(s)
	}
	if len(ex.afterReply) > 0 {
		ex.Host.Deliver(s, ex.afterReply)
		ex.forgetSent()
	}
}

// Unblock ends the wait of s: with err, or as if its time were over.
func (ex *Executor) Unblock(s *Session, err error) {
	w := s.Wait
	ex.dequeue(s)
	s.Hold = NotHeld
	out := &ex.late
	out.Buf, out.Proto = out.Buf[:0], s.Proto
	if err != nil {
		w.cmd.Calls.Failed++
		ex.fail(out, 0, err)
	} else {
		w.nothing(out)
	}
	ex.account(w.cmd, s, w.args, w.took)
	ex.resume(s)
}

// resume hands the late reply of s over.
func (ex *Executor) resume(s *Session) {
	if ex.Observed {
		ex.Host.Answered(s, s.Wait.cmd, s.Wait.args, &ex.late, 0, true)
	}
	s.answered(s.Wait.cmd, &ex.late, 0)
	ex.Host.Resume(s, ex.late.Buf)
	if cap(ex.late.Buf) > keepMessage {
		ex.late = resp.Writer{}
	}
}

// StopWaiting takes s, which is about to go, out of all queues: nothing is taken
// off a list for a client that will not get it.
func (ex *Executor) StopWaiting(s *Session) {
	if s.Wait != nil {
		ex.dequeue(s)
	}
}

// Answer ends the wait of s with the reply that write appends.
func (ex *Executor) Answer(s *Session, write func(*resp.Writer)) {
	s.Wait.nothing = write
	ex.Unblock(s, nil)
}
