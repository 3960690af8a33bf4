package glass

import (
	"fmt"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// Unit is how far a step goes.
type Unit int

// The units of LAB STEP NEXT.
const (
	OneEvent   Unit = iota
	OneHandler      // the next handler of the fired array
	OneClient       // an event of another client
	OneCommand      // the next execution
	OnePhase        // from reading to executing, writing, sleeping
	OnePass         // the next pass that is not idle
)

func (u Unit) String() string {
	return [...]string{"EVENT", "HANDLER", "CLIENT", "COMMAND", "PHASE", "PASS"}[u]
}

// defaultLimit is how long a server stands while nobody watches.
const defaultLimit = 600 * time.Second

// gate decides where a thread stops. It belongs to View.mu.
type gate struct {
	left   int // events of the unit to go until the stop, 0 for no step
	unit   Unit
	paused bool // the step is a PAUSE
	slow   time.Duration
	breaks []*Breakpoint
	still  bool // the lab's clock stands while the server is stopped
	limit  time.Duration
	opened bool // for good

	stopped bool
	stop    *Stop // the last one; its snapshot is there once the goroutine waits
	broke   string
	turns   int // how often a stop or delay was ended from outside

	held   []trace.Event // the begin of a pass that may be idle
	client int64         // of the last event that had one
	phase  byte          // of the last event
}

func (g *gate) steps() bool { return g.left > 0 }

// runs reports whether the gate keeps nobody.
func (g *gate) runs() bool { return !g.stopped && g.slow == 0 }

// Stop is an event after which a thread stands still.
type Stop struct {
	Event    trace.Event
	Why      string // step, pause, break NAME, or WhySlow
	Snapshot *Snapshot
}

// WhySlow is the reason for a point of slow motion: the thread continues by itself.
const WhySlow = "slow"

// Pause makes the server stop at its next point. A server that sleeps stops when something arrives.
func (v *View) Pause() { v.arm(OneEvent, 1, true) }

// Next continues until the n-th of a unit. A server that runs stops there too.
func (v *View) Next(unit Unit, n int) { v.arm(unit, max(n, 1), false) }

func (v *View) arm(unit Unit, n int, pause bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := &v.gate
	if g.opened || pause && g.stopped {
		return
	}
	g.unit, g.left, g.paused = unit, n, pause
	v.goOn()
}

// Continue lets the server run. Breakpoints and slow motion stay.
func (v *View) Continue() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gate.left = 0
	v.goOn()
}

// Open lets the server run and stops it never again: it is about to end.
func (v *View) Open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gate.opened = true
	v.clear()
}

// Reset lets the server run, and removes breakpoints and slow motion.
func (v *View) Reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
}

func (v *View) clear() {
	g := &v.gate
	g.left, g.slow, g.breaks, g.still, g.limit = 0, 0, nil, true, defaultLimit
	v.goOn()
}

// Slow makes every point take d longer. 0 ends it. A delay under way ends at once, a stop does not.
func (v *View) Slow(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := &v.gate
	if !g.opened {
		g.slow = d
	}
	if !g.stopped {
		v.goOn()
		return
	}
	v.setLive()
	v.tellState()
}

// Stand sets whether the lab's clock stands while the server is stopped.
func (v *View) Stand(still bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gate.still = still
	v.tellState()
}

// Limit sets how long the server stays stopped while nobody watches. It counts from the next stop.
func (v *View) Limit(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gate.limit = d
}

// goOn ends a stop or a delay. The caller holds mu.
func (v *View) goOn() {
	v.gate.turns++
	v.gate.stopped = false
	v.setLive()
	v.cond.Broadcast()
	v.tellState()
}

// State returns what LAB STEP shows. Any goroutine may call it.
func (v *View) State() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state()
}

func (v *View) state() State {
	g := &v.gate
	s := State{State: "running", Pass: v.pass.Load(), Seq: v.seq, Slow: g.slow.Milliseconds(), Still: g.still}
	s.Busy, s.Work = v.isBusy(), v.working()
	switch {
	case g.stopped:
		e := &g.stop.Event
		s.State, s.Breakpoint = "stopped", g.broke
		s.Point, s.Pass, s.Seq, s.Client, s.Thread = string(rune(e.Point)), e.Pass, e.Seq, e.Client, e.Thread
	case g.steps() && v.sleeping.Load() && s.Work == "":
		s.State = "asleep"
	case g.steps():
		s.State = "armed"
	}
	return s
}

// emit is what Thread.Event calls. One thread at a time has the turn, so all others stand while one does. whole says
// that the thread owns the whole server, as main does, and the executor of --exec queue while main waits.
//
// A pass that no socket has woken is idle unless a point of its own follows. A timer was due, or a page has asked
// what the lab knows. Nobody gets the events of an idle pass.
func (v *View) emit(e *trace.Event, whole bool, part func() trace.Client) {
	e.Pass = v.pass.Load()
	v.turn.Lock()
	defer v.turn.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	g := &v.gate
	begin := g.held
	g.held = nil
	switch {
	case e.Point == trace.Woke && !strings.HasPrefix(e.Text, "event"), len(begin) > 0 && e.Point == trace.Handler:
		g.held = append(begin, *e)
		return
	case len(begin) > 0 && e.Point == trace.Asleep:
		return
	}
	for i := range begin {
		v.meet(&begin[i], whole, part)
	}
	v.meet(e, whole, part)
}

