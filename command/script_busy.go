package command

import (
	"time"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/store"
)

// A script that exceeds busy-reply-threshold lets the server serve other clients, every millisecond.
// They may run the rows with AllowBusy: commands that end the script (SCRIPT KILL, SHUTDOWN NOSAVE) or
// cannot disturb it (MULTI, AUTH). All other commands get -BUSY. These commands run in the middle of
// the script's command, so the executor sets its state aside meanwhile (script.c: scriptInterrupt;
// networking.c: processEventsWhileBlocked).

const (
	errBusyEval store.Error = "BUSY Redis is busy running a script." +
		" You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	errBusyFunction store.Error = "BUSY Redis is busy running a script." +
		" You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
	errNotBusy    store.Error = "NOTBUSY No scripts in execution right now."
	errUnkillable store.Error = "UNKILLABLE Sorry the script already executed write commands against the dataset." +
		" You can either wait the script termination or kill the server in a hard way" +
		" using the SHUTDOWN NOSAVE command."
	errKilled   store.Error = "Script killed by user with SCRIPT KILL..." // FUNCTION KILL says the same
	errShutDown store.Error = "Script ended because the server shuts down"
)

// poll is called about every millisecond while a script runs. ran is the script's time so far. An
// error ends the script.
func (sc *Scripts) poll(ran time.Duration) error {
	ex, run := sc.ex, &sc.run
	limit := time.Duration(ex.Cfg.BusyReplyThreshold) * time.Millisecond
	if limit <= 0 || ran < limit {
		return nil
	}
	if !run.busy {
		run.busy = true
		sc.logSlow(ran)
	}
	saved := ex.interrupt()
	ex.interrupted = &saved
	stop := ex.Host.ProcessEventsWhileBlocked()
	ex.interrupted = nil
	ex.resume(saved)
	switch {
	case stop:
		ex.cutOff()
		return errShutDown
	case !run.killed:
		return nil
	}
	ex.Host.Log('*', "%s", errKilled)
	return errKilled
}

func (sc *Scripts) logSlow(ran time.Duration) {
	by := "SCRIPT KILL"
	if sc.run.function {
		by = "FUNCTION KILL"
	}
	sc.ex.Host.Log('#', "Slow script detected: still in execution after %d milliseconds."+
		" You can try killing the script using the %s command. Script name is: %s.",
		ran.Milliseconds(), by, sc.run.name)
}

// interrupted is the executor's state of the script's command.
type interrupted struct {
	running *Session
	untold  [][]byte // see Tracking.pending
	behind  []byte   // see messages.behind
	depth   int
	now     clock.Moment
	noTouch bool
}

// interrupt saves the state of the script's command and clears it for other commands. Depth stays:
// a client that waits for a key of the script must not get it before the script has ended.
func (ex *Executor) interrupt() interrupted {
	saved := interrupted{
		ex.running, ex.Tracking.pending, ex.messages.behind, ex.Depth, ex.Now, ex.KS.NoTouch,
	}
	ex.running, ex.executing, ex.Tracking.pending, ex.messages.behind = nil, false, nil, nil
	ex.Scripts.run.on = false
	return saved
}

// resume restores what interrupt has saved.
func (ex *Executor) resume(saved interrupted) {
	ex.running, ex.executing = saved.running, true
	ex.Tracking.pending, ex.messages.behind = saved.untold, saved.behind
	ex.setNow(saved.now)
	ex.Depth, ex.KS.NoTouch = saved.depth, saved.noTouch
	ex.Scripts.run.on = true
}

// SendLater keeps a message to the client of an interrupted script until the script has replied. It reports whether
// s is this client.
func (ex *Executor) SendLater(s *Session, message []byte) bool {
	if ex.interrupted == nil || ex.interrupted.running != s {
		return false
	}
	ex.interrupted.behind = append(ex.interrupted.behind, message...)
	return true
}

// Busy returns the error for commands that may not run beside a slow script, or nil if none runs.
func (sc *Scripts) Busy() error {
	switch {
	case !sc.run.busy:
		return nil
	case sc.run.function:
		return errBusyFunction
	}
	return errBusyEval
}
