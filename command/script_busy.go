package command

import (
	"time"

	"github.com/miniredisd/miniredisd/store"
)

// A script that has been running for busy-reply-threshold lets the server turn to the
// other clients every millisecond. They may do what can end it (SCRIPT KILL, SHUTDOWN
// NOSAVE) or cannot be in its way (MULTI, AUTH ...), the rows with AllowBusy; all else
// is answered by -BUSY. Their commands run in the middle of the script's, so what the
// executor knows about the command under way is put aside meanwhile (script.c:
// scriptInterrupt; networking.c: processEventsWhileBlocked).

const (
	errBusyEval     store.Error = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	errBusyFunction store.Error = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
	errNotBusy      store.Error = "NOTBUSY No scripts in execution right now."
	errUnkillable   store.Error = "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."
	errKilled       store.Error = "Script killed by user with SCRIPT KILL..."
	errShutDown     store.Error = "Script ended because the server shuts down"
)

// pollScript is called about every millisecond while a script runs. An error ends it.
func (ex *Executor) pollScript(ran time.Duration) error {
	run, limit := &ex.script, time.Duration(ex.Cfg.BusyReplyThreshold)*time.Millisecond
	if limit <= 0 || ran < limit {
		return nil
	}
	if !run.busy {
		run.busy = true
		ex.logSlowScript(ran)
	}
	was := ex.putAside()
	ex.interrupted = &was
	stop := ex.Host.ProcessEventsWhileBlocked()
	ex.interrupted = nil
	ex.takeUp(was)
	switch {
	case stop:
		return errShutDown
	case !run.killed:
		return nil
	}
	ex.Host.Log('*', "%s", errKilled)
	return errKilled // that is what Redis says of FUNCTION KILL, too
}

func (ex *Executor) logSlowScript(ran time.Duration) {
	by := "SCRIPT KILL"
	if ex.script.function {
		by = "FUNCTION KILL"
	}
	ex.Host.Log('#', "Slow script detected: still in execution after %d milliseconds. You can try killing the script using the %s command. Script name is: %s.",
		ran.Milliseconds(), by, ex.script.name)
}

// interrupted is what the executor knows about the command under way.
type interrupted struct {
	running    *Session
	afterReply []byte   // what is to follow its reply
	untold     [][]byte // keys, for its client's cache
	depth      int
	mono, now  int64
	noTouch    bool
}

// putAside sets that aside, but not Depth: whoever waits for a key that the script has
// made must not get it before the script is through.
func (ex *Executor) putAside() interrupted {
	was := interrupted{ex.running, ex.afterReply, ex.trackers.pending, ex.Depth, ex.mono, ex.KS.Now, ex.KS.NoTouch}
	ex.running, ex.executing, ex.afterReply, ex.trackers.pending = nil, false, nil, nil
	ex.script.on = false
	return was
}

func (ex *Executor) takeUp(was interrupted) {
	ex.running, ex.executing, ex.afterReply, ex.trackers.pending = was.running, true, was.afterReply, was.untold
	ex.Depth, ex.mono, ex.KS.Now, ex.KS.NoTouch = was.depth, was.mono, was.now, was.noTouch
	ex.script.on = true
}

// SendLater reports whether s runs the script that is interrupted. If so, the message goes behind
// the script's reply.
func (ex *Executor) SendLater(s *Session, message []byte) bool {
	if ex.interrupted == nil || ex.interrupted.running != s {
		return false
	}
	ex.interrupted.afterReply = append(ex.interrupted.afterReply, message...)
	return true
}

// Busy is the answer to what may not run while a script has been running for too long,
// nil at other times.
func (ex *Executor) Busy() error {
	switch {
	case !ex.script.busy:
		return nil
	case ex.script.function:
		return errBusyFunction
	}
	return errBusyEval
}
