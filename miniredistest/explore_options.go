package miniredistest

import "time"

// exploring is what the options ask of Explore.
type exploring struct {
	masters  int
	budget   time.Duration
	mostReal time.Duration // of one trial, 0 for the usual
	pairs    bool
	strict   bool
	realTime bool
	faults   []string       // names
	locks    []string       // globs
	limits   map[string]int // permits of a semaphore, by key
}

func exploreOption(name string, set func(*exploring)) Option {
	return func(o *options) {
		o.exploreOnly = name
		set(&o.explore)
	}
}

// OnMasters gives each trial n independent servers, for Redlock.
func OnMasters(n int) Option { return exploreOption("OnMasters", func(e *exploring) { e.masters = n }) }

// Budget ends Explore after d of real time. The default is a minute.
func Budget(d time.Duration) Option {
	return exploreOption("Budget", func(e *exploring) { e.budget = d })
}

// Pairs also tries two failures at once, once all single ones are tried.
func Pairs() Option { return exploreOption("Pairs", func(e *exploring) { e.pairs = true }) }

// Strict makes a lock that stays taken until its lease ends a broken one.
func Strict() Option { return exploreOption("Strict", func(e *exploring) { e.strict = true }) }

// Faults tries these failures only, such as "reply-lost".
func Faults(names ...string) Option {
	return exploreOption("Faults", func(e *exploring) { e.faults = append(e.faults, names...) })
}

// RealTime plays the trials outside of a bubble, for clients that need a port.
func RealTime() Option { return exploreOption("RealTime", func(e *exploring) { e.realTime = true }) }

// Locks names the keys of locks whose shape is unknown, by globs.
func Locks(globs ...string) Option {
	return exploreOption("Locks", func(e *exploring) { e.locks = append(e.locks, globs...) })
}

// Limit says that a key is a semaphore with n permits.
func Limit(key string, n int) Option {
	return exploreOption("Limit", func(e *exploring) {
		if e.limits == nil {
			e.limits = map[string]int{}
		}
		e.limits[key] = n
	})
}
