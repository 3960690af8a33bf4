package server

import (
	"maps"
	"time"
)

// Part is something beside the clients that needs a place in the life of the server: files, replicas, a lab. A part
// attaches its functions, and the pass calls those of all parts in the order in which they were attached. nil stands
// for nothing. A server without parts is the plain loop. Most functions run once a pass, none once a request.
//
//	called by                     function        does
//	NewExecutor                   Installed       adds to a new executor, at the start or after LAB CRASH
//	New, or Run after loading     Started         begins with the data
//	cron                          Cron            what no request asks for
//	executePhase                  Advance         its share of what takes several passes
//	ProcessEventsWhileBlocked     InScript        the same, in the middle of a slow script
//	ServeReady                    Served          answers clients that wait for something else than a key
//	CONFIG SET                    Configured      follows a directive, or says why it cannot
//	overhead                      Memory          says how many bytes it takes
//	INFO                          Info, Figures   writes the sections and fields of these names, or says a number
//	DEBUG                         Debug           are subcommands
//	FLUSHALL                      Flushed         learns that no key is left
//	Expire                        Expired         looks at what the pass has expired
//	BeforeSleep, before writing   BeforeReplies   what comes before the first reply
//	sleep                         LongestSleep    lets the loop sleep, or not
//	Adopt                         Joined          gets to know a connection
//	free                          Left            forgets a connection
//	Stop, Terminate               Hurry           lets the loop go on, because it is about to end
//	Terminate                     Terminate       ends the server once it may end
//	Run, after the last pass      Last            ends its coroutines, where commands were executed
//	Run, after the loop           Stop, End       ends, before and after all connections are closed
type Part struct {
	Installed     func() error // adds what it needs to a new executor
	Self          any          // a pointer: commands reach the part by its type
	Started       func() error
	Cron          func() (again bool) // again: it has to run soon, even if no request comes
	Advance       func()              // not called while half a transaction stands in the keyspace
	InScript      func()              // time stands still
	Served        func()
	Configured    func(name string) error
	Memory        func() int
	Info          map[string]func(r *Report)
	Figures       map[string]func() int
	Debug         []DebugCommand
	Flushed       func()
	Expired       func()               // called only while the trace records details
	BeforeReplies func() (ok bool)     // not ok: no reply may be written, because the server ends
	LongestSleep  func() time.Duration // negative for no limit
	Joined        func(c *Client)
	Left          func(c *Client)
	Hurry         func()               // any goroutine may call it
	Terminate     func(interrupt bool) // likewise
	Last          func()
	Stop          func()
	End           func()
}

// parts are the functions of all parts.
type parts struct {
	installed     []func() error
	all           []any
	started       []func() error
	cron          []func() bool
	advance       []func()
	inScript      []func()
	served        []func()
	Configured    []func(name string) error
	memory        []func() int
	info          map[string]func(r *Report)
	figures       map[string]func() int
	Debug         []DebugCommand
	flushed       []func()
	expired       []func()
	beforeReplies []func() bool
	longestSleep  []func() time.Duration
	joined, left  []func(c *Client)
	hurry         []func()
	terminate     []func(interrupt bool)
	last          []func()
	stop, end     []func()
}

// Attach adds the functions of a part after those of the others.
func (ps *parts) Attach(p Part) {
	add(&ps.installed, p.Installed, p.Installed != nil)
	add(&ps.all, p.Self, p.Self != nil)
	add(&ps.started, p.Started, p.Started != nil)
	add(&ps.cron, p.Cron, p.Cron != nil)
	add(&ps.advance, p.Advance, p.Advance != nil)
	add(&ps.inScript, p.InScript, p.InScript != nil)
	add(&ps.served, p.Served, p.Served != nil)
	add(&ps.Configured, p.Configured, p.Configured != nil)
	add(&ps.memory, p.Memory, p.Memory != nil)
	if ps.info == nil {
		ps.info, ps.figures = map[string]func(r *Report){}, map[string]func() int{}
	}
	maps.Copy(ps.info, p.Info)
	maps.Copy(ps.figures, p.Figures)
	ps.Debug = append(ps.Debug, p.Debug...)
	add(&ps.flushed, p.Flushed, p.Flushed != nil)
	add(&ps.expired, p.Expired, p.Expired != nil)
	add(&ps.beforeReplies, p.BeforeReplies, p.BeforeReplies != nil)
	add(&ps.longestSleep, p.LongestSleep, p.LongestSleep != nil)
	add(&ps.joined, p.Joined, p.Joined != nil)
	add(&ps.left, p.Left, p.Left != nil)
	add(&ps.hurry, p.Hurry, p.Hurry != nil)
	add(&ps.terminate, p.Terminate, p.Terminate != nil)
	add(&ps.last, p.Last, p.Last != nil)
	add(&ps.stop, p.Stop, p.Stop != nil)
	add(&ps.end, p.End, p.End != nil)
}

func add[F any](to *[]F, fn F, isSet bool) {
	if isSet {
		*to = append(*to, fn)
	}
}

// each calls all functions of a list.
func each(all []func()) {
	for _, fn := range all {
		fn()
	}
}

// Start begins what needs the data.
func (ps *parts) Start() error {
	for _, fn := range ps.started {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

// Tell writes what a part has to say under a name, if there is one.
func (ps *parts) Tell(r *Report, name string) {
	if fn := ps.info[name]; fn != nil {
		fn(r)
	}
}

// Figure is a number that a part knows, 0 without that part.
func (ps *parts) Figure(name string) int {
	if fn := ps.figures[name]; fn != nil {
		return fn()
	}
	return 0
}

// mayReply reports whether replies may be written, after the parts have done what comes before them.
func (ps *parts) mayReply() bool {
	for _, fn := range ps.beforeReplies {
		if !fn() {
			return false
		}
	}
	return true
}

// limitSleep shortens a sleep, negative for any, to what the parts allow.
func (ps *parts) limitSleep(d time.Duration) time.Duration {
	for _, fn := range ps.longestSleep {
		if limit := fn(); limit >= 0 && (d < 0 || limit < d) {
			d = limit
		}
	}
	return d
}
