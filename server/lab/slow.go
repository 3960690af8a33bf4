package lab

import (
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/server"
)

// Replies that come late, slowly or in pieces. Each of them is in the client's output already. A barrier of the
// connection (ioworkers.Conn.Bar) keeps it back, and all that is behind it. Timers move the barrier:
//
//	output   + O K \r \n $ 1 0 0 \r \n x x x x x x x x x ...
//	                            barrier ^ ──> the next piece
//
// Only the oldest kept reply moves. The next one has its delay meanwhile, and its pieces come behind.

// slowDown keeps back the output of c between two offsets, and sends it at a pace.
func (l *State) slowDown(c *server.Client, from, to int, pace lab.Pace) {
	f, reply := Of(c).Fault, &keptBack{from: from, to: to, pace: pace}
	f.kept = append(f.kept, reply)
	keepBack(c, 0)
	if len(f.kept) == 1 {
		c.Bar(from)
	}
	reply.timer = l.After(pace.Start, func() {
		reply.due = true
		l.sendKept(c)
	})
}

// sendKept moves the barrier to the oldest reply that waits, or takes it away.
func (l *State) sendKept(c *server.Client) {
	f := Of(c).Fault
	for len(f.kept) > 0 && f.kept[0].due && !l.sendsPieces(c, f.kept[0]) {
		f.kept[0] = nil
		f.kept = f.kept[1:]
		letGo(c, 0)
	}
	if len(f.kept) > 0 {
		c.Bar(f.kept[0].from)
	} else {
		c.Unbar()
	}
	l.WantWrite(c)
}

// sendsPieces starts the time until the next piece of a reply goes. It reports whether the reply has one left.
func (l *State) sendsPieces(c *server.Client, reply *keptBack) bool {
	left := reply.to - reply.from
	if left == 0 || reply.pace.IsWhole() {
		return false
	}
	now := l.Ex.Clock.Timeline(l.Ex.Now.Mono)
	if reply.began == 0 {
		reply.began = now
	}
	reply.due = false
	wait := reply.pace.After(reply.pieces) - time.Duration(now-reply.began)
	reply.timer = l.After(max(wait, 0), func() {
		reply.pieces++
		reply.from += min(left, reply.pace.Piece())
		reply.due = true
		l.sendKept(c)
	})
	return true
}
