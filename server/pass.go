package server

import (
	"runtime/debug"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/store"
)

// afterSleep begins a pass. Everything in a pass happens at one time.
func (s *Server) afterSleep() {
	s.stats.Passes++
	s.now = s.Ex.Tick()
	s.before = s.Ex.Stats.Commands
	s.trace.Span(trace.Sleep, s.asleep, s.now, 0)
	if s.trace.Traces() {
		s.recorder.slept()
	}
}

// readHandler puts a readable client on a list. The pass reads the whole list at once. Redis does
// this only for its I/O threads (networking.c: readQueryFromClient, postponeClientRead).
func (s *Server) readHandler(c *client) {
	if !c.pendingRead && !c.closed && !c.protected {
		c.pendingRead = true
		s.pendingReads = append(s.pendingReads, c)
	}
}

// beforeSleep is the plan of a pass (server.c: beforeSleep). It returns how long the loop may sleep.
func (s *Server) beforeSleep() time.Duration {
	s.gather()
	s.read(s.pendingReads)
	s.Hooks.execute()
	s.Ex.Tracking.Broadcast()
	if !s.Parts.mayReply() {
		return 0 // nobody may hear of what is not on disk
	}
	s.write()
	s.clients.evict()
	s.freeClosed()
	s.Inbox.answer()
	s.countPass()
	return s.sleep()
}

// executePhase is the part of a pass in which commands run, and everything else that changes the data.
func (s *Server) executePhase() {
	s.beginExecution()
	s.Hooks.runTimers()
	s.executeInternal()
	s.Hooks.executeReads()
	s.expire()
	s.serveReady() // clients that waited for a stream to expire
	s.executeResumed()
	s.runDeferred()
	s.evictMore()
	if !s.Ex.Cut { // half a transaction is nothing to save
		each(s.Parts.advance)
	}
	s.endExecution()
}

func (s *Server) beginExecution() { s.executing = s.Ex.Tick() }

func (s *Server) endExecution() { s.stats.Executing += s.Ex.Now.Mono - s.executing }

// runDeferred calls the functions that commands of this pass left for the time when all commands
// are executed. These functions may add others. They may load keys that clients wait for. If a unit was cut, only LAB
// CRASH makes the keys whole again.
func (s *Server) runDeferred() {
	if len(s.deferred) == 0 {
		return
	}
	defer s.serveReady()
	for len(s.deferred) > 0 && !(s.Ex.Cut && s.Loop.Stopped()) {
		fn := s.deferred[0]
		s.deferred = s.deferred[1:]
		fn()
	}
}

// freeClosed frees the clients that this pass closed (networking.c: freeClientsInAsyncFreeQueue).
func (s *Server) freeClosed() {
	for _, c := range s.closing {
		s.free(c)
	}
	clear(s.closing)
	s.closing = s.closing[:0]
}

// read reads from all of these clients and parses what arrived (networking.c:
// handleClientsWithPendingReadsUsingThreads). I/O threads may do that; read waits for the last of them.
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
	if s.clients.limitsMemory {
		for _, c := range from {
			s.grown(c)
		}
	}
	s.trace.Span(trace.Reading, begin, s.trace.Mark(), len(s.conns))
}

// executeReadable executes the commands of the clients that were read (networking.c:
// processPendingCommandAndInputBuffer). A script may execute the rest of them while it runs (busy.go); then
// nothing is left to do here.
func (s *Server) executeReadable() {
	for s.nextRead < len(s.pendingReads) {
		for end := s.prefetch(s.nextRead); s.nextRead < min(end, len(s.pendingReads)); {
			c := s.pendingReads[s.nextRead]
			s.nextRead++
			c.pendingRead = false
			s.executeClient(c)
		}
	}
	clear(s.pendingReads)
	s.pendingReads, s.nextRead = s.pendingReads[:0], 0
}

