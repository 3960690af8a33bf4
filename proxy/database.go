package proxy

import (
	"bufio"
	"bytes"

	"github.com/miniredisd/miniredisd/internal/ascii"
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

// beginsMulti takes note of MULTI.
func (s *session) beginsMulti() {
	if !s.multi {
		s.multi, s.outer, s.commands, s.inMulti = true, s.db, 0, nil
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

// refused is for a request that the upstream does not get.
func (d *due) refused() {
	if d.hears != nil {
		d.hears([]byte("-"))
	}
}

// expects keeps a place for the reply to the newest request, if that says something of the client.
func (c *pair) expects(hears func(reply []byte)) {
	if hears != nil && !c.unpaired {
		c.due = append(c.due, &due{number: c.asked, hears: hears})
	}
}
