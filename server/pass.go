package server

import (
	"runtime/debug"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// afterSleep begins a pass: everything in it happens at one time.
func (s *Server) afterSleep() {
	s.stats.Passes++
	s.now = s.ex.BeginPass()
	s.before = s.ex.Stats.Commands
	s.trace.Span(trace.Sleep, s.asleep, s.now, 0)
}

// readHandler notes who has sent something: to be read when all such are known. Redis
// does so for its I/O threads alone (networking.c: readQueryFromClient, postponeClientRead).
func (s *Server) readHandler(c *client) {
	if !c.pendingRead && !c.closed && c != s.aside.c {
		c.pendingRead = true
		s.pendingReads = append(s.pendingReads, c)
	}
}

// beforeSleep is where the work of a pass is done (server.c: beforeSleep). It
// returns how long the loop may sleep.
func (s *Server) beforeSleep() time.Duration {
	s.gather()
	s.read(s.pendingReads)
	executing := s.ex.BeginExecution()
	if s.lab != nil {
		s.catchUp()
	}
	s.executePosted()
	s.executeReads()
	s.expire()
	s.serveReady() // who waited for a stream that has expired
	s.executeResumed()
	if s.lab != nil {
		s.advance()
	}
	s.evictMore()
	s.stats.Executing += s.ex.LastEnd() - executing
	s.ex.Broadcast()
	if s.lab != nil && s.lab.crash != nil {
		s.crash()
	}
	s.write()
	s.evictClients()
	s.freeClosed()
	s.answerVisits()
	s.asleep = s.ex.Clock.Mono()
	s.countPass()
	if s.evicting {
		return 0
	}
	return s.sleep()
}

// freeClosed is networking.c: freeClientsInAsyncFreeQueue.
func (s *Server) freeClosed() {
	for _, c := range s.closing {
		s.free(c)
	}
	clear(s.closing)
	s.closing = s.closing[:0]
}

// read fans the readable connections out and waits for all of them.
func (s *Server) read(from []*client) {
	if len(from) == 0 {
		return
	}
	if s.dozing {
		s.rouse()
	}
	begin := s.trace.Mark()
	s.conns = s.conns[:0]
	for _, c := range from {
		s.pool.Lend(&c.Conn)
		s.conns = append(s.conns, &c.Conn)
	}
	s.stats.Reads += int64(len(s.conns))
	if s.pool.Read(s.conns) {
		s.stats.ThreadedReads += int64(len(s.conns))
	}
	if s.limitsMemory {
		for _, c := range from {
			s.grown(c)
		}
	}
	s.trace.Span(trace.Reading, begin, s.trace.Mark(), len(s.conns))
}

// executeReads executes what was read. In the middle of it a script may have the rest
// executed by letOthers: then there is nothing left to do.
func (s *Server) executeReads() {
	for s.nextRead < len(s.pendingReads) {
		for end := s.prefetch(s.nextRead); s.nextRead < min(end, len(s.pendingReads)); {
			c := s.pendingReads[s.nextRead]
			s.nextRead++
			c.pendingRead = false
			s.execute(c)
		}
	}
	clear(s.pendingReads)
	s.pendingReads, s.nextRead = s.pendingReads[:0], 0
}

// executeResumed executes those who go on after a wait. One may let another go, and a script
// among what they execute may have the rest executed by letOthers, as in executeReads.
func (s *Server) executeResumed() {
	for s.nextResumed < len(s.resumed) {
		c := s.resumed[s.nextResumed]
		s.nextResumed++
		s.execute(c)
		if s.lab != nil {
			s.executeBehind(c)
		}
	}
	clear(s.resumed)
	s.resumed, s.nextResumed = s.resumed[:0], 0
}

// prefetch warms the cache for the next commands, of as many clients as it takes,
// and returns how far it got.
func (s *Server) prefetch(from int) (end int) {
	var room [store.PrefetchMax][][]byte
	requests, db := room[:0], s.pendingReads[from].sess.DB
	for end = from; end < len(s.pendingReads) && len(requests) < cap(requests) && s.pendingReads[end].sess.DB == db; end++ {
		requests = s.pendingReads[end].AppendRequests(requests)
	}
	s.ks.DBs[db].Prefetch(requests)
	return end
}

// execute runs every complete command of c, in the order they came in.
func (s *Server) execute(c *client) {
	s.evictClients()
	if c.closed { // its descriptor may be somebody else's already
		s.pool.Reclaim(&c.Conn)
		return
	}
	if c.dark || c.sess.Hold != command.NotHeld { // goes on from here when it is not: it may be in resumed twice
		return
	}
	s.pool.LendOutput(&c.Conn)
	s.countTraffic(c)
	s.w.Buf, s.w.Proto = c.Out, c.sess.Proto
	s.running = c
	c.active = s.now
	if c.fault != nil {
		c.fault.edge = len(c.Out)
	}
	s.executeAll(c)
	s.running = nil
	c.Answered = c.answered()
	if len(s.aside.late) > 0 && s.aside.c == nil {
		s.w.Buf = append(s.w.Buf, s.aside.late...)
		s.aside.late = nil
	}
	c.Out = s.w.Buf
	s.w.Buf = nil
	s.finishRead(c)
	if c.waits() {
		c.Out = c.fault.keepFrom(c.Out)
		s.limitKept(c, c.Unsent())
	}
	s.wantWrite(c)
	s.pool.Reclaim(&c.Conn)
	s.grown(c)
}

// answered is the number of c's last request that has its reply.
func (c *client) answered() int64 {
	if c.sess.Hold == command.Blocked {
		return c.sess.Commands - 1
	}
	return c.sess.Commands
}

func (s *Server) executeAll(c *client) {
	defer s.recoverCommand(c)
	for !c.closed && !c.dark && !c.sess.CloseAfterReply {
		args := c.Next()
		if args == nil && c.Parser.Limits.Unauthenticated {
			// the parser stopped where an AUTH among these commands may have lifted its limits
			c.Parser.Limits.Unauthenticated = s.ex.MustAuthenticate(&c.sess)
			s.trace.Mark()
			c.Parse(s.trace)
			args = c.Next()
		}
		if args == nil {
			return
		}
		if s.lab == nil {
			s.ex.Do(&c.sess, args, &s.w)
		} else {
			s.labDo(c, args)
			if len(s.lab.partitions) > 0 {
				s.shade(c) // it may have another name now
			}
		}
		if c.sess.CloseAfterReply {
			return
		}
		if c.sess.Hold != command.NotHeld {
			s.hold(c)
			return
		}
		if len(s.w.Buf) > s.ex.OutputTrigger && s.overOutputLimit(c, len(s.w.Buf)) {
			s.w.Buf = nil
		}
		if s.limitsMemory {
			s.grown(c)
			s.evictClients()
		}
	}
}

// recoverCommand turns a panic of a command into the end of its client: a bug,
// logged with its stack, but not the end of the other clients. c is who was being
// executed, nil for nobody.
func (s *Server) recoverCommand(c *client) {
	r := recover()
	if r == nil {
		return
	}
	culprit := c
	if sess := s.ex.Abandon(); sess != nil { // maybe one that c has woken
		culprit = s.clientOf(sess)
	}
	id := int64(0)
	if culprit != nil {
		id = culprit.sess.ID
		s.close(culprit)
	}
	s.log('#', "Panic while executing a command of client id=%d, which is closed: %v\n%s", id, r, debug.Stack())
	if c != nil {
		s.close(c)
	}
}

// finishRead deals with the end of what a client has to say.
func (s *Server) finishRead(c *client) {
	switch {
	case c.closed:
	case c.sess.Hold != command.NotHeld || c.dark:
		return
	case c.sess.Attack:
		s.logAttack()
		s.close(c)
	case c.sess.CloseAfterReply:
	case c.Wrong != "":
		w := resp.Writer{Buf: c.Out, Proto: c.sess.Proto}
		w.Error("ERR " + c.Wrong.Error())
		c.Out = w.Buf
		c.sess.CloseAfterReply = true
		s.log('-', "Protocol error (%s) from client %s", c.Wrong, s.describe(c))
	case c.ReadErr != 0:
		s.log('-', "Reading from client: %v", c.ReadErr)
		s.leave(c)
	case c.EOF:
		s.hungUp(c)
	default:
		s.overQueryLimit(c)
		return
	}
	if c.waits() && !c.closed {
		s.watchHangUp(c)
		return
	}
	s.loop.Unwatch(c.FD, reactor.Readable)
}

// logAttack tells of a browser that was made to talk to us, once a minute.
func (s *Server) logAttack() {
	if s.attack != 0 && s.now-s.attack < int64(time.Minute) {
		return
	}
	s.attack = s.now
	s.log('#', "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. This is likely due to an attacker attempting to use Cross Protocol Scripting to compromise your Redis instance. Connection aborted.")
}

// expire deletes what is due by the end of the pass's last command, but nothing
// while writes are paused.
func (s *Server) expire() {
	s.ks.Now = s.ex.WallMicros() / 1000
	expired := s.ks.Stats.Expired
	switch {
	case !s.expires():
	case s.cfg.LatencyMonitorThreshold == 0:
		s.ks.ExpireDue()
	default:
		begin := s.ex.Clock.Mono()
		s.ks.ExpireDue()
		s.ex.NoteLatency("expire-cycle", s.ex.Clock.Mono()-begin)
	}
	if n := s.ks.Stats.Expired - expired; n > 0 && s.trace != nil {
		s.trace.Span(trace.Expire, s.ex.LastEnd(), s.ex.BeginExecution(), int(n))
	}
}

func (s *Server) expires() bool { return !s.noExpire && s.ex.Pause == command.PauseNone }

// sleep is the time until the next key expires; negative when none will.
func (s *Server) sleep() time.Duration {
	if s.lab != nil {
		return s.labSleep()
	}
	at := s.ks.NextDeadline()
	if at < 0 || !s.expires() {
		return -1
	}
	now := s.ex.Clock.Wall(s.ex.Clock.Mono())
	return time.Duration(max(at-now, 0)) * time.Millisecond
}
