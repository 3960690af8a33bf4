package sentinel

import (
	"math"
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/lab/sentinel"
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
// The time in which nothing can happen is skipped. While all is well, that is the rest. While no replica can replace a
// master, it is the time until the next attempt. The Sentinel whose turn it is skips no event of another one, and no
// node that comes back. A leap begins with a call to everybody, because the time that stood still says nothing of them.
//
// A time on the way is told by the ms that are left of the leap: all have these in common.

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
	st.errands(slices.Concat(st.All, st.Sentinels), func(at *lab.State, end func(int64)) {
		at.AfterMove(moves, func() { end(-1) })
	}, func(int64) { fn() })
}

// patience is how long a Sentinel waits for the moves and turns of others, in real time. A server that has refused to
// move its clock, because a script runs there, does not end a wait.
const patience = time.Second

// errands calls errand at other servers, and then here once all have called end or have ended. end says how much of the
// leap is left when something happens there, or -1. latest is what comes first of that.
func (st *State) errands(all []*lab.State, errand func(at *lab.State, end func(left int64)), then func(latest int64)) {
	missing, waits, latest := len(all), true, int64(-1)
	finish := func() {
		if waits {
			waits = false
			then(latest)
		}
	}
	timer := st.Loop.After(patience, func() time.Duration {
		st.Inbox.Post(func() {
			latest = math.MaxInt64 // nobody knows
			finish()
		})
		return 0
	})
	for _, at := range all {
		event := int64(-1)
		v := &server.InternalRequest{Errand: func(v *server.InternalRequest) {
			errand(at, func(left int64) {
				event = left
				v.End(nil)
			})
		}}
		v.Done = func([]byte) {
			st.Inbox.Post(func() {
				latest = max(latest, event)
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

// event is how much of the leap is left when something may happen here, -1 for nothing.
func (st *State) event() int64 {
	until := st.brain.CalmUntil()
	switch {
	case st.left() < 0 || until == sentinel.Forever:
		return -1
	case until <= st.brain.Now():
		return st.left()
	}
	return max(st.left()+st.next-until, -1)
}

// skip lets the time pass before something can happen: here, or elsewhere when so much is left. The end of a leap is
// never skipped.
func (st *State) skip(elsewhere int64) (skipped bool) {
	ms := st.left() - max(elsewhere, st.event(), st.brain.Periods.Ping)
	if ms <= 0 {
		return false
	}
	st.brain.Skip(ms)
	st.next += ms
	st.tookTurn()
	return true
}

// waitsForOthers reports whether another Sentinel takes the next tick.
func (st *State) waitsForOthers() bool {
	switch {
	case !st.leap.on:
		return false
	case !st.leap.together:
		st.skip(-1)
		return false
	case st.leap.turn:
		st.leap.turn = false
		return false
	case st.leap.asked:
		return true
	}
	st.leap.asked = true
	left := st.left()
	st.errands(st.others(), func(at *lab.State, end func(int64)) {
		server.PartOf[*State](at.Server).yield(waiting{left, st.Number, func() { end(-1) }})
	}, func(int64) { st.takeTurn() })
	return true
}

// others are the other Sentinels.
func (st *State) others() []*lab.State {
	return slices.DeleteFunc(slices.Clone(st.Sentinels), func(l *lab.State) bool { return l == st.State })
}

// takeTurn makes a tick, or skips time and asks for its turn again. Meanwhile no other Sentinel makes a tick.
func (st *State) takeTurn() {
	took := func(skipped bool) {
		st.leap.asked, st.leap.turn = false, !skipped
		st.look()
	}
	left, ping := st.left(), st.brain.Periods.Ping
	if max(st.event(), ping) >= left {
		took(false)
		return
	}
	st.errands(append(st.others(), st.All...), func(at *lab.State, end func(int64)) {
		event := at.CameUp(left, 2*ping)
		if at.Kind() == "sentinel" {
			event = max(event, server.PartOf[*State](at.Server).event())
		}
		end(event)
	}, func(latest int64) { took(st.skip(latest)) })
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
