package repl

import (
	"bytes"
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/replication"
	"github.com/miniredisd/miniredisd/internal/trace"
	snapshots "github.com/miniredisd/miniredisd/persist/snapshot"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// fullSync gives all keys to replicas that have asked for them. All of them get the same snapshot.
//
//	repl-diskless-sync yes    "$EOF:<mark>" keys <mark>   the writer's bytes, while it writes
//	repl-diskless-sync no     "$<length>" keys            the file dbfilename, once it is written
//
// The file has the server's own format. So a replica that reads an older one gets a stream, if it can.
// The stream follows from the offset that the keyspace had at the moment of the snapshot.
type fullSync struct {
	members  []*server.Client
	offset   int64
	eofMark  string              // after the keys; "" if they come from a file
	snapshot *snapshots.Snapshot // of a stream
	handed   handed              // what the members get of it
	ended    bool                // the writer has written everything
	err      error               // why it has not; only of a file
	joined   bool                // the members are known; only a file can end before
}

const (
	errPendingOutput store.Error = "ERR SYNC and PSYNC are invalid with pending output"
	errFilterEOF     store.Error = "ERR Filtered replica requires EOF capability"
	errSyncFailed    store.Error = "ERR BGSAVE failed, replication can't continue"
	errNoLink        store.Error = "NOMASTERLINK Can't SYNC while not connected with my master"
	errCircle        store.Error = "NOMASTERLINK Can't SYNC: you are my master"
)

func (y *fullSync) isStreamed() bool { return y != nil && y.eofMark != "" }

// PSYNC replicationid offset (replication.c: syncCommand)
func (r *replicas) psync(c *command.Call) error {
	me := r.s.Running
	from, isNumber := ascii.ParseInt(c.Args[2])
	switch {
	case me.Sess.Replica || c.Sess.Monitor:
		return nil
	case len(c.Args) > 3 && ascii.EqualFold(c.Args[3], "failover"):
		if err := r.s.Failover.takeOver(c); err != nil {
			return err
		}
	}
	if err := r.ask(me); err != nil {
		return err
	}
	if !isNumber {
		r.s.Log('#', "Replica %s asks for synchronization but with a wrong offset", r.name(me))
		return store.ErrNotInt
	}
	id := string(c.Args[1])
	if r.mayContinue(me, id, from) {
		r.s.Stats.PartialSyncs++
		r.goOn(me, from)
		return nil
	}
	if id[:min(len(id), 1)] != "?" {
		r.s.Stats.RefusedSyncs++
	}
	r.fullSync(me)
	return nil
}

// SYNC (replication.c: syncCommand)
func (r *replicas) syncCommand(c *command.Call) error {
	me := r.s.Running
	if me.Sess.Replica || c.Sess.Monitor {
		return nil
	}
	if err := r.ask(me); err != nil {
		return err
	}
	ReplicaOf(me).old = true
	r.fullSync(me)
	return nil
}

// ask checks whether a client may become a replica now.
func (r *replicas) ask(c *server.Client) error {
	rep := r.of(c)
	switch {
	case r.s.Failover.State != NoFailover:
		return errNoSync
	case !r.isTop() && r.isMyMaster(c):
		r.s.Log('#', "Replica %s is the master of this server: it gets nothing from here", r.name(c))
		return errCircle
	case !r.isTop() && !r.s.Follow.IsUp():
		return errNoLink
	case c.Unsent() > 0:
		return errPendingOutput
	case rep.filtered && !rep.takesEOF:
		return errFilterEOF
	case r.s.Link.Refuses(c) != nil:
		return r.s.Link.Refuses(c)
	}
	r.s.Log('*', "Replica %s asks for synchronization", r.name(c))
	return nil
}

// mayContinue says whether a replica gets only what it has not got yet, and logs why not.
func (r *replicas) mayContinue(c *server.Client, id string, from int64) bool {
	switch r.Stream.Continue(id, from) {
	case replication.Accepted:
		return true
	case replication.BeyondID2:
		r.s.Log('*', "Partial resynchronization not accepted: Requested offset for second ID was %d, but I can reply "+
			"up to %d", from, r.Stream.Second)
	case replication.NotKept:
		r.s.Log('*', "Unable to partial resync with replica %s for lack of backlog (Replica request was: %d).",
			r.name(c), from)
		if from > r.Stream.Offset {
			r.s.Log('#', "Warning: replica %s tried to PSYNC with an offset that is greater than the master replication "+
				"offset.", r.name(c))
		}
	default:
		if id[:min(len(id), 1)] == "?" {
			r.s.Log('*', "Full resync requested by replica %s", r.name(c))
			break
		}
		r.s.Log('*', "Partial resynchronization not accepted: Replication ID mismatch (Replica asked for '%s', "+
			"my replication IDs are '%s' and '%s')", id, r.Stream.ID, r.Stream.ID2)
	}
	return false
}

// goOn gives a replica the stream from a byte on.
func (r *replicas) goOn(c *server.Client, from int64) {
	r.add(c, Online)
	rep := ReplicaOf(c)
	rep.Heard, rep.Follows, rep.Cursor = r.Now(), true, r.Stream.Reader(from)
	if rep.takesNewID {
		r.tell(c, "+CONTINUE %s\r\n", r.Stream.ID)
	} else {
		r.tell(c, "+CONTINUE\r\n")
	}
	r.s.Log('*', "Partial resynchronization request from %s accepted. Sending %d bytes of backlog starting from "+
		"offset %d.", r.name(c), r.Stream.Offset+1-from, from)
	r.countGood()
}

// fullSync gives a replica all keys, as soon as there is a snapshot for it.
func (r *replicas) fullSync(c *server.Client) {
	r.s.Stats.FullSyncs++
	r.add(c, waitsForStart)
	if !r.Stream.Active {
		r.begin()
	}
	y := r.sync
	switch {
	case y != nil && !y.isStreamed() && y.takes(c) && r.demandOf(c) == demand{}:
		r.s.Log('*', "Waiting for end of BGSAVE for SYNC")
		r.join(y, c)
	case y.isStreamed():
		r.s.Log('*', "Current BGSAVE has socket target. Waiting for next BGSAVE for SYNC")
	case y != nil || r.s.Persist.UnderWay() != nil:
		r.s.Log('*', "Can't attach the replica to the current BGSAVE. Waiting for next BGSAVE for SYNC")
	case r.s.Cfg.ReplDisklessSync && ReplicaOf(c).takesEOF && r.s.Cfg.ReplDisklessDelay > 0:
		r.s.Log('*', "Delay next BGSAVE for diskless SYNC")
	default:
		r.start()
	}
}

// takes reports whether another replica may have the file that is being written. One of the members must have kept
// the stream since its beginning.
func (y *fullSync) takes(c *server.Client) bool {
	keeps := func(m *server.Client) bool { return !m.Closed && ReplicaOf(m).Follows }
	return ReplicaOf(c).rdbOnly || slices.ContainsFunc(y.members, keeps)
}

// refuse says to a replica that it gets no keys.
func (r *replicas) refuse(c *server.Client) {
	r.forget(c)
	r.s.Send(c, server.ErrorReply(errSyncFailed))
	c.Sess.CloseAfterReply = true
}

// join makes a replica get the snapshot, and the stream from its moment on (replication.c:
// replicationSetupSlaveForFullResync).
func (r *replicas) join(y *fullSync, c *server.Client) {
	rep := ReplicaOf(c)
	y.members = append(y.members, c)
	rep.State, rep.Heard = waitsForEnd, r.Now()
	if !rep.rdbOnly {
		rep.Follows, rep.Cursor = true, r.Stream.Reader(y.offset+1)
	}
	r.s.Ex.Propagation.Reselect()
	if !rep.old {
		r.tell(c, "+FULLRESYNC %s %d\r\n", r.Stream.ID, y.offset)
	}
	if y.eofMark != "" {
		r.tell(c, "$EOF:%s\r\n", y.eofMark)
	}
}

// leave forgets a member that has gone. Nobody needs a stream without members.
func (r *replicas) leave(y *fullSync, c *server.Client) {
	y.members = slices.DeleteFunc(y.members, func(m *server.Client) bool { return m == c })
	if len(y.members) == 0 && y.snapshot != nil && !y.ended {
		r.s.Log('*', "Diskless rdb transfer, last replica dropped, killing fork child.")
		y.snapshot.Abort()
	}
}

// passOn hands what the writer has written to all members. The slowest decides how fast. Who gets its keys later, in a
// lab, has all of them in its output: nobody else waits for that.
func (r *replicas) passOn() {
	y := r.sync
	if !y.isStreamed() {
		return
	}
	for {
		room, unsent := true, 0
		for _, c := range y.members {
			unsent = max(unsent, c.Out.RefLen)
			ReplicaOf(c).more = !c.Closed && c.Out.RefLen >= handMost && !c.Withheld
			room = room && !ReplicaOf(c).more
		}
		if !room {
			return
		}
		for b := y.handed.written(unsent); b != nil; b = y.handed.written(unsent) {
			y.snapshot.Reuse(b)
		}
		b := y.snapshot.Take()
		if b == nil {
			break
		}
		y.handed.add(b)
		for _, c := range y.members {
			r.refer(c, trace.FedKeys, b)
		}
	}
	if y.ended {
		r.endStream(y)
	}
}

// streamEnded notes that the writer has ended. Some of its bytes may still wait.
func (r *replicas) streamEnded(y *fullSync, err error) {
	y.ended = true
	if err == nil && len(y.members) > 0 {
		return
	}
	r.sync = nil
	r.fail(y, err)
}

// fail closes the members of a snapshot that has failed. They will come again.
func (r *replicas) fail(y *fullSync, err error) {
	for _, c := range y.members {
		r.s.Log('#', "SYNC failed. BGSAVE child returned an error: %v", err)
		r.s.CloseClient(c)
	}
}

// endStream puts the members online, once they have all keys. A replica looks for the mark at the end of what it has
// read, so nothing may follow it at once: the stream waits until the replica tells its offset (replication.c:
// updateSlavesWaitingBgsave).
func (r *replicas) endStream(y *fullSync) {
	r.sync = nil
	up := slices.DeleteFunc(y.members, func(c *server.Client) bool { return c.Closed })
	r.s.Log('*', "Diskless rdb transfer, done reading from pipe, %d replicas still up.", len(up))
	for _, c := range up {
		r.refer(c, trace.FedMark, []byte(y.eofMark))
		r.streamed(c)
	}
}

func (r *replicas) streamed(c *server.Client) {
	r.s.Log('*', "Streamed RDB transfer with replica %s succeeded (socket). Waiting for REPLCONF ACK from replica to "+
		"enable streaming", r.name(c))
	ReplicaOf(c).onAck = true
	r.putOnline(c)
}

// sendFiltered sends what replicas want that want no keys: libraries of functions, or nothing.
func (r *replicas) sendFiltered(y *fullSync, waiting []*server.Client) {
	saving := r.savingFor(waiting)
	if !ReplicaOf(waiting[0]).wantsLibrary {
		saving.Libraries = nil
	}
	var all bytes.Buffer
	_ = saving.Begin(&all).End() // a buffer takes everything
	all.WriteString(y.eofMark)
	for _, c := range waiting {
		r.join(y, c)
		r.refer(c, trace.FedKeys, all.Bytes())
		r.streamed(c)
	}
}
