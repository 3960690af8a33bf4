package proxy

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labreply"
	"github.com/miniredisd/miniredisd/resp"
)

// LAB LOG WATCH and what follows from it. Whatever asks the upstream does so in a turn of its own, between two
// requests.

// mostFound bounds the keys that LAB LOG WATCH finds.
const mostFound = 1024

// mostScans bounds how often it asks for them: the upstream may have many other keys.
const mostScans = 1000

func (l *labState) logWatch(c *pair, d *due, args [][]byte) []byte {
	w, err := lab.ParseWatch(args)
	switch {
	case err != nil:
		l.fail(c, d, "log watch", "%v", err)
		return nil
	case l.turn.free:
		l.fail(c, d, "log watch", "nobody knows which request has changed a key when several are under way at once: "+
			"start the proxy with --order exact")
		return nil
	}
	each(l.nodes(), func(m *labState, then func(error)) {
		m.turn.does(func(u *underway) {
			m.startsWatch(w, func(err error) {
				if err != nil && m != l && m.p.places != nil {
					m.watchesUnseen(w, err)
					err = nil
				}
				then(err)
				m.turn.over(u)
			})
		})
	}, func(err error) {
		if err != nil {
			l.fail(c, d, "log watch", "%v", err)
		} else {
			l.ok(c, d)
		}
	})
	return nil
}

// startsWatch adds a glob to the log, with the keys that it did not watch before.
func (l *labState) startsWatch(w lab.Watch, then func(error)) {
	l.learnTable(func(err error) {
		switch {
		case err != nil:
			then(err)
			return
		case l.table["pexpiretime"] == nil || l.table["eval"] == nil:
			then(errors.New("the upstream has no PEXPIRETIME or no EVAL: Redis has both since 7.0"))
			return
		}
		l.findKeys(w.Pattern, mostFound, func(keys []keyAt, complete bool, err error) {
			if err != nil {
				then(err)
				return
			}
			keys = slices.DeleteFunc(keys, func(k keyAt) bool { return l.log.Watches([]byte(k.key)) })
			l.look(keys, func(s *sight, err error) {
				if err != nil {
					then(err)
					return
				}
				l.ledger.complete = complete && (l.ledger.complete || !l.isWatching())
				l.log.Watch(w)
				l.finds(keys, s)
				then(nil)
			})
		})
	})
}

// finds logs what some keys are that the log begins to watch.
func (l *labState) finds(keys []keyAt, s *sight) {
	e := lab.Entry{Event: lab.EventWatched, Outcome: lab.Executed}
	l.ledger.follows = s.follows
	for _, k := range keys {
		if v := s.values[k]; v != nil {
			l.ledger.learn(k, v)
			e.Changes = append(e.Changes, *changeOf(k, nil, v, false))
		}
	}
	l.ledger.evicted = s.evicted
	if len(e.Changes) > 0 && !s.follows {
		e.Key, e.DB = e.Changes[0].Key, e.Changes[0].DB
		l.addAt(max(s.at, l.ledger.now()), e)
	}
}

// learnTable asks the upstream for its commands, if nobody has done so.
func (l *labState) learnTable(then func(error)) {
	if l.table != nil {
		then(nil)
		return
	}
	l.askFor(1, resp.AppendRequest(nil, "COMMAND"), func(got []resp.Value, err error) {
		switch {
		case err != nil:
		case got[0].Kind == '-':
			err = fmt.Errorf("the upstream has refused COMMAND: %s", got[0].Str)
		default:
			l.table = commandsOf(got[0])
		}
		then(err)
	})
}

// findKeys returns the keys of all databases that a pattern matches, and whether these are all of them.
func (l *labState) findKeys(pattern string, most int, then func(keys []keyAt, complete bool, err error)) {
	l.askFor(1, resp.AppendRequest(nil, "INFO", "keyspace"), func(got []resp.Value, err error) {
		if err == nil && got[0].Kind == '-' {
			err = errors.New("the upstream has refused INFO: " + got[0].Str)
		}
		if err != nil {
			then(nil, false, err)
			return
		}
		f := &finder{l: l, pattern: pattern, most: most, then: then}
		lines := bufio.NewScanner(strings.NewReader(got[0].Str))
		for lines.Scan() {
			var db int
			if _, err := fmt.Sscanf(lines.Text(), "db%d:", &db); err == nil {
				f.dbs = append(f.dbs, db)
			}
		}
		f.scan("0")
	})
}

// finder looks for keys, one SCAN after another.
type finder struct {
	l       *labState
	pattern string
	dbs     []int // that are left, with the present one
	keys    []keyAt
	most    int // keys
	scans   int
	then    func(keys []keyAt, complete bool, err error)
}

