package proxy

import (
	"errors"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/proxy/child"
	"github.com/miniredisd/miniredisd/reactor"
)

// LAB CRASH kills the process of an upstream that the proxy has started, and starts it again:
//
//	the turn ── save, with LOSE NOTHING ── kill -9 ── start, PING ── put back, look at the keys ──> over
//	                                          │                                                      │
//	             all clients get a reset, and new ones wait to be accepted <─────────────────────────┘
//
// With DOWN the port is closed meanwhile, and the turn is over after the kill. The process has other goroutines to wait
// for it: package child.

// owned is the process of an upstream. Without --server there is none.
type owned struct {
	child     *child.Child
	snapshots map[string]*saved

	down  bool           // LAB CRASH has killed it, and DOWN is not over
	up    *reactor.Timer // of DOWN
	upAt  time.Time      // when that ends
	crash *crash         // that continues then
}

// crash is a LAB CRASH.
type crash struct {
	l     *labState
	c     *pair // sent it
	d     *due
	down  time.Duration
	lose  string // ALL, NOTHING, or "": the server has what it finds on its disk
	saved *saved // with LOSE NOTHING
}

const crashSyntax = "[DOWN milliseconds] [LOSE ALL|NOTHING]"

func (l *labState) crashCommand(c *pair, d *due, args [][]byte) []byte {
	k := &crash{l: l, c: c, d: d}
	if err := k.parse(args); err != nil {
		l.fail(c, d, "crash", "%v", err)
		return nil
	}
	if l.turn.free && k.lose == "NOTHING" {
		l.fail(c, d, "crash", "LOSE NOTHING needs --order exact: else clients write while the keys are saved")
		return nil
	}
	c.asking = true
	l.turn.does(func(u *underway) {
		switch {
		case l.isDown(): // this crash replaces the one before
			if before := l.endsDown(); k.lose != "ALL" {
				k.saved = before.saved
			}
			k.kills(u)
		case k.lose == "NOTHING":
			l.save(func(s *saved, err error) {
				if k.saved = s; err != nil {
					k.refused(u, err)
					return
				}
				k.kills(u)
			})
		default:
			k.kills(u)
		}
	})
	return nil
}

func (k *crash) parse(args [][]byte) error {
	for ; len(args) > 0; args = args[2:] {
		word := strings.ToUpper(string(args[0]))
		switch {
		case word != "DOWN" && word != "LOSE":
			return errors.New("expects " + crashSyntax + ", not '" + lab.Printable(string(args[0])) + "'")
		case len(args) == 1:
			return errors.New(word + " expects an argument")
		}
		if word == "DOWN" {
			ms, isNumber := ascii.ParseInt(args[1])
			if !isNumber || ms < 0 || ms > lab.MaxMillis {
				return errors.New("DOWN expects a number of milliseconds, not '" + lab.Printable(string(args[1])) + "'")
			}
			k.down = time.Duration(ms) * time.Millisecond
			continue
		}
		if k.lose = strings.ToUpper(string(args[1])); k.lose != "ALL" && k.lose != "NOTHING" {
			return errors.New("LOSE expects ALL or NOTHING, not '" + lab.Printable(string(args[1])) +
				"'; without it the server keeps what it has written to its disk")
		}
	}
	return nil
}

// isDown reports whether LAB CRASH has killed the upstream for a while.
func (l *labState) isDown() bool { return l.own != nil && l.own.down }

func (k *crash) refused(u *underway, err error) {
	k.c.asking = false
	k.c.requests.later()
	k.l.fail(k.c, k.d, "crash", "%v", err)
	k.l.turn.over(u)
}

// kills ends all clients and the process. Without DOWN the turn is over when the server answers again.
func (k *crash) kills(u *underway) {
	l, up := k.l, k.c.up
	asker, d := k.c, k.d
	if k.c.relayed != nil {
		asker, d = k.c.relayed.c, k.c.relayed.d
	}
	for c := range up.pairs {
		if c == asker { // its reply comes over a connection that has lost its server, and ends it
			c.orphan, c.asking = true, true
			d.cuts, d.ends = true, drained
			c.replies.rewatch()
		} else {
			c.end(reset)
		}
	}
	l.asker.end(errSilent)
	l.asker.runID = ""
	clear(l.scripts)
	switch {
	case k.down > 0:
		up.closePort()
	case up.listener >= 0:
		l.p.loop.Unwatch(up.listener, reactor.Readable)
	}
	own := l.own
	go func() {
		own.child.Kill()
		l.p.loop.Post(func() {
			if k.down == 0 {
				k.starts(u)
				return
			}
			own.down, own.crash, own.upAt = true, k, time.Now().Add(k.down)
			own.up = l.p.loop.After(k.down, func() time.Duration {
				l.comesUp()
				return 0
			})
			k.replies(nil)
			l.turn.over(u)
		})
	}()
}

// comesUp starts a server again whose DOWN is over.
func (l *labState) comesUp() {
	k := l.endsDown()
	k.c, k.d = nil, nil // has its reply
	l.turn.does(k.starts)
}

// endsDown ends a DOWN, and returns its crash.
func (l *labState) endsDown() *crash {
	k := l.own.crash
	l.own.down, l.own.crash = false, nil
	l.p.loop.Cancel(l.own.up)
	return k
}

