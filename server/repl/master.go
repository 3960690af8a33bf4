package repl

import (
	"bytes"
	"fmt"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/replication"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
)

// replicas are the clients that follow this server's data (replication.c, the part MASTER).
//
//	executePhase ── Propagation ──> feed ──> stream: blocks of bytes, in memory once
//	BeforeSleep ─── handOver: each replica's output refers to the bytes that it lacks ──> write
//
// What a pass has changed is in the output of the replicas before the replies are. So whoever has a reply knows that
// the change is on its way, as in Redis. Nothing says that it has arrived: WAIT does.
type replicas struct {
	s      *Role
	Stream replication.Stream
	made   string           // the last ID that this server has made for a history
	All    []*server.Client // in the order in which they asked
	sync   *fullSync        // under way, or nil

	Waits    []AckWait // of WAIT
	fsynced  bool      // more is on the disk since the last pass, or nothing more will be
	asksAcks bool      // this pass asks the replicas for their offsets
	good     int       // replicas that lag no more than min-replicas-max-lag

	timer  *reactor.Timer // of everySecond, nil while there is nothing to do
	pinged int64          // ns, by Clock.Timeline
	alone  int64          // ns, by Clock.Timeline: since when there is no replica

	leftFile bool // a file was written for replicas, and nothing else needs it
}

// The requests that only a server sends to its replicas.
const (
	pingRequest   = "*1\r\n$4\r\nPING\r\n"
	getAckRequest = "*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n"
)

// handMost is how many bytes the output of a replica gets at once. A reader that is slow has its place in the stream
// instead of a long output.
const handMost = 256 << 10

func newReplicas(s *Role) replicas {
	r := replicas{s: s}
	r.Stream = replication.New(r.newID())
	return r
}

// Now is the time by which replicas are late, in ns.
func (r *replicas) Now() int64 { return r.s.Ex.Clock.Timeline(r.s.Ex.Now.Mono) }

// begin makes the backlog for the first replica.
func (r *replicas) begin() {
	r.Stream.Begin(r.newID())
	r.listen()
	r.s.Log('*', "Replication backlog created, my new replication IDs are '%s' and '%s'", r.Stream.ID, r.Stream.ID2)
}

// listen makes the stream get what commands change.
func (r *replicas) listen() {
	r.s.Ex.Propagation.Replicate(r.feed)
	r.s.Ex.Propagation.Offset = r.Stream.Offset
	r.pinged = r.Now()
	r.startTimer()
}

// startTimer makes everySecond run, as long as there is a backlog.
func (r *replicas) startTimer() {
	if r.timer == nil {
		r.schedule()
	}
}

// schedule calls everySecond in a second.
func (r *replicas) schedule() { r.timer = r.later(time.Second, r.everySecond) }

// later is after for what begins again each time. The clock of a lab may leap over years, so there d is real time.
func (r *replicas) later(d time.Duration, fn func()) *reactor.Timer {
	if !r.s.Link.RealTime {
		return r.s.After(d, fn)
	}
	return r.s.Loop.After(d, func() time.Duration {
		r.s.Inbox.Posted = append(r.s.Inbox.Posted, fn) // where commands are executed
		return 0
	})
}

// cancelLater is for a timer of later.
func (r *replicas) cancelLater(t *reactor.Timer) {
	if !r.s.Link.RealTime {
		r.s.Timers.Cancel(t)
		return
	}
	r.s.Loop.Cancel(t)
}

// end forgets the backlog, because no replica has come for long.
func (r *replicas) end() {
	r.s.Ex.Propagation.Replicate(nil)
	r.Stream.End(r.newID())
	r.s.Log('*', "Replication backlog freed after %d seconds without connected replicas.", r.s.Cfg.ReplBacklogTTL)
}

// StartAgain makes the state that newReplicas makes, for LAB CRASH. The clients have gone.
func (r *replicas) StartAgain() {
	if r.timer != nil {
		r.cancelLater(r.timer)
	}
	s := r.s
	*r = newReplicas(s)
}

// feed adds bytes to the stream.
func (r *replicas) feed(b []byte) {
	grown := r.Stream.Append(b)
	r.s.Ex.Propagation.Offset = r.Stream.Offset
	if grown {
		r.limit()
		r.trim()
	}
}

