package command

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Clients that keep answers want to be told when these are no longer true. There
// are two ways (tracking.c).
//
// The server remembers who has read which key, and tells of its next change, once.
// Who wants to hear of more reads the key again:
//
//	GET k     ──> readers[k] = {5}         remember, when a read has run
//	SET k v   ──> ">2 invalidate [k]" to 5  invalidate, with every change
//	              readers[k] is forgotten
//
// Or, with BCAST, it remembers nothing: the client is told of all changed keys with
// its prefixes, those of one pass of the loop together.
//
// A key is its name alone, whatever database it is in: to forget too much is safe.

// Tracker is what a session wants to be told of (CLIENT TRACKING). It stays with the
// session once there is one; On tells whether it is in force.
type Tracker struct {
	On       bool
	Bcast    bool
	Redirect int64 // the client that gets the messages, 0 for the session's own
	Broken   bool  // that client was not there any more

	optIn, optOut bool // only what CLIENT CACHING YES announces; all but what CACHING NO does
	noLoop        bool // nothing about the session's own changes
	announced     bool // CLIENT CACHING was called for the command or transaction to come

	prefixes []string // BCAST's, sorted
	bytes    int      // of these
}

// trackers is who is to be told of what.
type trackers struct {
	clients  map[int64]*Session    // with tracking on, by ID
	readers  *store.Table[[]int64] // IDs of those who have read a key, ascending; some may be gone
	items    int                   // IDs in readers
	prefixes []*prefix             // sorted by name
	fresh    bool                  // one of them has changed keys
	pending  [][]byte              // keys that the running client is told of after its reply, nil for all keys
	changed  int                   // bytes of the keys that have changed, in prefixes
	effort   int                   // rounds in which readers stayed above its limit
}

// prefix is the beginning of keys that clients in BCAST mode want to hear of.
type prefix struct {
	name    string
	clients []*Session
	changed map[string]*Session // keys, and who has changed each last
}

// Tracks tells whether s keeps answers.
func (s *Session) Tracks() bool { return s.Tracker != nil && s.Tracker.On }

// RedirectsTo is the client that gets the messages of s, 0 when it does so itself and
// -1 when there are none.
func (s *Session) RedirectsTo() int64 {
	if !s.Tracks() {
		return -1
	}
	return s.Tracker.Redirect
}

// track begins with what t says, or goes on with it in place of what was said before.
func (ex *Executor) track(s *Session, t Tracker, prefixes [][]byte) {
	if !s.Tracks() {
		if ex.trackers.clients == nil {
			ex.trackers.clients = map[int64]*Session{}
		}
		ex.trackers.clients[s.ID] = s
		ex.observers++
	}
	if s.Tracker == nil {
		s.Tracker = &Tracker{}
	}
	t.On, t.announced, t.prefixes, t.bytes = true, s.Tracker.announced, s.Tracker.prefixes, s.Tracker.bytes
	*s.Tracker = t
	if t.Bcast && len(prefixes) == 0 {
		prefixes = [][]byte{nil}
	}
	for _, name := range prefixes {
		ex.trackPrefix(s, string(name))
	}
}

func (ex *Executor) trackPrefix(s *Session, name string) {
	own := &s.Tracker.prefixes
	i, known := slices.BinarySearch(*own, name)
	if known {
		return
	}
	*own = slices.Insert(*own, i, name)
	s.Tracker.bytes += memPrefix + 2*len(name)
	all := &ex.trackers.prefixes
	i, known = slices.BinarySearchFunc(*all, name, (*prefix).compare)
	if !known {
		*all = slices.Insert(*all, i, &prefix{name: name, changed: map[string]*Session{}})
	}
	(*all)[i].clients = append((*all)[i].clients, s)
}

func (p *prefix) compare(name string) int { return strings.Compare(p.name, name) }