// executeResumed executes the commands of clients whose wait is over (blocked.c: processUnblockedClients). A
// command may end the wait of further clients. As in executeReadable, a script may leave nothing to do here.
func (s *Server) executeResumed() {
	for s.nextResumed < len(s.resumed) {
		c := s.resumed[s.nextResumed]
		s.nextResumed++
		s.Hooks.goOn(c)
	}
	clear(s.resumed)
	s.resumed, s.nextResumed = s.resumed[:0], 0
}

// prefetch loads the keys of the next requests into the processor's cache. It stops after some
// clients and returns the place of the first client that it left out.
func (s *Server) prefetch(from int) (end int) {
	var room [store.PrefetchMax][][]byte
	requests, db := room[:0], s.pendingReads[from].sess.DB
	for end = from; end < len(s.pendingReads) && len(requests) < cap(requests); end++ {
		c := s.pendingReads[end]
		if c.sess.DB != db {
			break
		}
		requests = c.AppendRequests(requests)
	}
	s.Ex.Prefetch(db, requests)
	return end
}

// executeClient executes what c has sent, in order (networking.c: processInputBuffer, beforeNextClient).
// Replies go to the end of its output.
func (s *Server) executeClient(c *client) {
	s.clients.evict()
	if c.closed || s.Loop.Stopped() || s.Ex.Cut { // another connection may have its descriptor, or SHUTDOWN has saved
		s.pool.Reclaim(&c.Conn)
		return
	}
	if c.stopped() { // a client can be in resumed twice: the first turn may have stopped it
		return
	}
	s.pool.LendOutput(&c.Conn)
	s.countTraffic(c)
	s.running = c
	c.active = s.now
	given := s.giveLarge(c)
	s.executeRequests(c)
	s.leaveLarge(c, given)
	s.running = nil
	c.Answered = lastAnswered(c)
	s.finishRead(c)
	s.wantWrite(c)
	s.pool.Reclaim(&c.Conn)
	s.grown(c)
}

// lastAnswered returns the number of c's last request that has its reply.
func lastAnswered(c *client) int64 {
	if c.sess.Hold == command.Blocked {
		return c.sess.Commands - 1
	}
	return c.sess.Commands
}

// executeRequests executes every complete request of c (networking.c: processInputBuffer). It stops early if c
// is closed or has to wait.
func (s *Server) executeRequests(c *client) {
	defer s.recoverCommand(c)
	for !c.closed && !c.stopped() && !c.sess.CloseAfterReply {
		args := c.Next()
		if args == nil && c.Parser.Limits.Unauthenticated {
			// The parser stopped where an AUTH among these commands may have lifted its limits.
			c.Parser.Limits.Unauthenticated = s.Ex.MustAuthenticate(&c.sess)
			s.trace.Mark()
			c.Parse(s.trace)
			args = c.Next()
		}
		if args == nil {
			return
		}
		if do := s.Hooks.do; do != nil {
			do(&c.sess, args, &c.Out)
		} else {
			s.Ex.Do(&c.sess, args, &c.Out)
		}
		if c.sess.CloseAfterReply {
			return
		}
		if c.sess.Hold != command.NotHeld {
			s.hold(c)
			return
		}
		if c.outputMem() > s.Ex.OutputTrigger && s.clients.overOutputLimit(c) {
			c.DropOutput()
		}
		if s.clients.limitsMemory {
			s.grown(c)
			s.clients.evict()
		}
	}
}

// recoverCommand turns a panic of a command into the end of its client. A panic is a bug: the log
// gets its stack. Other clients go on. c is the client that was being executed, nil for none.
func (s *Server) recoverCommand(c *client) {
	r := recover()
	if r == nil {
		return
	}
	culprit := c
	if sess := s.Ex.Abandon(); sess != nil { // maybe a client that c has unblocked
		culprit = s.clients.of(sess)
	}
	id := int64(0)
	if culprit != nil {
		id = culprit.sess.ID
		s.close(culprit)
	}
	s.Log('#', "Panic while executing a command of client id=%d, which is closed: %v\n%s", id, r, debug.Stack())
	if c != nil {
		s.close(c)
	}
}

