// Package sentinel is redis-sentinel inside of the process: a server on a port of its own, whose commands are those of
// Sentinel. Package lab/sentinel decides, and this one has the clock, the other servers and the commands.
//
//	state.go     this picture: the timer, and a turn of the Sentinel
//	call.go      calls to nodes and to other Sentinels
//	leap.go      what happens when the clock of the lab leaps
//	command.go   SENTINEL; info.go has INFO, ROLE and PUBLISH
//	verbs.go     LAB SENTINEL, and what LAB TOPOLOGY shows
//
// The goroutine that executes the commands of this Sentinel owns a State. It reaches other servers only by posts:
//
//	this Sentinel                       a node                    another Sentinel
//	timer ── look: Tick
//	   ├── make ── errand ────────────> PING, INFO, PUBLISH ─────> hear: a hello
//	   │<── post: heard ────────────────┘
//	   ├── make ── errand ───────────────────────────────────────> vote
//	   │<── post: heard ─────────────────────────────────────────────┘
//	look, once all have answered
//
// Who is down, cut off or in a black hole does not answer, as a client would see it.
//
// Redis has connections instead, and a configuration file (sentinel.c: sentinelReconnectInstance, sentinelFlushConfig).
// Here a Sentinel that starts knows what its file would say: the replicas and the other Sentinels.
package sentinel

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab/sentinel"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/admin"
	"github.com/miniredisd/miniredisd/server/lab"
)

// State is one Sentinel: a server whose lab it uses.
type State struct {
	*lab.State
	admin *admin.State
	all   []*State // Sentinels of the process, with this one

	id     string // that of its first process, as its file would have it
	brain  *sentinel.Sentinel
	shift  int64          // ms that its time is ahead of the clock, because the clock went back, or it was paused
	next   int64          // ms of its time: the next tick
	ticked bool           // the tick at that time was made, and its calls may be without answers
	timer  *reactor.Timer // for the next tick, nil while there is none
	open   int            // calls without an answer
	quiet  []func()       // to be called once there is none
	paused bool           // LAB SENTINEL PAUSE
	since  int64          // ms of its time, when that began

	leap leap
}

// New makes the Sentinel of a server.
func New(l *lab.State, a *admin.State) *State { return &State{State: l, admin: a} }

// Part is the place of a Sentinel in a pass.
func (st *State) Part() server.Part { return server.Part{Self: st} }

// Introduce lets the Sentinels of a process know each other and the nodes. Call it before Run.
func Introduce(all []*State) {
	if len(all) == 0 {
		return
	}
	var labs []*lab.State
	for _, st := range all {
		labs = append(labs, st.State)
	}
	for _, l := range all[0].All {
		l.Sentinels, l.Tell = labs, tellAll(l, all)
	}
	for _, st := range all {
		st.id = st.Figures.RunID
	}
	for _, st := range all {
		st.all, st.Sentinels, st.Tell = all, labs, tellAll(st.State, all)
		st.Tell.Moved = st.moved
		st.begin()
		st.Inbox.Post(func() {
			st.flush()
			st.look()
		})
	}
}

// begin makes a Sentinel that knows what it knows after a quiet start.
func (st *State) begin() {
	st.shift, st.paused, st.ticked = 0, false, false
	st.brain = sentinel.New(st.id, addrOf(st.State), st.now(), st.Cfg.Seed)
	for i, m := range st.All[:st.Cfg.Masters] {
		master := st.brain.Watch(nameOf(st.Cfg.SentinelName, i), addrOf(m), int64(len(st.all)/2+1))
		for _, l := range st.All {
			if l.Group == m.Number && l != m {
				st.brain.AddReplica(master, addrOf(l))
			}
		}
		for _, other := range st.all {
			if other != st {
				st.brain.AddOther(master, other.id, addrOf(other.State))
			}
		}
	}
	st.next = st.now() + st.phase()
}

// phase is how many ms after the first Sentinel this one looks. Two that look at once would both vote for themselves.
func (st *State) phase() int64 { return int64(slices.Index(st.all, st) * 100 / len(st.all)) }

func addrOf(l *lab.State) sentinel.Addr {
	return sentinel.Addr{Host: server.PeerHost, Port: l.PeerPort}
}

// now is the time of the Sentinel in ms. It follows the clock of its server.
func (st *State) now() int64 { return st.clock() + st.shift }

func (st *State) clock() int64 { return st.Ex.Clock.Timeline(st.Ex.Now.Mono) / 1e6 }

// look lets the Sentinel do what is due, unless it waits for answers. It sets the timer for what comes next.
func (st *State) look() {
	for st.open == 0 && !st.paused {
		if st.ticked { // and all calls are answered
			st.ticked = false
			st.next = max(st.brain.Next(), st.next+1)
			st.tookTurn()
		}
		if st.left() < 0 {
			st.leapt()
		}
		if st.next > st.now() {
			st.sleep(st.next - st.shift)
			return
		}
		if !st.isUp() { // its process does not run
			missed := (st.now()-st.next)/st.brain.Periods.Ping + 1
			st.brain.Skip(missed * st.brain.Periods.Ping)
			st.next += missed * st.brain.Periods.Ping
			continue
		}
		if st.waitsForOthers() {
			return
		}
		st.brain.Tick(st.next)
		st.ticked = true
		st.flush()
	}
	if st.paused {
		st.leapt()
	}
}

// sleep sets the timer for a time of the clock in ms.
func (st *State) sleep(until int64) {
	if st.timer != nil {
		st.Timers.Cancel(st.timer)
	}
	st.timer = st.At(until*1e6, func() {
		st.timer = nil
		if st.Clock.Held || st.next > st.now() { // nobody can answer on the way of a leap; LAB RESET calls all timers
			st.Inbox.Post(st.look)
			return
		}
		st.look()
	})
}

// acted is called after a command has changed something: what follows from it does not wait for the next second.
func (st *State) acted() {
	st.flush()
	st.hasten()
	st.look()
}

// hasten brings the next tick forward, if something has become due.
func (st *State) hasten() {
	if !st.ticked {
		st.next = max(min(st.next, st.brain.Next()), st.brain.Now()+1)
	}
}

// flush tells what the Sentinel has to tell, and makes its calls.
func (st *State) flush() {
	events, calls := st.brain.Take()
	for _, e := range events {
		st.tell(e)
	}
	for _, c := range calls {
		st.make(c)
	}
}

func (st *State) tell(e sentinel.Event) {
	switch {
	case e.Crash:
		st.Log(e.Level, "%s", e.Text)
		st.Stop()
	case e.Type == "":
		st.Log(e.Level, "%s", e.Text)
	default:
		st.Log(e.Level, "%s %s", e.Type, e.Text)
		st.Ex.Publish(e.Type, e.Text)
	}
}
