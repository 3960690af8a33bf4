package proof

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
)

// watches notes what the change says of the kind of the key.
func (p *prover) watches(r *request, l *lock, c lab.Change) {
	v := c.After
	if v == nil {
		v = c.Before
	}
	switch {
	case v != nil && v.Type == "list" && l.told.As == lab.Semaphore:
		l.what = queue
	case v == nil || l.told.As != lab.Unnamed:
	case v.Type == "list" && (l.way == "" || l.what == queue):
		l.what = queue
	case v.Type != "list" && v.Type != "string" && v.Type != "hash" && v.Type != "set" && v.Type != "zset":
		l.what = other
	}
	l.beside = l.beside && p.isBeside(r, l, c)
}

// isBeside reports whether a change can be that of a key beside a lock: a counter that gives its holders numbers, or
// a queue of those that wait.
func (p *prover) isBeside(r *request, l *lock, c lab.Change) bool {
	if c.Cause != lab.ByCommand {
		return true
	}
	v := c.After
	if v == nil {
		v = c.Before
	}
	if v == nil || v.Type == "hash" || v.Type == "string" && (c.After == nil || !isCounter(c, r)) {
		return false
	}
	me := r.actor(p.epoch).id()
	for _, o := range p.all {
		if o == l.claims || o.what != "" {
			continue
		}
		mine := slices.ContainsFunc(o.beliefs, func(b *belief) bool { return !b.gone && b.doubt == "" && b.id() == me })
		if v.Type == "string" && mine || r.isScript() && slices.Contains(r.words, o.Name) && v.Type != "string" {
			return true
		}
	}
	return v.Type == "string" && p.takesSoon(r)
}

// takesSoon reports whether the script or transaction around a command takes a lock behind it.
func (p *prover) takesSoon(r *request) bool {
	if r.By == "" {
		return false
	}
	for i := r.index + 1; i < len(p.history.Entries); i++ {
		e := &p.history.Entries[i]
		if e.Client != r.Client || e.By != r.By {
			return false
		}
		if slices.ContainsFunc(e.Changes, func(c lab.Change) bool {
			return c.Before == nil && !isCounter(c,
				&request{Entry: e})
		}) {
			return true
		}
	}
	return false
}

// isCounter reports whether a command has counted: the number is not among its words.
func isCounter(c lab.Change, r *request) bool {
	name := lower(r.Cmd)
	return c.After != nil && c.After.Type == "string" && (strings.HasPrefix(name, "incr") || strings.HasPrefix(name,
		"decr"))
}