func (f *finder) scan(cursor string) {
	switch {
	case len(f.dbs) == 0:
		slices.SortFunc(f.keys, func(a, b keyAt) int { return cmp.Or(cmp.Compare(a.db, b.db), cmp.Compare(a.key, b.key)) })
		f.then(slices.Compact(f.keys), true, nil)
		return
	case len(f.keys) > f.most || f.scans == mostScans:
		f.then(f.keys, false, nil)
		return
	}
	f.scans++
	requests := resp.AppendRequest(nil, "SELECT", strconv.Itoa(f.dbs[0]))
	requests = resp.AppendRequest(requests, "SCAN", cursor, "MATCH", f.pattern, "COUNT", "1000")
	f.l.askFor(2, requests, func(got []resp.Value, err error) {
		switch {
		case err != nil:
		case len(got[1].Elems) != 2:
			err = errors.New("the upstream has refused SCAN: " + got[1].Str)
		}
		if err != nil {
			f.then(nil, false, err)
			return
		}
		for _, key := range got[1].Elems[1].Elems {
			f.keys = append(f.keys, keyAt{f.dbs[0], key.Str})
		}
		if cursor = got[1].Elems[0].Str; cursor == "0" {
			f.dbs = f.dbs[1:]
		}
		f.scan(cursor)
	})
}

func (l *labState) logUnwatch(c *pair, d *due, args [][]byte) []byte {
	known := false
	for _, u := range l.nodes() {
		known = u.lab.unwatches(string(args[0])) || known
	}
	if !known {
		l.fail(c, d, "log unwatch", "'%s' is not watched", lab.Printable(string(args[0])))
		return nil
	}
	return l.ok(c, d)
}

// unwatches reports whether a glob was watched, and forgets its keys.
func (l *labState) unwatches(glob string) bool {
	if !l.log.Unwatch(glob) {
		return false
	}
	for _, k := range l.ledger.keys() {
		if !l.log.Watches([]byte(k.key)) {
			l.ledger.learn(k, nil)
		}
	}
	if len(l.log.Newest(1)) > 0 { // else there is no entry that a gap could come after
		l.addAt(l.ledger.now(), lab.Entry{Event: lab.EventUnwatched, Outcome: lab.Executed, Reply: lab.Printable(glob)})
	}
	return true
}

// looksAgain calls then in a turn of its own, when the log has what has happened to the watched keys so far. The error
// says why it has not.
func (l *labState) looksAgain(then func(error)) {
	if !l.isWatching() || l.isDown() {
		then(nil)
		return
	}
	l.turn.does(func(u *underway) {
		keys := l.ledger.keys()
		l.look(keys, func(s *sight, err error) {
			if err == nil {
				l.saw(keys, s)
			}
			then(l.unlooked(err))
			l.turn.over(u)
		})
	})
}

func (l *labState) logReset(c *pair, d *due, _ [][]byte) []byte {
	each(l.nodes(), (*labState).looksAgain, func(error) {
		for _, u := range l.nodes() {
			u.lab.beginsAgain()
		}
		l.ok(c, d)
	})
	return nil
}

// beginsAgain empties the log, and begins it with what the keys are.
func (l *labState) beginsAgain() {
	l.log.Reset()
	e := lab.Entry{Event: lab.EventWatched, Outcome: lab.Executed}
	for _, k := range l.ledger.keys() {
		e.Changes = append(e.Changes, *changeOf(k, nil, l.ledger.known[k], false))
	}
	if len(e.Changes) > 0 && !l.ledger.follows {
		e.Key, e.DB = e.Changes[0].Key, e.Changes[0].DB
		l.addAt(l.ledger.now(), e)
	}
}

func (l *labState) logList(c *pair, d *due, args [][]byte) []byte {
	most := int64(lab.KeepEntries)
	if len(args) == 1 {
		if most = int64(number(args[0])); most < 0 {
			l.fail(c, d, "log", "expects a number, RESET or nothing, not '%s'", lab.Printable(string(args[0])))
			return nil
		}
	}
	l.looksAgain(func(error) {
		l.answer(c, d, func(w *resp.Writer) { labreply.Entries(w, l.log.Newest(int(min(most, lab.KeepEntries)))) })
	})
	return nil
}

func (l *labState) logExport(c *pair, d *due, _ [][]byte) []byte {
	if c.up.sentinel {
		l.fail(c, d, "log export", "a Sentinel has no keys: ask the port of a node")
		return nil
	}
	l.looksAgain(func(err error) {
		if err != nil {
			l.fail(c, d, "log export", "%v", err)
			return
		}
		l.answer(c, d, func(w *resp.Writer) { w.Bulk(l.export().JSON()) })
	})
	return nil
}

// export returns the log of this upstream, as that of one of several masters.
func (l *labState) export() lab.History {
	all, at := l.p.histories(l)
	return all[at]
}

// verdict judges the logs of all upstreams, once each of them has what has happened so far.
func (l *labState) verdict(c *pair, d *due, args [][]byte) []byte {
	c.asking = true
	words := make([][]byte, len(args)) // the bytes of a request do not stay
	for i, arg := range args {
		words[i] = slices.Clone(arg)
	}
	each(l.p.everyone(), (*labState).looksAgain, func(err error) { l.judges(c, d, words, err) })
	return nil
}

func (l *labState) judges(c *pair, d *due, args [][]byte, err error) {
	if err != nil {
		c.asking = false
		c.requests.later()
		l.fail(c, d, "verdict", "%v", err)
		return
	}
	logs, _ := l.p.histories(nil)
	w := c.writer()
	go func() { // a search for a legal order may take a second
		err := l.judge(w, args, logs)
		l.p.loop.Post(func() {
			c.asking = false
			c.requests.later()
			if err != nil {
				l.fail(c, d, "verdict", "%v", err)
				return
			}
			l.answer(c, d, func(to *resp.Writer) { to.Raw(w.Buf) })
		})
	}()
}
