package server

import (
	"runtime/debug"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/store"
)

// AfterSleep begins a pass as INFO counts them. beginExecution reads the clock again.
func (s *Server) AfterSleep() {
	s.Stats.Passes++
	s.Now = s.Ex.Tick()
	s.before = s.Ex.Stats.Commands
	s.Trace.Span(trace.Sleep, s.Asleep, s.Now, 0)
	if s.Trace.Traces() {
		s.Recorder.slept()
	}
}

// readHandler puts a readable client on a list. The pass reads the whole list at once. Redis does
// this only for its I/O threads (networking.c: readQueryFromClient, postponeClientRead).
func (s *Server) readHandler(c *Client) {
	if !c.PendingRead && !c.Closed && !c.Protected {
		c.PendingRead = true
		s.PendingReads = append(s.PendingReads, c)
	}
}

// BeforeSleep is the plan of a pass (server.c: beforeSleep). It returns how long the loop may sleep.
func (s *Server) BeforeSleep() time.Duration {
	s.gather()
	s.ReadClients(s.PendingReads)
	s.Hooks.execute()
	s.Ex.Tracking.Broadcast()
	if !s.Parts.mayReply() {
		return 0 // nobody may hear of what is not on disk
	}
	s.WriteClients()
	s.Clients.evict()
	s.FreeClosed()
	s.Inbox.answer()
	s.countPass()
	return s.sleep()
}

// executePhase is the part of a pass in which commands run, and everything else that changes the data.
func (s *Server) executePhase() {
	s.beginExecution()
	s.Hooks.RunTimers()
	s.executeInternal()
	s.Hooks.executeReads()
	s.Expire()
	s.ServeReady() // clients that waited for a stream to expire
	s.ExecuteResumed()
	s.runDeferred()
	s.evictMore()
	if !s.Ex.Cut { // half a transaction is nothing to save
		each(s.Parts.advance)
	}
	s.endExecution()
}

func (s *Server) beginExecution() { s.executing = s.Ex.Tick() }

func (s *Server) endExecution() { s.Stats.Executing += s.Ex.Now.Mono - s.executing }

// runDeferred calls the functions that commands of this pass left for the time when all commands
// are executed. These functions may add others. They may load keys that clients wait for. If a unit was cut, only LAB
// CRASH makes the keys whole again.
func (s *Server) runDeferred() {
	if len(s.Deferred) == 0 {
		return
	}
	defer s.ServeReady()
	for len(s.Deferred) > 0 && !(s.Ex.Cut && s.Loop.Stopped()) {
		fn := s.Deferred[0]
		s.Deferred = s.Deferred[1:]
		fn()
	}
}

// FreeClosed frees the clients that this pass closed (networking.c: freeClientsInAsyncFreeQueue).
func (s *Server) FreeClosed() {
	for _, c := range s.Closing {
		s.free(c)
	}
	clear(s.Closing)
	s.Closing = s.Closing[:0]
}

// ReadClients reads from all of these clients and parses what arrived (networking.c:
// handleClientsWithPendingReadsUsingThreads). I/O threads may do that; it waits for the last of them.
func (s *Server) ReadClients(from []*Client) {
	if len(from) == 0 {
		return
	}
	if s.dozing {
		s.rouse()
	}
	begin := s.Trace.Mark()
	s.conns = s.conns[:0]
	for _, c := range from {
		s.Pool.Lend(&c.Conn)
		s.conns = append(s.conns, &c.Conn)
	}
	s.Stats.Reads += int64(len(s.conns))
	if s.Pool.Read(s.conns) {
		s.Stats.ThreadedReads += int64(len(s.conns))
	}
	if s.Clients.limitsMemory {
		for _, c := range from {
			s.grown(c)
		}
	}
	s.Trace.Span(trace.Reading, begin, s.Trace.Mark(), len(s.conns))
}

