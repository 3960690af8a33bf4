package proxy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// LAB CLOCK ADVANCE moves the deadlines of the keys, because the clock of the upstream is not the proxy's. The lab's
// time is ahead of the upstream's by as much, so that a deadline is the same moment before and after the move:
//
//	upstream:   now ──────── deadline       ADVANCE 300      now ── deadline - 300
//	lab:        now ──────── deadline                        now + 300 ── deadline

// timedScript returns those of some keys that have a deadline.
const timedScript = `
local timed = {}
for _, k in ipairs(KEYS) do
  if redis.call('PEXPIRETIME', k) >= 0 then timed[#timed + 1] = k end
end
return timed`

// moveScript makes the deadlines of keys earlier, and returns the keys whose time is over then. They get a deadline
// that comes at once, and not one in the past: so the upstream says that they have expired.
const moveScript = `
local now, by, due = redis.call('TIME'), tonumber(ARGV[1]), {}
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
for _, k in ipairs(KEYS) do
  local at = redis.call('PEXPIRETIME', k)
  if at >= 0 then
    at = at - by
    if at <= ms then
      at = ms + 1
      due[#due + 1] = k
    end
    redis.call('PEXPIREAT', k, string.format('%.0f', at))
  end
end
return due`

// clockTime shows the clock.
func (l *labState) clockTime(c *pair, d *due, _ [][]byte) []byte {
	l.answer(c, d, func(w *resp.Writer) {
		w.Map(3)
		w.IntField("unix-ms", l.ledger.now())
		w.IntField("frozen", 0)
		w.BulkString("rate")
		w.Double(1)
	})
	return nil
}

func (l *labState) clockAdvance(c *pair, d *due, args [][]byte) []byte {
	ms, isNumber := ascii.ParseInt(args[0])
	if !isNumber || ms < 0 || ms > lab.MaxMillis {
		l.fail(c, d, "clock advance", "milliseconds expects a number from 0 to %d, not '%s'", int64(lab.MaxMillis),
			lab.Printable(string(args[0])))
		return nil
	}
	l.turn.does(func(u *underway) {
		if l.isDown() {
			l.passesDown(ms)
			l.turn.does(func(u *underway) { // after the start, if that is due
				l.answer(c, d, func(w *resp.Writer) { w.Int(0) })
				l.turn.over(u)
			})
			l.turn.over(u)
			return
		}
		m := &move{l: l, by: ms}
		m.begin(func(err error) {
			if err != nil {
				l.fail(c, d, "clock advance", "%v", err)
			} else {
				l.answer(c, d, func(w *resp.Writer) { w.Int(int64(m.expired)) })
			}
			l.turn.over(u)
		})
	})
	return nil
}

// move is a LAB CLOCK ADVANCE.
type move struct {
	l       *labState
	by      int64 // ms
	timed   map[int][]string
	expired int
	then    func(error)
}

// begin counts the keys with a deadline, looks for them, and moves them in one script for each database.
func (m *move) begin(then func(error)) {
	m.then = then
	m.l.learnTable(func(err error) {
		switch {
		case err != nil:
			then(err)
		case m.l.table["pexpiretime"] == nil || m.l.table["eval"] == nil:
			then(errors.New("the upstream has no PEXPIRETIME or no EVAL: Redis has both since 7.0"))
		default:
			// A first question brings the two clocks together, even if nobody watches keys.
			m.l.look([]keyAt{{}}, func(s *sight, err error) {
				if err != nil {
					then(err)
					return
				}
				m.l.ask("INFO", "keyspace")(m.count)
			})
		}
	})
}

// ask asks one thing, and calls then with the reply.
func (l *labState) ask(words ...string) func(then func(v resp.Value, err error)) {
	return func(then func(v resp.Value, err error)) {
		l.askFor(1, resp.AppendRequest(nil, words...), func(got []resp.Value, err error) {
			switch {
			case err != nil:
				then(resp.Value{}, err)
			case got[0].Kind == '-':
				then(resp.Value{}, fmt.Errorf("the upstream has refused %s: %s", words[0], got[0].Str))
			default:
				then(got[0], nil)
			}
		})
	}
}

// count refuses to move more keys than allowed.
func (m *move) count(v resp.Value, err error) {
	if err != nil {
		m.then(err)
		return
	}
	timed := 0
	f := &finder{l: m.l, pattern: "*", most: m.l.p.cfg.ClockKeys * 100}
	for line := range strings.Lines(v.Str) {
		var db, keys, expires int
		if _, err := fmt.Sscanf(line, "db%d:keys=%d,expires=%d", &db, &keys, &expires); err == nil && expires > 0 {
			f.dbs = append(f.dbs, db)
			timed += expires
		}
	}
	if timed > m.l.p.cfg.ClockKeys {
		m.then(fmt.Errorf("%d keys have a deadline, and --clock-keys allows to move %d", timed, m.l.p.cfg.ClockKeys))
		return
	}
	f.then = func(keys []keyAt, complete bool, err error) {
		if err == nil && !complete {
			err = errors.New("the upstream has too many keys to find those that have a deadline")
		}
		if err != nil {
			m.then(err)
			return
		}
		m.timed = map[int][]string{}
		m.filter(keys)
	}
	f.scan("0")
}

// atOnce is how many keys a script looks at.
const atOnce = 1000

// filter keeps the keys that have a deadline.
func (m *move) filter(keys []keyAt) {
	if len(keys) == 0 {
		m.moves()
		return
	}
	db, n := keys[0].db, 0
	for n < len(keys) && n < atOnce && keys[n].db == db {
		n++
	}
	m.run(db, timedScript, keysOf(keys[:n]), func(timed []string) {
		m.timed[db] = append(m.timed[db], timed...)
		m.filter(keys[n:])
	})
}

func keysOf(keys []keyAt) (names []string) {
	for _, k := range keys {
		names = append(names, k.key)
	}
	return names
}

// run runs a script over keys of a database, which returns some of them.
func (m *move) run(db int, script string, keys []string, then func(some []string)) {
	words := append([]string{"EVAL", script, strconv.Itoa(len(keys))}, keys...)
	requests := resp.AppendRequest(nil, "SELECT", strconv.Itoa(db))
	requests = resp.AppendRequest(requests, append(words, strconv.FormatInt(m.by, 10))...)
	m.l.askFor(2, requests, func(got []resp.Value, err error) {
		if err == nil && got[1].Kind == '-' {
			err = errors.New("the upstream has refused a script: " + got[1].Str)
		}
		if err != nil {
			m.then(err)
			return
		}
		var some []string
		for _, e := range got[1].Elems {
			some = append(some, e.Str)
		}
		then(some)
	})
}

// moves moves the keys of one database after another, and then the clock of the lab.
func (m *move) moves() {
	for db, keys := range m.timed {
		delete(m.timed, db)
		if len(keys) == 0 {
			continue
		}
		m.run(db, moveScript, keys, func(due []string) {
			m.expired += len(due)
			m.moves()
		})
		return
	}
	g := &m.l.ledger
	from := g.now()
	g.ahead += m.by
	m.l.addAt(from, lab.Entry{Event: lab.EventClock, From: from, To: from + m.by, Outcome: lab.Executed,
		Reply: fmt.Sprintf("%d -> %d", from, from+m.by)})
	m.l.p.loop.After(dueAfter, func() time.Duration {
		m.l.look(g.keys(), func(s *sight, err error) {
			if err == nil && m.l.isWatching() {
				m.l.saw(g.keys(), s)
			}
			m.then(err)
		})
		return 0
	})
}

// dueAfter is when the keys are gone that are due at once.
const dueAfter = 5 * time.Millisecond
