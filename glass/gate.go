package glass

import (
	"fmt"
	"time"
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

// gate decides where a thread stops. It belongs to Watch.mu.
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

	held   *Event // the begin of a pass that may be idle
	client int64  // of the last event that had one
	phase  byte   // of the last event
}

func (g *gate) steps() bool { return g.left > 0 }

// Stop is an event after which a thread stands still.
type Stop struct {
	Event    Event
	Why      string // step, pause, break NAME, or WhySlow
	Snapshot *Snapshot
}

// WhySlow is the reason for a point of slow motion: the thread goes on by itself.
const WhySlow = "slow"

// Pause makes the server stop at its next point. A server that sleeps stops when something arrives.
func (w *Watch) Pause() { w.arm(OneEvent, 1, true) }

// Next goes on until the n-th of a unit. A server that runs stops there too.
func (w *Watch) Next(unit Unit, n int) { w.arm(unit, max(n, 1), false) }

func (w *Watch) arm(unit Unit, n int, pause bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := &w.gate
	if g.opened || pause && g.stopped {
		return
	}
	g.unit, g.left, g.paused = unit, n, pause
	w.goOn()
}

// Continue lets the server run. Breakpoints and slow motion stay.
func (w *Watch) Continue() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.left = 0
	w.goOn()
}

// Open lets the server run and stops it never again: it is about to end.
func (w *Watch) Open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.opened = true
	w.clear()
}

// Reset lets the server run, and removes breakpoints and slow motion.
func (w *Watch) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
}

func (w *Watch) clear() {
	g := &w.gate
	g.left, g.slow, g.breaks, g.still, g.limit = 0, 0, nil, true, defaultLimit
	w.goOn()
}

// Slow makes every point take d longer. 0 ends it. A delay under way ends at once, a stop does not.
func (w *Watch) Slow(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := &w.gate
	if !g.opened {
		g.slow = d
	}
	if !g.stopped {
		w.goOn()
		return
	}
	w.setLive()
	w.tellState()
}

// Stand sets whether the lab's clock stands while the server is stopped.
func (w *Watch) Stand(still bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.still = still
	w.tellState()
}

// Limit sets how long the server stays stopped while nobody watches. It counts from the next stop.
func (w *Watch) Limit(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.limit = d
}

// goOn ends a stop or a delay. The caller holds mu.
func (w *Watch) goOn() {
	w.gate.turns++
	w.gate.stopped = false
	w.setLive()
	w.cond.Broadcast()
	w.tellState()
}

// State returns what LAB STEP shows. Any goroutine may call it.
func (w *Watch) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state()
}

func (w *Watch) state() State {
	g := &w.gate
	s := State{State: "running", Pass: w.pass.Load(), Seq: w.seq, Slow: g.slow.Milliseconds(), Still: g.still}
	switch {
	case g.stopped:
		e := &g.stop.Event
		s.State, s.Breakpoint = "stopped", g.broke
		s.Point, s.Pass, s.Seq, s.Client, s.Thread = string(rune(e.Point)), e.Pass, e.Seq, e.Client, e.Thread
	case g.steps() && w.sleeping.Load():
		s.State = "asleep"
	case g.steps():
		s.State = "armed"
	}
	return s
}

// emit is Thread.Event. One thread at a time has the turn, so all others stand while one does. whole says
// that the thread owns the whole server, as main does, and the executor of --exec queue while main waits.
func (w *Watch) emit(e *Event, whole bool, part func() Client) {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	g := &w.gate
	if e.Point == Woke && e.A == 0 { // the pass is idle unless another point follows
		first := *e
		g.held = &first
		return
	}
	if first := g.held; first != nil {
		g.held = nil
		if e.Point == Asleep {
			return
		}
		w.meet(first, whole, part)
	}
	w.meet(e, whole, part)
}

// meet tells everyone of an event, and stops if the gate says so.
func (w *Watch) meet(e *Event, whole bool, part func() Client) {
	g := &w.gate
	w.seq++
	e.Seq = w.seq
	w.tell(e)
	why := w.reason(e)
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
		w.stand(e, whole, part, g.limit)
		if g.stopped { // nobody has ended it
			w.goOn()
		}
	case g.slow > 0:
		g.stop = &Stop{Event: *e, Why: WhySlow}
		w.stand(e, whole, part, g.slow)
	}
}

// reason says why to stop at e, "" for going on.
func (w *Watch) reason(e *Event) string {
	g := &w.gate
	g.broke = ""
	for _, b := range g.breaks {
		if w.matches(b, e) && b.turn() && g.broke == "" {
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
func (g *gate) reaches(e *Event) bool {
	switch g.unit {
	case OneHandler:
		return e.Point == Handler
	case OneClient:
		return e.Client != 0 && e.Client != g.client
	case OneCommand:
		return e.Point == Executes
	case OnePhase:
		phase := phaseOf(e.Point)
		return phase != 0 && phase != g.phase
	case OnePass:
		return e.Point == Woke
	}
	return true
}

// phaseOf returns the first point of the phase that a point belongs to.
func phaseOf(p Point) byte {
	switch p {
	case Woke, Handler, Accepted:
		return 'w'
	case Gathered, ReadDone, Parsed:
		return 'r'
	case Executes, Replied, Expired:
		return 'x'
	case Written:
		return 'o'
	case Asleep, Closed:
		return 's'
	}
	return 0 // to lend and to join belong to reading and to writing
}

// stand makes the snapshot and waits: until somebody goes on, or for at most d. While somebody watches, a
// stop has no limit. The caller holds mu, and turn.
func (w *Watch) stand(e *Event, whole bool, part func() Client, d time.Duration) {
	g := &w.gate
	turn := g.turns
	w.mu.Unlock()
	snap := w.snapshot(e, whole, part)
	w.mu.Lock()
	snap.Still = g.still
	g.stop.Snapshot = snap
	w.tellStop(g.stop)
	began := time.Now()
	over := false
	timer := time.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		over = true
		w.cond.Broadcast()
	})
	for g.turns == turn && !(over && (!g.stopped || len(w.news.readers) == 0)) {
		w.cond.Wait()
	}
	timer.Stop()
	if w.Stood != nil {
		w.Stood(int64(time.Since(began)), g.still)
	}
}

// snapshot is what the goroutine that stops may look at: everything, or for an I/O thread its client.
func (w *Watch) snapshot(e *Event, whole bool, part func() Client) *Snapshot {
	if whole && w.Options.Snapshot != nil {
		return w.Options.Snapshot(e)
	}
	s := &Snapshot{Pass: e.Pass, PartOf: true, Clients: []Client{}, Keys: []Key{}}
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
