package repl

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/replication/follow"
	"github.com/miniredisd/miniredisd/reactor"
)

// advance gives the link its part of a pass. Clients have had theirs.
func (f *following) advance() {
	if f.ticked {
		f.ticked = false
		f.everySecond()
	}
	if f.Sync != nil && f.Sync.loads {
		f.loadMore()
	}
	l := f.Link
	switch {
	case l == nil:
	case l.Shaking != nil:
		f.shakeOn(l)
	case l.Talk == nil:
		switch {
		case l.ready && f.s.Link.Cuts(f.Port):
			f.s.Loop.Unwatch(l.FD, reactor.Writable) // it stays connected
		case l.ready:
			f.connected(l)
		}
	case f.mustWait():
		f.readAhead(l)
	case f.s.Link.Cuts(f.Port):
		if l.Client == nil { // else LAB stops a client
			f.watch(l, false)
		}
	default:
		f.receive(l)
	}
}

// Drain executes all that has come of the stream, for LAB FAILOVER: whoever promotes a replica wants to know what that
// has.
func (f *following) Drain() {
	l := f.Link
	for l != nil && f.Link == l && l.Client != nil && !f.mustWait() {
		l.ready = true
		if f.receive(l); !l.ready {
			return
		}
	}
}

// mustWait reports whether nothing of the master may be executed: a file is loaded, a pause holds writes back, or the
// link has been closed in this pass. The handshake continues: the one of FAILOVER ends the pause.
func (f *following) mustWait() bool {
	if f.IsUp() && f.Link.Client.Closed {
		return true // its transaction is forgotten, and the next link gets all of it again
	}
	if f.Sync != nil {
		return f.Sync.loads || f.s.Ex.Refusals.Has(command.Pauses)
	}
	return f.IsUp() && f.s.Ex.Refusals.Has(command.Pauses)
}

// readAhead takes bytes of the stream that a pause keeps from being executed. It takes no more than a read or two: the
// rest stays in the kernel. What ends the connection is seen after the pause.
func (f *following) readAhead(l *link) {
	if f.Sync != nil || l.Talk.Unread() >= linkChunk || l.Client.Closed {
		f.watch(l, false)
		return
	}
	f.watch(l, true)
	if !l.ready {
		return
	}
	n, err := l.read(l.chunk)
	switch {
	case n > 0:
		f.s.Stats.NetIn += int64(n)
		if f.s.Trace.Detailed() {
			f.s.Link.Read(l.chunk[:n])
		}
		l.Talk.Feed(l.chunk[:n])
		l.behind = true
	case err == unix.EAGAIN:
		l.ready = false
	default:
		f.watch(l, false)
	}
}

// IsUrgent reports whether there is work for the next pass.
func (f *following) IsUrgent() bool { return f.Sync != nil && f.Sync.loads }

// receive reads what has come, and does what it says.
func (f *following) receive(l *link) {
	f.watch(l, true)
	if l.behind && !f.digest(l) {
		return
	}
	until := f.s.Ex.Clock.Mono() + linkBudget
	for l.ready {
		n, err := l.read(l.chunk)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			l.ready = false
			return
		case err != nil:
			f.broken(err)
			return
		case n == 0:
			f.broken(errors.New("connection lost"))
			return
		}
		l.heard = f.s.Now
		f.s.Stats.NetIn += int64(n)
		if f.s.Trace.Detailed() {
			f.s.Link.Read(l.chunk[:n])
		}
		l.Talk.Feed(l.chunk[:n])
		if !f.digest(l) {
			return
		}
		if n < len(l.chunk) { // the loop says when there is more
			l.ready = false
		}
		if f.s.Ex.Clock.Mono() > until {
			return
		}
	}
}

// broken ends a link whose socket has ended.
func (f *following) broken(err error) {
	switch {
	case f.Sync != nil:
		f.fail('#', "I/O error trying to sync with MASTER: "+err.Error())
	case f.IsUp():
		f.hangUp()
		f.again()
	default:
		f.fail('#', "Master did not respond to command during SYNC handshake: "+err.Error())
	}
}

// digest does what the master has said. It returns false if the link has ended, or has to wait.
func (f *following) digest(l *link) bool {
	l.behind = false
	for f.Link == l && !f.mustWait() {
		e, err := l.Talk.Next()
		if err != nil {
			var failure *follow.Failure
			errors.As(err, &failure)
			if l.Talk.Streams() {
				f.Known = false // the place is not to be trusted: the next link gets everything
			}
			f.fail(failure.Level, failure.Text)
			if failure.Refused {
				f.s.Failover.refused()
			}
			return false
		}
		switch e.Kind {
		case follow.None:
			f.flush(l)
			return f.Link == l
		case follow.FullSync, follow.Continues:
			f.accepted(l, e)
		case follow.FileBegin:
			f.beginFile(e.Size)
		case follow.FileData:
			f.takeFile(e.Data)
		case follow.FileEnd:
			f.endFile()
		case follow.Request:
			f.obey(l, e)
		}
	}
	l.behind = true
	return false
}

