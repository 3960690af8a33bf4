package command

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Client-side caching: clients cache values and the server tells them when a value changes
// (tracking.c). There are two modes.
//
// By default the server records which client has read which key. The next change of the key sends
// one message and deletes the record. The client must read the key again to hear of later changes:
//
//	GET k     ──> readers[k] = {5}          remember, after a read has run
//	SET k v   ──> ">2 invalidate [k]" to 5  invalidate, with every change
//	              readers[k] is deleted
//
// In BCAST mode the server records no reads. The client hears of every changed key with one of its
// prefixes, together for one pass of the loop.
//
// A record holds the name of a key without its database. A client may drop too much, never too little.

// Tracker is what CLIENT TRACKING has set for a session. It stays with the session for its memory;
// On reports whether tracking is on.
type Tracker struct {
	On       bool
	Bcast    bool
	Redirect int64 // ID of the client that gets the messages, 0 for the session itself
	Broken   bool  // that client has gone

	optIn, optOut bool // only reads after CLIENT CACHING YES; all reads but those after CACHING NO
	noLoop        bool // no messages about the session's own changes
	announced     bool // CLIENT CACHING was called for the next command or transaction

	prefixes []string // of BCAST, sorted
	bytes    int      // memory of prefixes
}

// Tracking records which clients cache which keys, and sends the invalidation messages.
type Tracking struct {
	ex       *Executor
	clients  map[int64]*Session    // clients with tracking on, by ID
	readers  *store.Table[[]int64] // for each key the IDs of its readers, ascending; some may have gone
	items    int                   // IDs in readers
	prefixes []*prefix             // of all clients in BCAST mode, sorted by name
	fresh    bool                  // a prefix has changed keys
	pending  [][]byte              // keys to tell the running client after its reply; nil means all keys
	changed  int                   // bytes of the changed keys in prefixes
	effort   int                   // rounds in which readers stayed above its limit: see Limit
}

// prefix is one prefix of BCAST mode.
type prefix struct {
	name    string
	clients []*Session
	changed map[string]*Session // changed keys, each with the session that changed it last
}

func newTracking(ex *Executor) Tracking {
	return Tracking{ex: ex, clients: map[int64]*Session{}, readers: store.NewTable[[]int64](ex.KS.Seed)}
}

// active reports whether a change of a key may concern a client.
func (t *Tracking) active() bool { return len(t.clients) > 0 || t.readers.Len() > 0 }

// Tracks reports whether tracking is on for s.
func (s *Session) Tracks() bool { return s.Tracker != nil && s.Tracker.On }

// RedirectsTo returns the ID of the client that gets the messages of s: 0 for s itself, -1 when
// tracking is off.
func (s *Session) RedirectsTo() int64 {
	if !s.Tracks() {
		return -1
	}
	return s.Tracker.Redirect
}

// start switches tracking on for s with the options of opts, or changes the options
// (tracking.c: enableTracking). prefixes are added to those that s has.
func (t *Tracking) start(s *Session, opts Tracker, prefixes [][]byte) {
	t.clients[s.ID] = s
	if s.Tracker == nil {
		s.Tracker = &Tracker{}
	}
	old := s.Tracker
	opts.On, opts.announced, opts.prefixes, opts.bytes = true, old.announced, old.prefixes, old.bytes
	*s.Tracker = opts
	if opts.Bcast && len(prefixes) == 0 {
		prefixes = [][]byte{nil}
	}
	for _, name := range prefixes {
		t.addPrefix(s, string(name))
	}
}

func (t *Tracking) addPrefix(s *Session, name string) {
	own := &s.Tracker.prefixes
	i, known := slices.BinarySearch(*own, name)
	if known {
		return
	}
	*own = slices.Insert(*own, i, name)
	s.Tracker.bytes += memPrefix + 2*len(name)
	i, known = slices.BinarySearchFunc(t.prefixes, name, (*prefix).compare)
	if !known {
		t.prefixes = slices.Insert(t.prefixes, i, &prefix{name: name, changed: map[string]*Session{}})
	}
	t.prefixes[i].clients = append(t.prefixes[i].clients, s)
}