// executeReadable executes the commands of the clients that were read (networking.c:
// processPendingCommandAndInputBuffer). A script may execute the rest of them while it runs (busy.go); then
// nothing is left to do here.
func (s *Server) executeReadable() {
	for s.NextRead < len(s.PendingReads) {
		for end := s.prefetch(s.NextRead); s.NextRead < min(end, len(s.PendingReads)); {
			c := s.PendingReads[s.NextRead]
			s.NextRead++
			c.PendingRead = false
			s.ExecuteClient(c)
		}
	}
	clear(s.PendingReads)
	s.PendingReads, s.NextRead = s.PendingReads[:0], 0
}

// ExecuteResumed executes the commands of clients whose wait is over (blocked.c: processUnblockedClients). A
// command may end the wait of further clients. As in executeReadable, a script may leave nothing to do here.
func (s *Server) ExecuteResumed() {
	for s.NextResumed < len(s.Resumed) {
		c := s.Resumed[s.NextResumed]
		s.NextResumed++
		s.Hooks.GoOn(c)
	}
	clear(s.Resumed)
	s.Resumed, s.NextResumed = s.Resumed[:0], 0
}

// prefetch loads the keys of the next requests into the processor's cache. It stops after some
// clients and returns the place of the first client that it left out.
func (s *Server) prefetch(from int) (end int) {
	var room [store.PrefetchMax][][]byte
	requests, db := room[:0], s.PendingReads[from].Sess.DB
	for end = from; end < len(s.PendingReads) && len(requests) < cap(requests); end++ {
		c := s.PendingReads[end]
		if c.Sess.DB != db {
			break
		}
		requests = c.AppendRequests(requests)
	}
	s.Ex.Prefetch(db, requests)
	return end
}

// ExecuteClient executes what c has sent, in order (networking.c: processInputBuffer, beforeNextClient).
// Replies go to the end of its output.
func (s *Server) ExecuteClient(c *Client) {
	s.Clients.evict()
	if c.Closed || s.Loop.Stopped() || s.Ex.Cut { // another connection may have its descriptor, or SHUTDOWN has saved
		s.Pool.Reclaim(&c.Conn)
		return
	}
	if c.Stopped() { // a client can be in resumed twice: the first turn may have stopped it
		return
	}
	s.Pool.LendOutput(&c.Conn)
	s.CountTraffic(c)
	s.Running = c
	c.Active = s.Now
	given := s.giveLarge(c)
	s.executeRequests(c)
	s.leaveLarge(c, given)
	s.Running = nil
	c.Answered = lastAnswered(c)
	s.finishRead(c)
	s.WantWrite(c)
	s.Pool.Reclaim(&c.Conn)
	s.grown(c)
}

// lastAnswered returns the number of c's last request that has its reply.
func lastAnswered(c *Client) int64 {
	if c.Sess.Hold == command.Blocked {
		return c.Sess.Commands - 1
	}
	return c.Sess.Commands
}

// executeRequests executes every complete request of c (networking.c: processInputBuffer). It stops early if c
// is closed or has to wait.
func (s *Server) executeRequests(c *Client) {
	defer s.RecoverCommand(c)
	for !c.Closed && !c.Stopped() && !c.Sess.CloseAfterReply {
		args := c.Next()
		if args == nil && c.Parser.Limits.Unauthenticated {
			// The parser stopped where an AUTH among these commands may have lifted its limits.
			c.Parser.Limits.Unauthenticated = s.Ex.MustAuthenticate(&c.Sess)
			s.Trace.Mark()
			c.Parse(s.Trace)
			args = c.Next()
		}
		if args == nil {
			return
		}
		if do := s.Hooks.Do; do != nil {
			do(&c.Sess, args, &c.Out)
		} else {
			s.Ex.Do(&c.Sess, args, &c.Out)
		}
		if c.Sess.CloseAfterReply {
			return
		}
		if c.Sess.Hold != command.NotHeld {
			s.hold(c)
			return
		}
		if c.OutputMem() > s.Ex.OutputTrigger && s.Clients.OverOutputLimit(c) {
			c.DropOutput()
		}
		if s.Clients.limitsMemory {
			s.grown(c)
			s.Clients.evict()
		}
	}
}