// meet tells everyone of an event, and stops if the gate says so.
func (v *View) meet(e *trace.Event, whole bool, part func() trace.Client) {
	g := &v.gate
	v.seq++
	e.Seq = v.seq
	v.tell(e)
	why := v.reason(e)
	if c := e.Client; c != 0 {
		g.client = c
	}
	if phase := phaseOf(e.Point); phase != 0 {
		g.phase = phase
	}
	switch {
	case g.opened:
	case why != "":
		g.left, g.stopped = 0, true
		g.stop = &Stop{Event: *e, Why: why}
		v.stand(e, whole, part, g.limit)
		if g.stopped { // nobody has ended it
			v.goOn()
		}
	case g.slow > 0:
		g.stop = &Stop{Event: *e, Why: WhySlow}
		v.stand(e, whole, part, g.slow)
	}
}

// reason says why to stop at e, "" for going on.
func (v *View) reason(e *trace.Event) string {
	g := &v.gate
	g.broke = ""
	for _, b := range g.breaks {
		if v.matches(b, e) && b.turn() && g.broke == "" {
			g.broke = b.Name
		}
	}
	if g.left > 0 && g.reaches(e) {
		g.left--
	} else if g.broke == "" {
		return ""
	}
	switch {
	case g.broke != "":
		return "break " + g.broke
	case g.left > 0:
		return ""
	case g.paused:
		return "pause"
	}
	return "step"
}

// reaches reports whether e counts for the step under way.
func (g *gate) reaches(e *trace.Event) bool {
	switch g.unit {
	case OneHandler:
		return e.Point == trace.Handler
	case OneClient:
		return e.Client != 0 && e.Client != g.client
	case OneCommand:
		return e.Point == trace.Executes
	case OnePhase:
		phase := phaseOf(e.Point)
		return phase != 0 && phase != g.phase
	case OnePass:
		return e.Point == trace.Woke
	}
	return true
}

// phaseOf returns the first point of the phase that a point belongs to.
func phaseOf(p trace.Point) byte {
	switch p {
	case trace.Woke, trace.Handler, trace.Accepted:
		return 'w'
	case trace.Gathered, trace.ReadDone, trace.Parsed:
		return 'r'
	case trace.Executes, trace.Replied, trace.Expired, trace.Messaged, trace.Struck, trace.LinkRead, trace.LinkTold:
		return 'x'
	case trace.Appended:
		return 'd'
	case trace.Replicated, trace.Fed:
		return 'k'
	case trace.Written:
		return 'o'
	case trace.Asleep, trace.Closed:
		return 's'
	}
	return 0 // to lend and to join belong to reading and to writing, and a second look to the phase around it
}

// stand makes the snapshot and waits: until somebody continues, or for at most d. While somebody watches, a
// stop has no limit. The caller holds mu, and turn.
func (v *View) stand(e *trace.Event, whole bool, part func() trace.Client, d time.Duration) {
	g := &v.gate
	turn := g.turns
	v.mu.Unlock()
	snap := v.snapshot(e, whole, part)
	v.mu.Lock()
	snap.Still = g.still
	g.stop.Snapshot = snap
	v.tellStop(g.stop)
	began := time.Now()
	over := false
	timer := time.AfterFunc(d, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		over = true
		v.cond.Broadcast()
	})
	for g.turns == turn && !(over && (!g.stopped || len(v.news.readers) == 0)) {
		v.cond.Wait()
	}
	timer.Stop()
	if v.Stood != nil {
		v.Stood(int64(time.Since(began)), g.still)
	}
}

// snapshot is what the goroutine that stops may look at: everything, or for an I/O thread its client.
func (v *View) snapshot(e *trace.Event, whole bool, part func() trace.Client) *Snapshot {
	if whole && v.Options.Snapshot != nil {
		return v.Options.Snapshot(e)
	}
	s := &Snapshot{Pass: e.Pass, PartOf: true, Clients: []trace.Client{}, Keys: []Key{}}
	if part != nil {
		c := part()
		c.Thread = e.Thread
		s.Clients = append(s.Clients, c)
	}
	return s
}

// parseUnit reads a word of LAB STEP NEXT.
func parseUnit(word string) (Unit, error) {
	for u := OneEvent; u <= OnePass; u++ {
		if u.String() == word {
			return u, nil
		}
	}
	return 0, fmt.Errorf("expects EVENT, HANDLER, CLIENT, COMMAND, PHASE or PASS, not %s", quote(word))
}