// limit closes the replicas whose output is over client-output-buffer-limit (networking.c:
// closeClientOnOutputBufferLimitReached).
func (r *replicas) limit() {
	for _, c := range r.All {
		if c.OutputMem() > r.s.Ex.OutputTrigger {
			r.s.Clients.OverOutputLimit(c)
		}
	}
}

// trim drops what neither the backlog nor a replica needs.
func (r *replicas) trim() {
	keep, unread := r.Stream.Offset+1, true
	for _, c := range r.All {
		switch rep := ReplicaOf(c); {
		case c.Closed:
			unread = false // its output is dropped with it
		case rep.Follows:
			keep = min(keep, rep.Cursor.From()-int64(c.Out.RefLen))
		}
	}
	r.Stream.Trim(keep, unread)
}

// handOver gives each replica what the pass has added for it. All commands of the pass are executed.
func (r *replicas) handOver() {
	r.askOnce()
	if r.asksAcks && !r.s.Ex.Refusals.Has(command.Pauses) {
		r.asksAcks = false
		r.askNow()
	}
	if r.s.Trace.Detailed() {
		r.s.Link.Replicated()
	}
	if len(r.All) == 0 {
		return
	}
	r.s.Link.PassEnds()
	r.passOn()
	for _, c := range r.All {
		if !c.Closed {
			r.handTo(c)
		}
	}
}

// GetsStream reports whether a replica gets what is new in the stream.
func GetsStream(c *server.Client) bool {
	return !c.Closed && ReplicaOf(c).State == Online && !ReplicaOf(c).onAck
}

func (r *replicas) handTo(c *server.Client) {
	rep := ReplicaOf(c)
	if len(c.Out.Buf) > 0 { // a replica gets no replies, so it must not send what has one
		if line, _, _ := bytes.Cut(c.Out.Buf, []byte("\r\n")); line[0] == '-' {
			r.s.Log('#', "== CRITICAL == This master is sending an error to its replica: '%s' after processing the command "+
				"'%s'", line[1:], c.Sess.Last.Name)
		}
		r.s.Log('#', "Replica generated a reply to command '%s', disconnecting it: %s", c.Sess.Last.Name,
			r.s.Clients.Describe(c))
		c.Out.Buf = c.Out.Buf[:0]
		r.s.CloseClient(c)
		return
	}
	switch {
	case rep.State == getsFile:
		r.handFile(c)
	case GetsStream(c):
		rep.more = false
		for b := r.next(c); b != nil; b = r.next(c) {
			r.refer(c, trace.FedStream, b)
		}
	}
	r.s.WantWrite(c)
}

// next returns the bytes of the stream that follow for c, nil if it has enough to write.
func (r *replicas) next(c *server.Client) []byte {
	rep, last := ReplicaOf(c), r.s.Link.StreamEnd(c)
	if c.Out.RefLen >= handMost {
		rep.more = rep.Cursor.From() <= min(r.Stream.Offset, last)
		return nil
	}
	return rep.Cursor.Next(last)
}

// refer adds bytes to the output of c. They are not copied, so nobody may change them. what is one of trace.FedStream
// and its like.
func (r *replicas) refer(c *server.Client, what int64, b []byte) {
	r.s.Pool.LendOutput(&c.Conn)
	if c.Out.Buf == nil {
		c.Out.Buf = []byte{} // nobody lends it a buffer, with other references, while it has these
	}
	c.Out.Refer(b)
	if r.s.Trace.Detailed() {
		r.s.Link.Fed(c, what, b)
	}
}

// tell sends a line that is no part of the stream.
func (r *replicas) tell(c *server.Client, format string, args ...any) {
	r.refer(c, trace.FedAnswer, fmt.Appendf(nil, format, args...))
	r.s.WantWrite(c)
}

// longestSleep lets the loop sleep, unless a replica has room for more that waits for it.
func (r *replicas) longestSleep() time.Duration {
	for _, c := range r.All {
		if ReplicaOf(c).more && !c.Full && !c.Closed && !c.Muted && !c.Withheld {
			return 0
		}
	}
	return -1
}

// everySecond does what is due without a request (replication.c: replicationCron).
func (r *replicas) everySecond() {
	r.timer = nil
	if r.Look(); r.Stream.Active {
		r.schedule()
	}
}

