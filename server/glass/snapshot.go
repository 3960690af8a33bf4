package glass

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/lab"
	"github.com/miniredisd/miniredisd/store"
)

// What there is while the server is stopped. Main makes a snapshot before it waits, so nothing changes
// meanwhile. Looking changes nothing either: no statistics, no expiry, no age of a key.

func (v *State) snapshot(e *trace.Event) *glass.Snapshot {
	s := &glass.Snapshot{
		Clock: v.Ex.Now.Wall / 1e6, Pass: e.Pass,
		Fired: &glass.Fired{List: slices.Clone(v.fired), At: v.at},
		Lists: v.lists(),
		Counters: &glass.Counters{
			Passes: v.Stats.Passes, Commands: v.Ex.Stats.Commands, Connections: v.Stats.Connections,
		},
	}
	if s.Fired.List == nil {
		s.Fired.List = []glass.Ready{}
	}
	s.Clients, s.More = v.shownClients()
	s.Keys, s.KeysMore = v.shownKeys()
	if w := v.Persist.AOF.Writer; w != nil {
		state := w.State()
		s.File = &glass.File{Policy: v.Cfg.AppendFsync, Unsynced: state.Unsynced + int64(state.Buffered)}
	}
	s.Stream = v.stream()
	s.Threads = []glass.ThreadClient{{Name: "main", Clients: []int64{}}}
	for i, ids := range v.Pool.Lent() {
		s.Threads = append(s.Threads, glass.ThreadClient{Name: trace.IOThread(i + 1), Clients: ids})
	}
	return s
}

// summary adds what only the server knows. A first one says more of the clients.
func (v *State) summary(sum *glass.Summary, first bool) {
	sum.Clients = len(v.Clients.Order)
	if sum.Clients <= glass.MaxClients {
		sum.Present = ids(v.Clients.Order)
	}
	if first {
		sum.First, _ = v.shownClients()
	}
	sum.Keys, sum.KeysMore = v.shownKeys()
}

func ids(clients []*server.Client) []int64 {
	list := []int64{}
	for _, c := range clients {
		list = append(list, c.Sess.ID)
	}
	return list
}

func (v *State) lists() *glass.Lists {
	queued, taken := v.Queue.List()
	return &glass.Lists{
		PendingReads: append(ids(queued), ids(v.PendingReads)...), NextRead: taken + v.NextRead,
		Resumed:       ids(v.Resumed[min(v.NextResumed, len(v.Resumed)):]),
		PendingWrites: ids(v.PendingWrites), Deferred: len(v.Deferred), Closing: ids(v.Closing),
	}
}

// pageClient begins the names of the clients that the page itself has opened.
const pageClient = "page:"

// shownClients returns the clients of the page, then those used latest. more is the number of others.
func (v *State) shownClients() (list []trace.Client, more int) {
	all := slices.Clone(v.Clients.Order)
	slices.SortFunc(all, func(a, b *server.Client) int {
		if of := strings.HasPrefix(a.Sess.Name, pageClient); of != strings.HasPrefix(b.Sess.Name, pageClient) {
			if of {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Active, a.Active), cmp.Compare(a.Sess.ID, b.Sess.ID))
	})
	list = []trace.Client{}
	for _, c := range all[:min(len(all), glass.MaxClients)] {
		list = append(list, v.shown(c))
	}
	return list, len(all) - len(list)
}

func (v *State) shown(c *server.Client) trace.Client {
	s := c.Show()
	s.Name, s.Addr, s.DB = c.Sess.Name, c.Sess.Addr, c.Sess.DB
	s.State, s.On = v.stateOf(c)
	if s.Role = v.roleOf(c); s.Role == "replica" && len(c.Out.Refs) > 0 && s.Output == c.Out.RefLen {
		s.Out = trace.Shown(c.Out.Refs[0].Bytes)
	}
	if t := c.Sess.Tx; t != nil {
		s.Watch = t.Watching()
		if t.Open {
			s.Multi = t.Len()
		}
	}
	for i, lent := range v.Pool.Lent() {
		if slices.Contains(lent, s.ID) {
			s.Thread = i + 1
		}
	}
	return s
}

