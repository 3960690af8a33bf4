package proxy

import (
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
)

// Which watched keys a request may touch. Where nobody can say, it may touch all of them.

// touch is a request, as far as the log needs it.
type touch struct {
	args   [][]byte // nil for a request that nobody has read whole
	call   lab.Call
	db     int
	queued []inside // the commands of an EXEC
	keys   []keyAt  // that it may touch; nil if it touches no watched ones
	reads  bool     // it writes nothing
	rule   *lab.Rule
	entry  lab.Entry
	looked bool
	before int64 // when it looked

	reply []byte // without the messages around it
	whole bool
	lost  bool // the upstream has ended the connection without a reply
}

// inside is a command that MULTI has queued.
type inside struct {
	args [][]byte
	call lab.Call
	db   int
}

// touches describes a request. It returns nil if the log needs nothing of it.
func (l *labState) touches(c *pair, args [][]byte, r *lab.Rule, key string) *touch {
	if !l.isWatching() && r == nil {
		return nil
	}
	t := &touch{db: c.db, rule: r, call: l.call(args)}
	if t.call.Cmd == "exec" {
		t.queued = c.inside
	}
	if l.isWatching() && !c.queues(args) {
		t.keys, t.reads = l.touched(t, args)
	}
	if t.keys == nil && r == nil {
		return nil
	}
	in := l.queue(c, args)
	t.args, t.call = in.args, in.call
	if watched := l.log.Watched(t.call.Keys); watched != nil {
		key = lab.Printable(string(watched))
	}
	event := lab.EventCommand
	if r != nil {
		event = r.Name
	}
	t.entry = l.entry(c, event, args, key)
	t.entry.Keys = l.log.AllWatched(args, t.call.Keys)
	return t
}

// touched returns the watched keys that a request may touch.
func (l *labState) touched(t *touch, args [][]byte) (keys []keyAt, reads bool) {
	if t.call.Cmd != "exec" {
		keys, reads = l.touchedBy(inside{args, t.call, t.db})
		return unique(keys), reads
	}
	reads = true
	for _, in := range t.queued {
		more, onlyReads := l.touchedBy(in)
		keys, reads = append(keys, more...), reads && onlyReads
	}
	return unique(keys), reads
}

// unique leaves out keys that are there twice.
func unique(keys []keyAt) []keyAt {
	all := slices.Clip(keys[:0])
	seen := make(map[keyAt]bool, len(keys))
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			all = append(all, k)
		}
	}
	return all
}

// touchedBy returns the watched keys that a command may touch. The upstream says where keys are. Where it does not, as
// for scripts, all known ones may be touched, and each argument may be a key.
func (l *labState) touchedBy(in inside) (keys []keyAt, reads bool) {
	cmd := l.table.find(in.args)
	if cmd != nil && cmd.isPlain() {
		for _, key := range in.call.Keys {
			if l.log.Watches(key) {
				keys = append(keys, keyAt{in.db, string(key)})
			}
		}
		if len(keys) > 0 {
			keys = append(keys, l.elsewhere(in)...)
		}
		return keys, cmd.reads
	}
	if cmd != nil && cmd.idles {
		return nil, true
	}
	keys = append(l.elsewhere(in), l.ledger.keys()...)
	for _, arg := range in.args[1:] {
		if l.log.Watches(arg) {
			keys = append(keys, keyAt{in.db, string(arg)})
		}
	}
	if keys == nil && cmd != nil && cmd.isWhole() {
		keys = []keyAt{} // the log has it, even if there are no keys
	}
	return keys, cmd != nil && cmd.reads && !cmd.runs && len(cmd.specs) > 0
}

// elsewhere returns the keys that a command writes in another database. The upstream does not say which.
func (l *labState) elsewhere(in inside) (keys []keyAt) {
	to := -1
	switch {
	case in.call.Cmd == "move" && len(in.args) == 3:
		to = number(in.args[2])
	case in.call.Cmd == "swapdb" && len(in.args) == 3:
		one, other := number(in.args[1]), number(in.args[2])
		for _, k := range l.ledger.keys() {
			switch k.db {
			case one:
				keys = append(keys, keyAt{other, k.key})
			case other:
				keys = append(keys, keyAt{one, k.key})
			}
		}
		return keys
	case in.call.Cmd == "copy":
		for i := 3; i+1 < len(in.args); i++ {
			if ascii.EqualFold(in.args[i], "db") {
				to = number(in.args[i+1])
			}
		}
	}
	if to < 0 {
		return nil
	}
	key := in.call.Keys[len(in.call.Keys)-1]
	return []keyAt{{to, string(key)}}
}

func number(text []byte) int {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return -1
	}
	return n
}

// mayWrite reports whether a request may write a key.
func (u *underway) mayWrite(k keyAt) bool {
	return u.touch == nil || !u.reads && slices.Contains(u.keys, k)
}

// queue keeps a command, whose bytes do not stay.
func (l *labState) queue(c *pair, args [][]byte) inside {
	in := inside{db: c.db, args: make([][]byte, len(args))}
	for i, arg := range args {
		in.args[i] = slices.Clone(arg)
	}
	in.call = l.call(in.args)
	return in
}