// finishRead handles the end of c's input, if it has come (networking.c: readQueryFromClient,
// setProtocolError): a closed connection, a protocol error, or a command that closes the client.
func (s *Server) finishRead(c *client) {
	switch {
	case c.closed:
	case c.stopped():
		return
	case c.sess.Attack:
		s.logAttack()
		s.close(c)
	case c.sess.CloseAfterReply:
	case c.Wrong != "":
		c.Out.Error("ERR " + c.Wrong.Error())
		c.sess.CloseAfterReply = true
		s.Log('-', "Protocol error (%s) from client %s", c.Wrong, s.clients.describe(c))
	case c.ReadErr != 0:
		s.Log('-', "Reading from client: %v", c.ReadErr)
		s.leave(c)
	case c.EOF:
		s.hungUp(c)
	default:
		s.overQueryLimit(c)
		return
	}
	s.watchInput(c)
}

// logAttack logs, at most once a minute, that a browser was made to send HTTP to this server (networking.c:
// securityWarningCommand).
func (s *Server) logAttack() {
	if s.attack != 0 && s.now-s.attack < int64(time.Minute) {
		return
	}
	s.attack = s.now
	s.Log('#', "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. "+
		"This is likely due to an attacker attempting to use Cross Protocol Scripting to compromise your "+
		"Redis instance. Connection aborted.")
}

// expire deletes the keys that are due when the last command of the pass has ended (expire.c:
// activeExpireCycle). CLIENT PAUSE for writes keeps them.
func (s *Server) expire() {
	expired := s.KS.Stats.Expired
	switch {
	case !s.expires():
	case s.Cfg.LatencyMonitorThreshold == 0:
		expireDue(s.KS, s.Ex.Clock.Mono)
	default:
		begin := s.Ex.Clock.Mono()
		expireDue(s.KS, s.Ex.Clock.Mono)
		s.Ex.Latency.Note("expire-cycle", s.Ex.Clock.Mono()-begin)
	}
	if n := s.KS.Stats.Expired - expired; n > 0 && s.trace.Traces() {
		begin := s.Ex.Now.Mono
		s.trace.Span(trace.Expire, begin, s.Ex.Tick(), int(n))
	}
	if s.trace.Detailed() {
		each(s.Parts.expired)
	}
}

// expireTime is how long a pass deletes keys, if many are due. Then clients are served, and the next pass goes on at
// once. Redis may take 25 ms ten times a second (expire.c: ACTIVE_EXPIRE_CYCLE_SLOW_TIME_PERC). A key may cost more
// than its deletion, because replicas, files and other clients hear of it: so the time bounds the cycle.
const expireTime = time.Millisecond

// expireDue looks at the clock only if more is due than one step deletes.
func expireDue(ks *store.Keyspace, mono func() int64) {
	if ks.ExpireDue() {
		return
	}
	for end := mono() + int64(expireTime); !ks.ExpireDue() && mono() < end; {
	}
}

func (s *Server) expires() bool {
	return !s.debugging.noExpire && !s.KS.KeepDue
}

// sleep returns the time until a key expires or a timer is due; negative if neither will happen (ae.c:
// usUntilEarliestTimer). It is 0 if this pass has left something to the next one: what comes after executeResumed may
// end the wait of clients that have sent more, and what comes after write may have something to say.
func (s *Server) sleep() time.Duration {
	if len(s.resumed) > 0 || len(s.pendingWrites) > 0 {
		return 0
	}
	if s.evicting {
		return 0
	}
	left := time.Duration(-1)
	if at, ok := s.nextDeadline(); ok {
		left = s.Ex.Clock.Until(s.asleep, at)
	}
	return s.Parts.limitSleep(left)
}

// nextDeadline returns, by Clock.Timeline, when the next timer or key is due.
func (s *Server) nextDeadline() (at int64, ok bool) {
	at, ok = s.timers.Next()
	if !s.expires() {
		return at, ok
	}
	if due, expires := s.Ex.Clock.OnTimeline(s.KS.NextDeadline()); expires && (!ok || due < at) {
		return due, true
	}
	return at, ok
}