func (p *prefix) compare(name string) int { return strings.Compare(p.name, name) }

// stop switches tracking off for s (tracking.c: disableTracking). The records of its reads stay until
// the keys change: a search for them would cost more.
func (t *Tracking) stop(s *Session) {
	if !s.Tracks() {
		return
	}
	delete(t.clients, s.ID)
	for _, name := range s.Tracker.prefixes {
		i, _ := slices.BinarySearchFunc(t.prefixes, name, (*prefix).compare)
		p := t.prefixes[i]
		at := slices.Index(p.clients, s)
		if p.clients = slices.Delete(p.clients, at, at+1); len(p.clients) == 0 {
			t.prefixes = slices.Delete(t.prefixes, i, i+1)
		}
	}
	*s.Tracker = Tracker{Redirect: s.Tracker.Redirect} // pending messages still go there
}

// remember records that the running client has read the keys of a command. A command that a script
// calls counts as a read of the script's client (tracking.c: trackingRememberKeys).
func (t *Tracking) remember(cmd *Command, args [][]byte) {
	s := t.ex.running
	if s == nil || !s.Tracks() || s.Tracker.Bcast || cmd.Script != noScript {
		return // EVAL_RO itself reads nothing, its commands do
	}
	if own := s.Tracker; own.optIn && !own.announced || own.optOut && own.announced {
		return
	}
	t.ex.keys = cmd.AppendKeys(t.ex.keys[:0], args)
	for _, key := range t.ex.keys {
		n, _ := t.readers.Insert(args[key.Index])
		if i, known := slices.BinarySearch(n.Val, s.ID); !known {
			n.Val = slices.Insert(n.Val, i, s.ID)
			t.items++
		}
	}
}

// invalidate sends the messages about a changed key. by is the session that changed it, nil for none
// (tracking.c: trackingInvalidateKey).
func (t *Tracking) invalidate(key []byte, by *Session) {
	for _, p := range t.prefixes {
		if len(key) >= len(p.name) && string(key[:len(p.name)]) == p.name {
			if _, known := p.changed[string(key)]; !known {
				t.changed += memWatch + len(key)
			}
			p.changed[string(key)] = by
			t.fresh = true
		}
	}
	t.forget(key)
}

// forget tells the readers of key to drop it, and deletes the record.
func (t *Tracking) forget(key []byte) {
	n := t.readers.Find(key)
	if n == nil {
		return
	}
	for _, id := range n.Val {
		s := t.clients[id]
		switch {
		case s == nil || s.Tracker.Bcast || s.Tracker.noLoop && s == t.ex.running:
		case s == t.ex.running && t.ex.executing:
			t.pending = append(t.pending, bytes.Clone(key))
		default:
			t.tell(s, arrayOf(string(key)))
		}
	}
	t.items -= len(n.Val)
	t.readers.Delete(key)
}

// invalidateAll tells all tracking clients to drop all keys. It is for FLUSHALL, and for FLUSHDB,
// because a record does not know the database of its key.
func (t *Tracking) invalidateAll() {
	for _, id := range slices.Sorted(maps.Keys(t.clients)) {
		s := t.clients[id]
		if s == t.ex.running && t.ex.executing {
			t.pending = append(t.pending, nil)
		} else {
			t.tell(s, nullFor(s))
		}
	}
	t.readers, t.items = store.NewTable[[]int64](t.ex.KS.Seed), 0
}

// tellPending tells s, whose command has its reply, which of its own keys the command has
// invalidated. Before the reply, the message would stand inside the reply to EXEC.
func (t *Tracking) tellPending(s *Session) {
	for _, key := range t.pending {
		if key == nil {
			t.tell(s, nullFor(s))
		} else {
			t.tell(s, arrayOf(string(key)))
		}
	}
	clear(t.pending)
	t.pending = t.pending[:0]
}