// untrack ends what track has begun. The keys s has read stay in the table until they
// change: to look for them would take longer.
func (ex *Executor) untrack(s *Session) {
	if !s.Tracks() {
		return
	}
	delete(ex.trackers.clients, s.ID)
	ex.observers--
	all := &ex.trackers.prefixes
	for _, name := range s.Tracker.prefixes {
		i, _ := slices.BinarySearchFunc(*all, name, (*prefix).compare)
		p := (*all)[i]
		at := slices.Index(p.clients, s)
		if p.clients = slices.Delete(p.clients, at, at+1); len(p.clients) == 0 {
			*all = slices.Delete(*all, i, i+1)
		}
	}
	*s.Tracker = Tracker{Redirect: s.Tracker.Redirect} // which messages that wait still go to
}

// remember notes that the running client has read the keys of a command that has
// run, for it or for its script.
func (ex *Executor) remember(cmd *Command, args [][]byte) {
	s := ex.running
	if s == nil || !s.Tracks() || s.Tracker.Bcast || cmd.Group == "scripting" {
		return // a script is not what reads, its commands are
	}
	if t := s.Tracker; t.optIn && !t.announced || t.optOut && t.announced {
		return
	}
	ex.keys = cmd.AppendKeys(ex.keys[:0], args)
	for _, key := range ex.keys {
		n, added := ex.trackers.readers.Insert(args[key.Index])
		if added {
			ex.observers++
		}
		if i, known := slices.BinarySearch(n.Val, s.ID); !known {
			n.Val = slices.Insert(n.Val, i, s.ID)
			ex.trackers.items++
		}
	}
}

// invalidate tells those who keep an answer that depends on key. It was changed by
// a session, or by nobody's command when by is nil.
func (ex *Executor) invalidate(key []byte, by *Session) {
	for _, p := range ex.trackers.prefixes {
		if len(key) >= len(p.name) && string(key[:len(p.name)]) == p.name {
			if _, known := p.changed[string(key)]; !known {
				ex.trackers.changed += memWatch + len(key)
			}
			p.changed[string(key)] = by
			ex.trackers.fresh = true
		}
	}
	ex.forget(key)
}

// forget tells the readers of key to drop what they keep, and drops their names.
func (ex *Executor) forget(key []byte) {
	t := &ex.trackers
	n := t.readers.Find(key)
	if n == nil {
		return
	}
	for _, id := range n.Val {
		s := t.clients[id]
		switch {
		case s == nil || s.Tracker.Bcast || s.Tracker.noLoop && s == ex.running:
		case s == ex.running && ex.executing:
			t.pending = append(t.pending, bytes.Clone(key))
		default:
			ex.tell(s, arrayOf(string(key)))
		}
	}
	t.items -= len(n.Val)
	ex.observers--
	t.readers.Delete(key)
}

// invalidateAll is for FLUSHALL, and for FLUSHDB, which cannot tell the keys of its
// database from others. Everybody is told, whatever they have read.
func (ex *Executor) invalidateAll() {
	t := &ex.trackers
	for _, id := range slices.Sorted(maps.Keys(t.clients)) {
		s := t.clients[id]
		if s == ex.running && ex.executing {
			t.pending = append(t.pending, nil)
		} else {
			ex.tell(s, nullFor(s))
		}
	}
	ex.observers -= t.readers.Len()
	t.readers, t.items = store.NewTable[[]int64](ex.KS.Seed), 0
}

// tellPending tells s, whose command has been answered, what this command has made
// invalid of its own: before the reply it would be in the middle of EXEC's.
func (ex *Executor) tellPending(s *Session) {
	t := &ex.trackers
	for _, key := range t.pending {
		if key == nil {
			ex.tell(s, nullFor(s))
		} else {
			ex.tell(s, arrayOf(string(key)))
		}
	}
	clear(t.pending)
	t.pending = t.pending[:0]
}

