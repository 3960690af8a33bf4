package sentinel

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/lab"
)

// When the clock of the lab leaps, a Sentinel does afterwards what it would have done on the way: tick by tick, each
// with the answers of its calls. The reply to LAB CLOCK ADVANCE waits for that. If all clocks leap together, so do the
// Sentinels:
//
//	LAB ALL CLOCK ADVANCE 40000     who is further behind takes the next tick
//
//	7004  ──1──4──7── ... ──┤       so the same failures have the same end each time
//	7005  ───2──5──8─ ... ──┤
//	7006  ────3──6──9 ... ──┤
//
// While all is well nothing happens on the way, and the rest of the time is skipped. A leap begins with a call to
// everybody, because the time that stood still says nothing of them.

// leap is a leap of the clock that a Sentinel has not worked off.
type leap struct {
	on       bool
	end      int64    // ms of its time, where the clock has leapt to; the clock or the Sentinel may be set back since
	together bool     // all Sentinels have it
	then     []func() // to be called when it is worked off
	asked    bool     // it has asked the others whether it is its turn
	turn     bool     // it is
	waits    []waiting
}

// waiting is another Sentinel that is less far behind than this one.
type waiting struct {
	left   int64 // ms that it has before it
	number int
	end    func()
}

// moved is called when the clock of this server has leapt, from a time in ms.
func (st *State) moved(from int64, together bool, then func()) {
	before := max(from+st.shift, st.brain.Now())
	if st.now() < before { // time does not go back for a Sentinel
		st.shift += before - st.now()
	}
	st.leap.on, st.leap.end, st.leap.together = true, st.now(), together && len(st.all) > 1
	st.leap.then = append(st.leap.then, then)
	st.brain.Probe()
	st.next = before + 1 + st.phase()
	if !together {
		st.look()
		return
	}
	st.leap.asked, st.leap.turn = true, false // nobody looks before all clocks have moved
	st.afterMoves(func() {
		st.leap.asked = false
		st.look()
	})
}

// afterMoves calls fn here once all servers have made the move of all clocks that this one has made.
func (st *State) afterMoves(fn func()) {
	moves := st.Moves()
	st.errands(slices.Concat(st.All, st.Sentinels), func(at *lab.State, end func()) { at.AfterMove(moves, end) }, fn)
}

// patience is how long a Sentinel waits for the moves and turns of others, in real time. A server that has refused to
// move its clock, because a script runs there, does not end a wait.
const patience = time.Second

// errands calls errand at other servers, and then here once all have called end or have ended.
func (st *State) errands(all []*lab.State, errand func(at *lab.State, end func()), then func()) {
	missing, waits := len(all), true
	finish := func() {
		if waits {
			waits = false
			then()
		}
	}
	timer := st.Loop.After(patience, func() time.Duration {
		st.Inbox.Post(finish)
		return 0
	})
	for _, at := range all {
		v := &server.InternalRequest{Errand: func(v *server.InternalRequest) { errand(at, func() { v.End(nil) }) }}
		v.Done = func([]byte) {
			st.Inbox.Post(func() {
				if missing--; missing == 0 && waits {
					st.Loop.Cancel(timer)
					finish()
				}
			})
		}
		v.SendTo(at.Server)
	}
}

// left is how many ms of its leap a Sentinel has before it, -1 if there is none.
func (st *State) left() int64 {
	if !st.leap.on || st.paused {
		return -1
	}
	return min(st.leap.end, st.now()) - st.next
}

// waitsForOthers reports whether another Sentinel takes the next tick. The time that a calm one has before it is
// skipped.
func (st *State) waitsForOthers() bool {
	if !st.leap.on {
		return false
	}
	if skip := st.left() - st.brain.Periods.Ping; skip > 0 && st.brain.IsCalm() {
		st.brain.Skip(skip)
		st.next += skip
		st.tookTurn()
	}
	if !st.leap.together || st.leap.turn {
		st.leap.turn = false
		return false
	}
	if st.leap.asked {
		return true
	}
	st.leap.asked = true
	left := st.left()
	others := slices.DeleteFunc(slices.Clone(st.Sentinels), func(l *lab.State) bool { return l == st.State })
	st.errands(others, func(at *lab.State, end func()) {
		server.PartOf[*State](at.Server).yield(waiting{left, st.Number, end})
	}, func() {
		st.leap.asked, st.leap.turn = false, true
		st.look()
	})
	return true
}

// yield lets another Sentinel wait until this one is less far behind.
func (st *State) yield(w waiting) {
	st.leap.waits = append(st.leap.waits, w)
	st.tookTurn()
}

// tookTurn lets go who is further behind than this Sentinel now.
func (st *State) tookTurn() {
	var still []waiting
	for _, w := range st.leap.waits {
		if left := st.left(); left > w.left || left == w.left && st.Number < w.number {
			still = append(still, w)
			continue
		}
		w.end()
	}
	st.leap.waits = still
}

// leapt ends a leap that is worked off.
func (st *State) leapt() {
	then := st.leap.then
	st.leap.on, st.leap.then = false, nil
	st.tookTurn()
	for _, fn := range then {
		fn()
	}
}