// Broadcast tells the clients in BCAST mode which keys have changed since the last call. The server
// calls it at the end of each pass (tracking.c: trackingBroadcastInvalidationMessages).
func (t *Tracking) Broadcast() {
	if !t.fresh {
		return
	}
	t.fresh, t.changed = false, 0
	for _, p := range t.prefixes {
		if len(p.changed) == 0 {
			continue
		}
		keys := slices.Sorted(maps.Keys(p.changed))
		all := arrayOf(keys...)
		for _, s := range p.clients {
			if !s.Tracker.noLoop {
				t.tell(s, all)
				continue
			}
			others := make([]string, 0, len(keys))
			for _, key := range keys {
				if p.changed[key] != s {
					others = append(others, key)
				}
			}
			if len(others) > 0 {
				t.tell(s, arrayOf(others...))
			}
		}
		clear(p.changed)
	}
}

// invalidationChannel is the channel on which a RESP2 client gets the messages of others.
const invalidationChannel = "__redis__:invalidate"

// tell sends a message to s, or to the client that s redirects to. A RESP2 client gets it only as a
// message of a channel, and only by redirection (tracking.c: sendTrackingMessage).
func (t *Tracking) tell(s *Session, keys []byte) {
	m := &t.ex.messages
	to, redirected := s, s.Tracker.Redirect != 0
	w := resp.Writer{Buf: m.room[:0], Proto: 3}
	if redirected {
		if to = t.ex.Host.FindSession(s.Tracker.Redirect); to == nil {
			s.Tracker.Broken = true
			if s.Proto > 2 {
				w.Push(2)
				w.BulkString("tracking-redir-broken")
				w.Int(s.Tracker.Redirect)
				m.post(s, w.Buf)
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
	m.post(to, w.Buf)
	m.keep(w.Buf)
}

// arrayOf encodes keys. The bytes are the same in both protocols.
func arrayOf(keys ...string) []byte {
	var w resp.Writer
	w.Array(len(keys))
	for _, key := range keys {
		w.BulkString(key)
	}
	return w.Buf
}

// nullFor encodes the null that stands for all keys. Its protocol is that of the tracking client,
// even if another client gets the message (tracking.c: trackingInvalidateKeysOnFlush).
func nullFor(s *Session) []byte {
	w := resp.Writer{Proto: s.Proto}
	w.Null()
	return w.Buf
}

// OverLimit reports whether more keys are recorded than tracking-table-max-keys allows.
func (t *Tracking) OverLimit() bool {
	most := t.ex.Cfg.TrackingTableMaxKeys
	return most > 0 && t.readers.Len() > most
}

// Limit forgets random keys until tracking-table-max-keys is kept. One call forgets at most 100 keys,
// and 100 more for each earlier call in a row that was not enough
// (tracking.c: trackingLimitUsedSlots).
func (t *Tracking) Limit() {
	most := t.ex.Cfg.TrackingTableMaxKeys
	if most == 0 {
		return
	}
	for left := 100 * (t.effort + 1); t.readers.Len() > most; left-- {
		if left == 0 {
			t.effort++
			return
		}
		t.forget([]byte(t.readers.Random(t.ex.KS.Rand).Key()))
	}
	t.effort = 0
}

// Stats returns the figures of INFO: clients that track, keys in the table, reader IDs in the table,
// and prefixes.
func (t *Tracking) Stats() (clients, keys, items, prefixes int) {
	return len(t.clients), t.readers.Len(), t.items, len(t.prefixes)
}

// mem returns the bytes of the table of readers and of the changed keys.
func (t *Tracking) mem() int { return t.readers.Mem() + memReader*t.items + t.changed }

// endAnnounced ends the effect of CLIENT CACHING after a command. The subcommands of CLIENT do not
// end it, and a transaction ends it with EXEC (networking.c: resetClient).
func (s *Session) endAnnounced(cmd *Command) {
	if s.InMulti() || cmd != nil && cmd.Container != nil && cmd.Container.Flags&KeepsCaching != 0 {
		return
	}
	s.Tracker.announced = false
}
