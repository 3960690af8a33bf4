package server

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/replication/follow"
)

// advance gives the link its part of a pass. Clients have had theirs.
func (f *following) advance() {
	if f.ticked {
		f.ticked = false
		f.everySecond()
	}
	if f.sync != nil && f.sync.loads {
		f.loadMore()
	}
	l := f.link
	switch {
	case l == nil:
	case l.talk == nil:
		switch {
		case l.ready && f.s.lab.cutsLink(f.port):
			f.s.loop.Unwatch(l.fd, reactor.Writable) // it stays connected
		case l.ready:
			f.connected(l)
		}
	case f.mustWait():
		f.watch(l, false)
	case f.s.lab.cutsLink(f.port):
		if l.client == nil { // else LAB stops a client
			f.watch(l, false)
		}
	default:
		f.receive(l)
	}
}

// drain executes all that has come of the stream, for LAB FAILOVER: whoever promotes a replica wants to know what that
// has.
func (f *following) drain() {
	l := f.link
	for l != nil && f.link == l && l.client != nil && !f.mustWait() {
		l.ready = true
		if f.receive(l); !l.ready {
			return
		}
	}
}

// mustWait reports whether nothing of the master may be executed: a file is loaded, or CLIENT PAUSE keeps writes.
func (f *following) mustWait() bool {
	return f.sync != nil && f.sync.loads || f.s.ex.Pause != command.PauseNone
}

// isUrgent reports whether there is work for the next pass.
func (f *following) isUrgent() bool { return f.sync != nil && f.sync.loads }

// receive reads what has come, and does what it says.
func (f *following) receive(l *link) {
	f.watch(l, true)
	if l.behind && !f.digest(l) {
		return
	}
	until := f.s.ex.Clock.Mono() + linkBudget
	for l.ready {
		n, err := unix.Read(l.fd, l.chunk)
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
		l.heard = f.s.now
		f.s.stats.NetIn += int64(n)
		if v := f.s.glass; v.looks() {
			v.linkRead(l.chunk[:n])
		}
		l.talk.Feed(l.chunk[:n])
		if !f.digest(l) {
			return
		}
		if n < len(l.chunk) { // the loop says when there is more
			l.ready = false
		}
		if f.s.ex.Clock.Mono() > until {
			return
		}
	}
}

// broken ends a link whose socket has ended.
func (f *following) broken(err error) {
	switch {
	case f.sync != nil:
		f.fail('#', "I/O error trying to sync with MASTER: "+err.Error())
	case f.isUp():
		f.hangUp()
		f.again()
	default:
		f.fail('#', "Master did not respond to command during SYNC handshake: "+err.Error())
	}
}

// digest does what the master has said. It returns false if the link has ended, or has to wait.
func (f *following) digest(l *link) bool {
	l.behind = false
	for f.link == l && !f.mustWait() {
		e, err := l.talk.Next()
		if err != nil {
			var failure *follow.Failure
			errors.As(err, &failure)
			f.fail(failure.Level, failure.Text)
			return false
		}
		switch e.Kind {
		case follow.None:
			f.flush(l)
			return f.link == l
		case follow.FullSync:
			f.sync = &syncing{at: e.At}
		case follow.Continues:
			f.goOn(l, e.At)
		case follow.FileBegin:
			f.beginFile(e.Size)
		case follow.FileData:
			f.takeFile(e.Data)
		case follow.FileEnd:
			f.endFile()
		case follow.Request:
			f.obey(l.client, e)
		}
	}
	l.behind = true
	return false
}

// goOn begins the stream behind what is executed.
func (f *following) goOn(l *link, at follow.Position) {
	if at.ID != f.ID {
		f.id2, f.second = f.ID, f.Offset+1
		f.Position = at
	}
	f.begin(l)
	f.s.log('*', "MASTER <-> REPLICA sync: Master accepted a Partial Resynchronization.")
	f.s.lab.noteSynced(lab.SyncedPartial)
}

// obey executes a request of the stream (networking.c: commandProcessed). The offset moves behind a transaction as a
// whole: after a cut link the master sends all of it again.
func (f *following) obey(c *client, e follow.Event) {
	defer f.s.recoverCommand(c)
	switch {
	case len(e.Args) == 0:
	case is(e.Args[0], "replconf"):
		if len(e.Args) > 1 && is(e.Args[1], "getack") {
			f.link.talk.Ack(f.Offset)
		}
	default:
		c.active = f.s.now
		f.s.running = c
		reply := f.s.obey(&c.sess, e.Args)
		f.s.running = nil
		if len(reply) > 0 && reply[0] == '-' {
			f.s.log('#', "== CRITICAL == This replica is sending an error to its master: '%s' after processing the command '%s'",
				reply[1:len(reply)-2], e.Args[0])
		}
	}
	if !c.sess.InMulti() {
		f.Position = e.At
	}
}

// everySecond is what happens each second (replication.c: replicationCron).
func (f *following) everySecond() {
	l := f.link
	if l == nil {
		if f.sync == nil {
			f.s.log('*', "Connecting to MASTER %s:%d", f.host, f.port)
			f.connect()
		}
		return
	}
	if f.mustWait() {
		l.heard = f.s.now
	}
	silent := f.s.now-l.heard > int64(f.s.cfg.ReplTimeout)*1e9
	switch {
	case silent && l.client != nil:
		f.s.log('#', "MASTER timeout: no data nor PING received...")
		f.hangUp()
		f.again()
	case silent && f.sync != nil:
		f.fail('#', "Timeout receiving bulk data from MASTER... If the problem persists try to set the 'repl-timeout' "+
			"parameter in redis.conf to a larger value.")
	case silent:
		f.fail('#', "Timeout connecting to the MASTER...")
	case f.s.lab.cutsLink(f.port):
	case l.client != nil:
		l.talk.Ack(f.Offset)
		f.flush(l)
	case f.sync != nil:
		l.talk.KeepAlive()
		f.flush(l)
	}
}
