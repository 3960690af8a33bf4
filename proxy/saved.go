package proxy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// LAB SNAPSHOT and LAB CRASH LOSE NOTHING keep all keys and functions of an upstream in the memory of the proxy. They
// use DUMP and RESTORE. Deadlines are kept in the time of the lab, so LAB CLOCK ADVANCE counts for them as well. A
// server cannot list its scripts, so they are not kept.

// saved is what an upstream had at one moment. Nothing changes it.
type saved struct {
	keys      []savedKey
	functions string // of FUNCTION DUMP
	taken     int64  // unix ms
}

type savedKey struct {
	keyAt
	deadline int64 // unix ms, 0 for never
	dump     string
}

const (
	mostSaved      = 10_000   // keys
	mostSavedBytes = 64 << 20 // of all values
	savedAtOnce    = 100      // keys whose values are asked for in one round trip
)

// saver is a save under way.
type saver struct {
	l     *labState
	keys  []keyAt // that are left
	bytes int
	saved *saved
	then  func(*saved, error)
}

// save saves all keys and functions. It needs the turn.
func (l *labState) save(then func(*saved, error)) {
	l.learnTable(func(err error) {
		switch {
		case err != nil:
			then(nil, err)
			return
		case l.table["pexpiretime"] == nil || l.table["dump"] == nil:
			then(nil, errors.New("the upstream has no PEXPIRETIME or no DUMP: Redis has both since 7.0"))
			return
		}
		l.findKeys("*", mostSaved, func(keys []keyAt, complete bool, err error) {
			if err == nil && (!complete || len(keys) > mostSaved) {
				err = fmt.Errorf("the upstream has more than %d keys, and a proxy saves no more", mostSaved)
			}
			if err != nil {
				then(nil, err)
				return
			}
			s := &saver{l: l, keys: keys, then: then, saved: &saved{taken: l.ledger.now()}}
			s.next()
		})
	})
}

// next asks for the next values, and for the functions after the last ones.
func (s *saver) next() {
	if len(s.keys) == 0 {
		s.functions()
		return
	}
	db, n := s.keys[0].db, 0
	requests := resp.AppendRequest(nil, "SELECT", strconv.Itoa(db))
	for n < len(s.keys) && n < savedAtOnce && s.keys[n].db == db {
		requests = resp.AppendRequest(requests, "PEXPIRETIME", s.keys[n].key)
		requests = resp.AppendRequest(requests, "DUMP", s.keys[n].key)
		n++
	}
	s.l.askFor(1+2*n, requests, func(got []resp.Value, err error) {
		if err = refused(got, err); err != nil {
			s.then(nil, err)
			return
		}
		for i, k := range s.keys[:n] {
			at, dump := got[1+2*i], got[2+2*i]
			if dump.Null {
				continue // it has just expired
			}
			if s.bytes += len(dump.Str); s.bytes > mostSavedBytes {
				s.then(nil, fmt.Errorf("the values of the upstream have more than %d MB, and a proxy saves no more",
					mostSavedBytes>>20))
				return
			}
			s.saved.keys = append(s.saved.keys, savedKey{k, s.l.deadline(at.Int), dump.Str})
		}
		s.keys = s.keys[n:]
		s.next()
	})
}

func (s *saver) functions() {
	if s.l.table["function"] == nil {
		s.then(s.saved, nil)
		return
	}
	s.l.ask("FUNCTION", "DUMP")(func(v resp.Value, err error) {
		s.saved.functions = v.Str
		s.then(s.saved, err)
	})
}

// refused returns err, or the first error among replies.
func refused(got []resp.Value, err error) error {
	if i := slices.IndexFunc(got, func(v resp.Value) bool { return v.Kind == '-' }); err == nil && i >= 0 {
		err = errors.New("the upstream has refused it: " + got[i].Str)
	}
	return err
}

// empty removes all keys and functions.
func (l *labState) empty(then func(error)) {
	requests, n := resp.AppendRequest(nil, "FLUSHALL"), 1
	if l.table["function"] != nil {
		requests, n = resp.AppendRequest(requests, "FUNCTION", "FLUSH"), 2
	}
	l.askFor(n, requests, func(got []resp.Value, err error) { then(refused(got, err)) })
}

// put replaces all keys and functions by those that were saved. A key whose time is over does not come back.
func (l *labState) put(s *saved, then func(error)) {
	l.empty(func(err error) {
		if err != nil {
			then(err)
			return
		}
		l.putKeys(s, s.keys, then)
	})
}