// Broadcast tells the clients in BCAST mode what has changed since it was last
// called, at the end of the pass before.
func (ex *Executor) Broadcast() {
	if !ex.trackers.fresh {
		return
	}
	ex.trackers.fresh, ex.trackers.changed = false, 0
	for _, p := range ex.trackers.prefixes {
		if len(p.changed) == 0 {
			continue
		}
		keys := slices.Sorted(maps.Keys(p.changed))
		all := arrayOf(keys...)
		for _, s := range p.clients {
			if !s.Tracker.noLoop {
				ex.tell(s, all)
				continue
			}
			others := make([]string, 0, len(keys))
			for _, key := range keys {
				if p.changed[key] != s {
					others = append(others, key)
				}
			}
			if len(others) > 0 {
				ex.tell(s, arrayOf(others...))
			}
		}
		clear(p.changed)
	}
}

// invalidationChannel is where a RESP2 client listens for the messages of others.
const invalidationChannel = "__redis__:invalidate"

// tell sends a message of s to where s wants it. A RESP2 client can take it only
// as a message of a channel, on a connection that is there for messages.
func (ex *Executor) tell(s *Session, keys []byte) {
	to, redirected := s, s.Tracker.Redirect != 0
	w := resp.Writer{Buf: ex.message[:0], Proto: 3}
	if redirected {
		if to = ex.Host.FindSession(s.Tracker.Redirect); to == nil {
			s.Tracker.Broken = true
			if s.Proto > 2 {
				w.Push(2)
				w.BulkString("tracking-redir-broken")
				w.Int(s.Tracker.Redirect)
				ex.post(s, w.Buf)
			}
			return
		}
	}
	switch {
	case to.Proto > 2:
		w.Push(2)
		w.BulkString("invalidate")
	case redirected && to.Subscriber:
		w.Array(3)
		w.BulkString("message")
		w.BulkString(invalidationChannel)
	default:
		return
	}
	w.Raw(keys)
	ex.post(to, w.Buf)
	ex.keep(w.Buf)
}

// arrayOf encodes keys, the same for both protocols.
func arrayOf(keys ...string) []byte {
	var w resp.Writer
	w.Array(len(keys))
	for _, key := range keys {
		w.BulkString(key)
	}
	return w.Buf
}

// nullFor stands for all keys, in the protocol of the client that tracks: also
// where the message goes to another one (tracking.c: trackingInvalidateKeysOnFlush).
func nullFor(s *Session) []byte {
	w := resp.Writer{Proto: s.Proto}
	w.Null()
	return w.Buf
}

// OverTracked reports whether LimitTracked has something to do.
func (ex *Executor) OverTracked() bool {
	most := ex.Cfg.TrackingTableMaxKeys
	return most > 0 && ex.trackers.readers.Len() > most
}

// LimitTracked forgets keys at random until there are as few as
// tracking-table-max-keys says. It does so in portions, and in larger ones the more
// commands find that there are too many still.
func (ex *Executor) LimitTracked() {
	t, most := &ex.trackers, ex.Cfg.TrackingTableMaxKeys
	if most == 0 {
		return
	}
	for left := 100 * (t.effort + 1); t.readers.Len() > most; left-- {
		if left == 0 {
			t.effort++
			return
		}
		ex.forget([]byte(t.readers.Random(ex.KS.Rand).Key))
	}
	t.effort = 0
}

// TrackingStats are for INFO: clients that track, keys in the table, names of
// clients there, and prefixes.
func (ex *Executor) TrackingStats() (clients, keys, items, prefixes int) {
	t := &ex.trackers
	return len(t.clients), t.readers.Len(), t.items, len(t.prefixes)
}

// endAnnounced is called after every command: CLIENT's own do not count, and up
// to EXEC a transaction is not over (networking.c: resetClient).
func (s *Session) endAnnounced(cmd *Command) {
	if s.InMulti() || cmd != nil && cmd.Container != nil && cmd.Container.Name == "client" {
		return
	}
	s.Tracker.announced = false
}