// accepted begins what the master has agreed to.
func (f *following) accepted(l *link, e follow.Event) {
	switch {
	case f.s.Replicas.isOwn(e.At.ID):
		f.fail('#', "The data of the MASTER come from this server: refusing a circle of replicas")
		f.s.Failover.refused()
		return
	case e.Kind == follow.FullSync:
		f.Sync = &syncing{at: e.At}
	default:
		f.goOn(l, e.At)
	}
	f.s.Failover.done()
}

// goOn begins the stream after what is executed.
func (f *following) goOn(l *link, at follow.Position) {
	f.s.Replicas.goOnAs(at.ID)
	f.begin(l)
	f.s.Log('*', "MASTER <-> REPLICA sync: Master accepted a Partial Resynchronization.")
	f.s.Link.Up(false)
}

// obey executes a request of the stream, and passes its bytes on. A transaction counts as a whole: after a cut link the
// master sends all of it again (networking.c: commandProcessed).
func (f *following) obey(l *link, e follow.Event) {
	f.execute(l, e.Args)
	switch {
	case f.s.Ex.Cut: // it is not executed
	case l.Client.Sess.InMulti():
		f.partial = append(f.partial, e.Data...)
	default:
		if len(f.partial) > 0 {
			f.s.Replicas.forward(f.partial)
			f.partial = f.partial[:0]
		}
		f.s.Replicas.forward(e.Data)
	}
}

func (f *following) execute(l *link, args [][]byte) {
	c := l.Client
	defer f.s.RecoverCommand(c)
	switch {
	case len(args) == 0:
	case ascii.EqualFold(args[0], "replconf"):
		if len(args) > 1 && ascii.EqualFold(args[1], "getack") {
			f.acknowledge(l)
		}
	default:
		c.Active = f.s.Now
		f.s.Running = c
		dirty := f.s.KS.Stats.Dirty
		reply := f.s.Hooks.Obey(&c.Sess, args)
		f.s.Running = nil
		if f.s.KS.Stats.Dirty > dirty && f.s.Ex.Refusals.DiskError() != nil {
			f.cannotKeep()
		}
		if len(reply) > 0 && reply[0] == '-' {
			f.s.Log('#', "== CRITICAL == This replica is sending an error to its master: '%s' after processing the command '%s'",
				reply[1:len(reply)-2], args[0])
		}
	}
}

// cannotKeep is called for a change of the master that cannot be written to the disk (server.c: processCommand).
func (f *following) cannotKeep() {
	const period = 10e9 // ns from one line of the log to the next
	switch {
	case !f.s.Cfg.ReplicaIgnoreDiskErrors:
		f.s.Fatal = errors.New("Replica was unable to write command to disk.")
		f.s.Loop.Stop()
	case f.warned == 0 || f.s.Now-f.warned > period:
		f.warned = f.s.Now
		f.s.Log('#', "Replica is applying a command it is unable to write to disk.")
	}
}

// acknowledge tells the master how far this replica is.
func (f *following) acknowledge(l *link) {
	synced := int64(-1)
	if a := f.s.Persist.AOF; a.IsOn() {
		synced = a.At.Offset
	}
	l.Talk.Ack(f.s.Replicas.Stream.Offset, synced)
}

// everySecond is what happens each second (replication.c: replicationCron).
func (f *following) everySecond() {
	l := f.Link
	if l == nil {
		if f.Sync == nil && f.asking == nil {
			f.s.Log('*', "Connecting to MASTER %s:%d", f.Host, f.Port)
			f.connect()
		}
		return
	}
	if f.mustWait() {
		l.heard = f.s.Now
	}
	silent := f.s.Now-l.heard > int64(f.s.Cfg.ReplTimeout)*1e9
	switch {
	case silent && l.Client != nil:
		f.s.Log('#', "MASTER timeout: no data nor PING received...")
		f.hangUp()
		f.again()
	case silent && f.Sync != nil:
		f.fail('#', "Timeout receiving bulk data from MASTER... If the problem persists try to set the 'repl-timeout' "+
			"parameter in redis.conf to a larger value.")
	case silent:
		f.fail('#', "Timeout connecting to the MASTER...")
	case f.s.Link.Cuts(f.Port):
	case l.Client != nil:
		f.acknowledge(l)
		f.flush(l)
	case f.Sync != nil:
		l.Talk.KeepAlive()
		f.flush(l)
	}
}