// Look does what the time demands.
func (r *replicas) Look() {
	if !r.Stream.Active {
		return
	}
	r.s.Link.Heard()
	if r.pings() && len(r.All) > 0 && r.Now()-r.pinged >= int64(r.s.Cfg.ReplPingPeriod)*1e9 {
		r.pinged = r.Now()
		r.feed([]byte(pingRequest))
	}
	for _, c := range r.All {
		switch {
		case c.Closed:
		case c.Withheld:
			r.hearten(c)
		case r.isTimedOut(c):
			r.s.CloseClient(c)
		case ReplicaOf(c).State == waitsForStart || ReplicaOf(c).State == waitsForEnd && !r.sync.isStreamed():
			r.tell(c, "\n") // the replica sees that its master is there
		}
	}
	if ttl := int64(r.s.Cfg.ReplBacklogTTL) * 1e9; r.isTop() && len(r.All) == 0 && ttl > 0 && r.Now()-r.alone > ttl {
		r.end()
		return
	}
	r.startWaiting()
	r.removeFile()
	r.countGood()
}

// hearten tells a replica that its master is there, while its keys are late: real time may end its patience before.
func (r *replicas) hearten(c *server.Client) {
	if c.Muted || c.Protected {
		return
	}
	c.Interject("\n")
	r.s.CountTraffic(c)
	if c.Lost {
		r.s.CloseClient(c)
	}
}

// isTimedOut reports whether a replica has been silent for longer than repl-timeout, or takes no byte of its keys.
func (r *replicas) isTimedOut(c *server.Client) bool {
	rep, timeout := ReplicaOf(c), int64(r.s.Cfg.ReplTimeout)*1e9
	switch {
	case rep.State == Online && !rep.old && r.Now()-rep.Heard > timeout:
		r.s.Log('#', "Disconnecting timedout replica (streaming sync): %s", r.name(c))
		return true
	case rep.State == waitsForEnd && r.sync.isStreamed():
		if got := c.CountedNetOut + c.NetOut; got != rep.got || c.Unsent() == 0 {
			rep.got, rep.Heard = got, r.Now()
		}
		if r.Now()-rep.Heard > timeout {
			r.s.Log('#', "Disconnecting timedout replica (full sync): %s", r.name(c))
			return true
		}
	}
	return false
}

// countGood counts the replicas that min-replicas-to-write counts (replication.c: refreshGoodSlavesCount).
func (r *replicas) countGood() {
	r.good = 0
	for _, c := range r.All {
		if !c.Closed && ReplicaOf(c).State == Online && r.lag(c) <= int64(r.s.Cfg.MinReplicasMaxLag) {
			r.good++
		}
	}
	r.s.Ex.Refusals.Set(command.LacksReplicas,
		r.isTop() && r.s.Cfg.MinReplicas > 0 && r.s.Cfg.MinReplicasMaxLag > 0 && r.good < r.s.Cfg.MinReplicas)
}

// lag is how many seconds ago a replica has told its offset.
func (r *replicas) lag(c *server.Client) int64 { return (r.Now() - ReplicaOf(c).Heard) / 1e9 }

// Configured follows the configuration.
func (r *replicas) Configured() {
	r.Stream.Size = max(r.s.Cfg.ReplBacklogSize, smallestBacklog)
	r.trim()
	r.countGood()
}

// smallestBacklog is in bytes (server.h: CONFIG_REPL_BACKLOG_MIN_SIZE).
const smallestBacklog = 16 << 10

// left forgets a replica whose connection has ended.
func (r *replicas) left(c *server.Client) {
	rep := ReplicaOf(c)
	if rep == nil || rep.State == noReplica {
		return
	}
	r.s.Log('*', "Connection with replica %s lost.", r.name(c))
	r.forget(c)
	r.trim() // it may have been the slowest
}

// flush writes as much as the sockets take, when the server ends (replication.c: flushSlavesOutputBuffers).
func (r *replicas) flush() {
	r.handOver()
	for _, c := range r.All {
		for GetsStream(c) && c.Unsent() > 0 && !c.Lost {
			before := c.Unsent()
			c.Write(r.s.Trace)
			if c.Unsent() == before {
				break
			}
			r.handTo(c)
		}
	}
}