func (l *labState) putKeys(s *saved, keys []savedKey, then func(error)) {
	if len(keys) == 0 {
		if s.functions == "" {
			then(nil)
			return
		}
		l.ask("FUNCTION", "RESTORE", s.functions, "FLUSH")(func(_ resp.Value, err error) { then(err) })
		return
	}
	db, n := keys[0].db, 0
	requests := resp.AppendRequest(nil, "SELECT", strconv.Itoa(db))
	for n < len(keys) && n < savedAtOnce && keys[n].db == db {
		at := int64(0)
		if keys[n].deadline > 0 {
			at = max(keys[n].deadline-l.ledger.ahead, 1)
		}
		requests = resp.AppendRequest(requests, "RESTORE", keys[n].key, strconv.FormatInt(at, 10), keys[n].dump,
			"REPLACE", "ABSTTL")
		n++
	}
	l.askFor(1+n, requests, func(got []resp.Value, err error) {
		if err = refused(got, err); err != nil {
			then(err)
			return
		}
		l.putKeys(s, keys[n:], then)
	})
}

func (l *labState) snapshotSave(c *pair, d *due, args [][]byte) []byte {
	name := string(args[0])
	l.between(c, d, "snapshot save", func(then func(error)) {
		l.save(func(s *saved, err error) {
			if err == nil {
				l.own.snapshots[name] = s
			}
			then(err)
		})
	})
	return nil
}

func (l *labState) snapshotRestore(c *pair, d *due, args [][]byte) []byte {
	s := l.own.snapshots[string(args[0])]
	if s == nil {
		return l.noSnapshot(c, d, "restore", args[0])
	}
	l.between(c, d, "snapshot restore", func(then func(error)) {
		l.put(s, func(err error) {
			if err != nil {
				then(err)
				return
			}
			l.restored(then)
		})
	})
	return nil
}

// between does something with all keys between two requests, and replies.
func (l *labState) between(c *pair, d *due, verb string, do func(then func(error))) {
	switch {
	case l.turn.free:
		l.fail(c, d, verb, "it needs --order exact: else clients write meanwhile")
		return
	case l.isDown():
		l.fail(c, d, verb, "the server is down")
		return
	}
	l.turn.does(func(u *underway) {
		do(func(err error) {
			if err != nil {
				l.fail(c, d, verb, "%v", err)
			} else {
				l.ok(c, d)
			}
			l.turn.over(u)
		})
	})
}

// restored logs a restore, with what it has made of the watched keys.
func (l *labState) restored(then func(error)) {
	g := &l.ledger
	if !l.isWatching() {
		then(nil)
		return
	}
	l.findKeys("*", mostSaved, func(keys []keyAt, _ bool, err error) {
		if err != nil {
			then(err)
			return
		}
		keys = slices.DeleteFunc(keys, func(k keyAt) bool { return !l.log.Watches([]byte(k.key)) || g.known[k] != nil })
		keys = append(keys, g.keys()...)
		l.lookAt(keys, func(s *sight, err error) {
			if err != nil {
				then(err)
				return
			}
			e := lab.Entry{Event: lab.EventRestore, Outcome: lab.Executed}
			for _, k := range keys {
				if c := changeOf(k, g.known[k], s.values[k], false); c != nil {
					c.Cause = lab.ByLoss
					e.Changes = append(e.Changes, *c)
				}
				g.learn(k, s.values[k])
			}
			g.evicted = s.evicted
			l.addAt(max(s.at, g.now()), e)
			then(nil)
		})
	})
}

func (l *labState) snapshotDel(c *pair, d *due, args [][]byte) []byte {
	name := string(args[0])
	if l.own.snapshots[name] == nil {
		return l.noSnapshot(c, d, "del", args[0])
	}
	delete(l.own.snapshots, name)
	return l.ok(c, d)
}

func (l *labState) noSnapshot(c *pair, d *due, verb string, name []byte) []byte {
	l.fail(c, d, "snapshot "+verb, "no snapshot is named '%s'", lab.Printable(string(name)))
	return nil
}

func (l *labState) snapshotList(c *pair, d *due, _ [][]byte) []byte {
	l.answer(c, d, func(w *resp.Writer) {
		w.Array(len(l.own.snapshots))
		for _, name := range slices.Sorted(maps.Keys(l.own.snapshots)) {
			s := l.own.snapshots[name]
			w.Map(3)
			w.TextField("name", lab.Printable(name))
			w.IntField("unix-ms", s.taken)
			w.IntField("keys", int64(len(s.keys)))
		}
	})
	return nil
}