// starts starts the process in a goroutine, because that takes a while.
func (k *crash) starts(u *underway) {
	l := k.l
	go func() {
		err := l.own.child.Start()
		l.p.loop.Post(func() {
			if err != nil {
				l.p.log('#', "LAB CRASH: %v", err)
				k.over(u, err)
				return
			}
			k.puts(func(err error) { k.looks(u, err) })
		})
	}()
}

// puts gives the server the keys that it has to have.
func (k *crash) puts(then func(error)) {
	switch {
	case k.saved != nil:
		k.l.put(k.saved, then)
	case k.lose == "ALL":
		k.l.empty(then)
	default:
		then(nil)
	}
}

// looks logs the crash, with what has become of the watched keys.
func (k *crash) looks(u *underway, err error) {
	if err != nil {
		k.over(u, err)
		return
	}
	keys := k.l.ledger.keys()
	k.l.lookAt(keys, func(s *sight, err error) {
		if err == nil {
			k.l.crashed(keys, s, k.saved != nil)
		}
		k.over(u, err)
	})
}

// over lets clients connect again, and ends the turn.
func (k *crash) over(u *underway, err error) {
	k.l.listens()
	k.replies(err)
	k.l.turn.over(u)
}

// listens opens the port of the upstream again. A black hole stays. If somebody else has the port, the proxy tries
// again.
func (l *labState) listens() {
	if wait := l.reopens(); wait > 0 {
		l.p.log('#', "Port %d is taken after LAB CRASH, and opens when it is free", l.turn.u.port)
		l.p.loop.After(wait, l.reopens)
	}
}

const listenEvery = 100 * time.Millisecond

// reopens opens the port unless the server is down again. It returns how long to wait for the next try, 0 for none.
func (l *labState) reopens() time.Duration {
	u := l.turn.u
	if l.isDown() {
		return 0
	}
	if u.listener < 0 {
		fd, err := u.p.listenOn(u.port)
		if err != nil {
			return listenEvery
		}
		u.listener = fd
	}
	l.setAllMuted(u)
	return 0
}

// replies answers LAB CRASH, and ends its connection after that.
func (k *crash) replies(err error) {
	if k.c == nil {
		return
	}
	k.c.asking = false
	if err != nil {
		k.l.fail(k.c, k.d, "crash", "%v", err)
	} else {
		k.l.ok(k.c, k.d)
	}
}

// crashed logs that another process answers, with what has become of the known keys. kept says that none can be lost.
func (l *labState) crashed(keys []keyAt, s *sight, kept bool) {
	g := &l.ledger
	if g.follows { // a replica writes no log
		clear(g.known)
		g.complete = false
		return
	}
	e := lab.Entry{Event: lab.EventCrash, Outcome: lab.Executed, Reply: lab.KeysOnDisk}
	var differ []keyAt
	left := 0
	for _, k := range keys {
		was, is := g.known[k], s.values[k]
		if over := was.Deadline > 0 && was.Deadline <= s.at; over && is == nil {
			continue // unmade says so
		}
		if is != nil {
			left++
		}
		if changeOf(k, was, is, false) != nil {
			differ = append(differ, k)
		}
	}
	switch {
	case len(differ) == 0 && (kept || left > 0):
		e.Reply = lab.KeysKept
	case left == 0:
		e.Reply = ""
		for _, k := range differ {
			e.Changes = append(e.Changes, *l.loses(k, nil))
		}
	}
	l.addAt(max(s.at, g.now()), e)
	for _, k := range differ {
		if left > 0 {
			l.onDisk(k, s.values[k])
		}
	}
	g.complete = false
	l.unmade(keys, s)
}

// loses notes what a crash has made of a key.
func (l *labState) loses(k keyAt, is *lab.Value) *lab.Change {
	c := changeOf(k, l.ledger.known[k], is, true)
	c.Cause = lab.ByLoss
	l.ledger.learn(k, is)
	return c
}

// onDisk logs a key of which the server has found something else on its disk than it had.
func (l *labState) onDisk(k keyAt, is *lab.Value) {
	why, to := lab.NeverOnDisk, int64(0)
	if is != nil {
		why, to = lab.OlderOnDisk, is.Deadline
	}
	l.addAt(l.ledger.last, lab.Entry{Event: lab.EventDisk, Key: lab.Printable(k.key), DB: k.db, Outcome: lab.Executed,
		Reply: why, To: to, Changes: []lab.Change{*l.loses(k, is)}})
}

// passesDown lets time pass while the server is down.
func (l *labState) passesDown(by int64) {
	g := &l.ledger
	from := g.now()
	g.ahead += by
	l.addAt(from, lab.Entry{Event: lab.EventClock, From: from, To: from + by, Outcome: lab.Executed})
	own := l.own
	own.upAt = own.upAt.Add(-time.Duration(by) * time.Millisecond)
	wait := time.Until(own.upAt)
	if wait <= 0 {
		l.comesUp()
		return
	}
	l.p.loop.Cancel(own.up)
	own.up = l.p.loop.After(wait, func() time.Duration {
		l.comesUp()
		return 0
	})
}
