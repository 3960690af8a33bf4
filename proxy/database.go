package proxy

import (
	"bufio"
	"bytes"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// Which database a client has. The upstream may refuse SELECT, so only the reply says for sure:
//
//	SELECT 3 ──> db is 3          the next requests of a pipeline mean it
//	   │<── OK        sure is 3
//	   └<── an error  db is sure again, unless a newer request has chosen another one

// database is what is known of it.
type database struct {
	db, sure int
	chosen   int64 // the number of the newest request that has changed db

	outer    int      // db before MULTI
	commands int      // that MULTI has queued
	inMulti  []choice // by SELECT among them
}

// choice is a SELECT that MULTI has queued: its place there, and the database.
type choice struct{ at, db int }

// dbOf returns the database in which a request is executed: EXEC and its like are where MULTI was. args is nil for one
// that is too large to be read.
func (s *session) dbOf(args [][]byte) int {
	if s.multi && len(args) > 0 && !s.queues(args) {
		return s.outer
	}
	return s.db
}

// selects takes note of SELECT. It returns what the reply will say, nil if MULTI queues the request.
func (s *session) selects(args [][]byte) func(reply []byte) {
	if len(args) != 2 {
		return nil
	}
	n, isNumber := ascii.ParseInt(args[1])
	if !isNumber || n < 0 {
		return nil
	}
	to := int(n)
	s.db, s.chosen = to, s.asked
	if s.multi {
		s.inMulti = append(s.inMulti, choice{s.commands - 1, to})
		return nil
	}
	return s.settles(s.asked, func(reply []byte) {
		if reply[0] == '+' {
			s.sure = to
		}
	})
}

// settles returns what a reply says of the database: hears notes it, and the client has that one from then on, unless
// a newer request has chosen another one.
func (s *session) settles(number int64, hears func(reply []byte)) func(reply []byte) {
	return func(reply []byte) {
		if hears(reply); s.chosen == number {
			s.db = s.sure
		}
	}
}

// beginsMulti takes note of MULTI. It returns what the reply will say, nil behind another MULTI.
func (s *session) beginsMulti() func(reply []byte) {
	if s.multi {
		return nil
	}
	s.multi, s.outer, s.commands, s.inMulti = true, s.db, 0, nil
	return func(reply []byte) {
		if reply[0] == '-' {
			s.endsMulti()
		}
	}
}

// executes takes note of EXEC. It returns what the reply will say, nil without a SELECT behind MULTI.
func (s *session) executes() func(reply []byte) {
	choices := s.inMulti
	s.endsMulti()
	if len(choices) == 0 {
		return nil
	}
	s.chosen = s.asked
	return s.settles(s.asked, func(reply []byte) {
		v, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(reply)))
		for _, c := range choices {
			// A reply that is too large to be read is that of an EXEC which has done something.
			if err != nil || c.at < len(v.Elems) && v.Elems[c.at].Kind == '+' {
				s.sure = c.db
			}
		}
	})
}

// discards takes note of DISCARD.
func (s *session) discards() {
	if s.multi {
		s.db, s.chosen = s.outer, s.asked
		s.endsMulti()
	}
}

func (s *session) endsMulti() { s.multi, s.queued, s.inside, s.inMulti = false, nil, nil, nil }

// tracks is track for a request that a rule may have struck. One that the upstream does not get changes nothing.
func (c *pair) tracks(args [][]byte, r *lab.Rule) (hears func(reply []byte)) {
	if !executes(r) {
		c.asked++
		return nil
	}
	raw, hears := c.track(args)
	c.raw = raw || c.raw
	return hears
}

// discardsInstead sends DISCARD instead of an EXEC that gets an error: after an error nothing is queued at any server.
func (c *pair) discardsInstead(d *due) []byte {
	w := c.writer()
	w.Error(d.rule.Text)
	d.entry.Outcome, d.entry.Reply, d.entry.Kind = lab.NotExecuted, lab.Reply(w.Buf), lab.Kind(w.Buf)
	c.up.lab.log.Add(d.entry)
	d.rule, d.learn = nil, func([]byte) []byte { return w.Buf }
	c.discards()
	c.names.asks([][]byte{[]byte("DISCARD")})
	return resp.AppendRequest(nil, "DISCARD")
}

// expects keeps a place for the reply to the newest request, if that says something of the client.
func (c *pair) expects(hears func(reply []byte)) {
	if hears != nil && !c.unpaired {
		c.due = append(c.due, &due{number: c.asked, hears: hears})
	}
}
