package command

import "github.com/miniredisd/miniredisd/resp"

// A request is one unit, with everything that it runs inside of EXEC or a script. All of a unit outlives this process,
// or nothing:
//
//	it has ended   Propagation hands it over to the append only file and to the replicas
//	it was cut     nothing of it is handed over, and neither the rest of its EXEC nor anything later is executed
//	it runs        the keys have a half of it, so nobody may save them: see HasHalf
//
// The server cuts a slow script when it ends or crashes, and at no other time. SCRIPT KILL ends a script that has
// changed nothing.

// enter begins EXEC or a script.
func (ex *Executor) enter() {
	if ex.Depth == 0 {
		ex.half = false
	}
	ex.Depth++
}

// runInside runs a command of EXEC or of a script.
func (ex *Executor) runInside(cmd *Command, s *Session, args [][]byte, w *resp.Writer, start int64) (end int64) {
	dirty := ex.KS.Stats.Dirty
	end = ex.run(cmd, s, args, w, len(w.Buf), start)
	ex.half = ex.half || ex.KS.Stats.Dirty != dirty
	return end
}

// HasHalf reports whether the keys have changes of a unit that has not ended.
func (ex *Executor) HasHalf() bool { return ex.Depth > 0 && ex.half }

// cutOff ends the unit in the middle. The keys may have a half of it from now on.
func (ex *Executor) cutOff() {
	ex.Cut = true
	ex.Propagation.cutOff()
}