// stateOf says what a client is doing, and the key or rule that it waits for.
func (v *State) stateOf(c *server.Client) (state, on string) {
	switch {
	case c.Closed || c.Sess.CloseAfterReply:
		return "closing", ""
	case c == v.Running:
		return "executing", ""
	case c.Sess.Hold == command.Blocked:
		return "blocked", c.Sess.Wait.On()
	case c.Sess.Hold == command.Postponed:
		return "paused", ""
	case c.Sess.Hold == command.Stopped || c.Muted:
		if f := lab.Of(c).Fault; f != nil && f.Rule != nil {
			on = f.Rule.Name
		}
		return "held", on
	case c.Full:
		return "full", ""
	case c.PendingRead:
		return "reading", ""
	}
	if recv, _ := c.Queues(); recv > 0 {
		return "readable", ""
	}
	return "idle", ""
}

// touched is a key that a command has named.
type touched struct {
	db  int
	key string
	by  int64 // the client of the last command that changed something
}

// mostTouched is how many keys are remembered: some of them may be gone when a snapshot is made.
const mostTouched = 4 * glass.MaxKeys

// keysOf returns the keys among the words of a command.
func (v *State) keysOf(args [][]byte) [][]byte {
	if cmd := v.Ex.Table.Lookup(args); cmd != nil {
		return cmd.AppendSubjects(nil, args)
	}
	return args // the names of keys that have expired
}

// subjects returns the keys of a request, and for EXEC those of its queue.
func (v *State) subjects(by *command.Session, cmd *command.Command, args [][]byte) (keys []string) {
	if cmd == nil || cmd.Group == "pubsub" {
		return nil
	}
	add := func(cmd *command.Command, args [][]byte) {
		for _, key := range cmd.AppendKeys(nil, args) {
			keys = append(keys, string(args[key.Index]))
		}
	}
	add(cmd, args)
	if cmd.Flags&command.RunsQueue != 0 {
		for cmd, args := range by.Queued() {
			add(cmd, args)
		}
	}
	return keys
}

// touch moves keys to the front of those that a snapshot shows.
func (v *State) touch(by *command.Session, keys []string, changed bool) {
	for _, key := range keys {
		t := touched{db: by.DB, key: key}
		at := slices.IndexFunc(v.recent, func(o touched) bool { return o.db == t.db && o.key == t.key })
		if at >= 0 {
			t.by = v.recent[at].by
			v.recent = slices.Delete(v.recent, at, at+1)
		}
		if changed {
			t.by = by.ID
		}
		v.recent = slices.Insert(v.recent, 0, t)
	}
	v.recent = v.recent[:min(len(v.recent), mostTouched)]
}

// shownKeys returns the keys used latest, then any others. more is the number of keys left out.
func (v *State) shownKeys() (list []glass.Key, more int) {
	list = []glass.Key{}
	for _, db := range v.KS.DBs {
		more += db.Len()
	}
	for _, t := range v.recent {
		if len(list) < glass.MaxKeys {
			list = v.appendKey(list, t)
		}
	}
	for _, db := range v.KS.DBs {
		if len(list) == glass.MaxKeys || len(list) >= more {
			break
		}
		for _, key := range db.Some(glass.MaxKeys) {
			known := slices.ContainsFunc(list, func(k glass.Key) bool { return k.DB == db.ID && k.K == shownName(key) })
			if !known && len(list) < glass.MaxKeys {
				list = v.appendKey(list, touched{db: db.ID, key: key})
			}
		}
	}
	return list, max(more-len(list), 0)
}

func shownName(key string) string { return trace.Shown([]byte(key)) }

func (v *State) appendKey(list []glass.Key, t touched) []glass.Key {
	k := v.KS.DBs[t.db].Lookup([]byte(t.key), store.LookupNoEffects)
	if !k.Exists() {
		return list
	}
	s := glass.Key{K: shownName(t.key), DB: t.db, Type: k.Type().String(), TTL: -1, By: t.by}
	if at := k.Expire(); at != 0 {
		s.TTL = max(at-v.Ex.Now.Wall/1e6, 0)
	}
	if text, err := k.Str(); err == nil {
		s.V = trace.Shown(text)
	} else {
		s.V = strconv.Itoa(k.Elements()) + " elements"
	}
	return append(list, s)
}

// nameOf returns the name of a client.
func (v *State) nameOf(id int64) string {
	if c := v.Clients.ByID[id]; c != nil {
		return c.Sess.Name
	}
	return ""
}