// RecoverCommand turns a panic of a command into the end of its client. A panic is a bug: the log
// gets its stack. Other clients go on. c is the client that was being executed, nil for none.
func (s *Server) RecoverCommand(c *Client) {
	r := recover()
	if r == nil {
		return
	}
	culprit := c
	if sess := s.Ex.Abandon(); sess != nil { // maybe a client that c has unblocked
		culprit = s.Clients.Of(sess)
	}
	id := int64(0)
	if culprit != nil {
		id = culprit.Sess.ID
		s.CloseClient(culprit)
	}
	s.Log('#', "Panic while executing a command of client id=%d, which is closed: %v\n%s", id, r, debug.Stack())
	if c != nil {
		s.CloseClient(c)
	}
}

// finishRead handles the end of c's input, if it has come (networking.c: readQueryFromClient,
// setProtocolError): a closed connection, a protocol error, or a command that closes the client.
func (s *Server) finishRead(c *Client) {
	switch {
	case c.Closed:
	case c.Stopped():
		return
	case c.Sess.Attack:
		s.logAttack()
		s.CloseClient(c)
	case c.Sess.CloseAfterReply:
	case c.Wrong != "":
		c.Out.Error("ERR " + c.Wrong.Error())
		c.Sess.CloseAfterReply = true
		s.Log('-', "Protocol error (%s) from client %s", c.Wrong, s.Clients.Describe(c))
	case c.ReadErr != 0:
		s.Log('-', "Reading from client: %v", c.ReadErr)
		s.Leave(c)
	case c.EOF:
		s.hungUp(c)
	default:
		s.overQueryLimit(c)
		return
	}
	s.WatchInput(c)
}

// logAttack logs, at most once a minute, that a browser was made to send HTTP to this server (networking.c:
// securityWarningCommand).
func (s *Server) logAttack() {
	if s.Attack != 0 && s.Now-s.Attack < int64(time.Minute) {
		return
	}
	s.Attack = s.Now
	s.Log('#', "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. "+
		"This is likely due to an attacker attempting to use Cross Protocol Scripting to compromise your "+
		"Redis instance. Connection aborted.")
}

// Expire deletes the keys that are due when the last command of the pass has ended (expire.c:
// activeExpireCycle). CLIENT PAUSE for writes keeps them.
func (s *Server) Expire() {
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
	if n := s.KS.Stats.Expired - expired; n > 0 && s.Trace.Traces() {
		begin := s.Ex.Now.Mono
		s.Trace.Span(trace.Expire, begin, s.Ex.Tick(), int(n))
	}
	if s.Trace.Detailed() {
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
	return !s.Debugging.NoExpire && !s.KS.KeepDue
}

// sleep returns the time until a key expires or a timer is due; negative if neither will happen (ae.c:
// usUntilEarliestTimer). It is 0 if this pass has left something to the next one: what comes after ExecuteResumed may
// end the wait of clients that have sent more, and what comes after WriteClients may have something to say.
func (s *Server) sleep() time.Duration {
	if len(s.Resumed) > 0 || len(s.PendingWrites) > 0 {
		return 0
	}
	if s.Evicting {
		return 0
	}
	left := time.Duration(-1)
	if at, ok := s.NextDeadline(); ok {
		left = s.Ex.Clock.Until(s.Asleep, at)
	}
	return s.Parts.limitSleep(left)
}

// NextDeadline returns, by Clock.Timeline, when the next timer or key is due.
func (s *Server) NextDeadline() (at int64, ok bool) {
	at, ok = s.Timers.Next()
	if !s.expires() {
		return at, ok
	}
	if due, expires := s.Ex.Clock.OnTimeline(s.KS.NextDeadline()); expires && (!ok || due < at) {
		return due, true
	}
	return at, ok
}
