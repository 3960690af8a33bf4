package repl

import (
	"net"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/replication"
	"github.com/miniredisd/miniredisd/internal/replication/follow"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// A replica may have replicas of its own. It passes on the bytes of its master's stream as they came, so all servers of
// a chain count with the same offsets and the same ID (replication.c: replicationFeedStreamFromMasterStream).
//
//	master ── stream ──> replica ── the same bytes ──> its replicas
//	 "ID a"               "ID a"                        "ID a"
//
// So each of them can take the place of another one. A server that becomes a master gives the history a new ID, and
// remembers the old one with its end. Its replicas come again, hear of the new ID, and go on.

// isTop reports whether this server is a master, so that the stream is its own.
func (r *replicas) isTop() bool { return r.s.Follow.Host == "" }

// forward adds bytes of the master's stream, which were executed.
func (r *replicas) forward(b []byte) {
	if r.Stream.Active {
		r.feed(b)
	}
}

// demote ends the stream of a master that becomes a replica. Its history stays: the new master may know it, and then
// sends only what is missing (replication.c: replicationCacheMasterUsingMyself).
func (r *replicas) demote() {
	r.asksAcks = false
	r.s.Ex.Propagation.Replicate(nil)
}

// adopt continues the history of a master after a full synchronization: its ID and its offset. All replicas have to
// connect again. A master older than Redis 2.8 sends no ID, so adopt makes one.
func (r *replicas) adopt(at follow.Position) {
	r.closeAll()
	if at.ID == "" {
		at = follow.Position{ID: r.newID()}
	}
	r.Stream.Adopt(at.ID, at.Offset)
	r.startTimer()
}

// goOnAs notes that the master continues with the history, and how it is called from here on (replication.c:
// slaveTryPartialResynchronization).
func (r *replicas) goOnAs(id string) {
	if id != r.Stream.ID {
		r.Stream.Shift(id)
		r.closeAll() // they come again for the new ID
	}
	if !r.Stream.Active {
		r.Stream.Resume()
	}
	r.startTimer()
}

// takeOver makes the stream that of this server, which becomes a master. Whoever has the same data can go on here
// (replication.c: replicationUnsetMaster).
func (r *replicas) takeOver() {
	st := &r.Stream
	st.Shift(r.newID())
	r.s.Log('*', "Setting secondary replication ID to %s, valid up to offset: %d. New replication ID is %s", st.ID2,
		st.Second, st.ID)
	r.closeAll()
	r.alone = r.Now()
	if st.Active {
		r.listen()
	}
}

// reset forgets the history: nobody can go on with it.
func (r *replicas) reset() {
	r.closeAll()
	r.s.Ex.Propagation.Replicate(nil)
	r.Stream.End(r.newID())
}

// closeAll closes all replicas (replication.c: disconnectSlaves).
func (r *replicas) closeAll() {
	for _, c := range r.All {
		r.s.CloseClient(c)
	}
}

// Servers that follow each other in a circle would all wait for changes, and refuse those of clients. A circle shows in
// two ways: who asks is the master of this server, or the data that a master offers are those of this server itself.
// Each promotion makes a new ID, so a history whose ID this server has made has no other master.

// isMyMaster reports whether a client is the server that this one follows, as far as it has told where it listens.
func (r *replicas) isMyMaster(c *server.Client) bool {
	f := &r.s.Follow
	if f.Link == nil {
		return false
	}
	host, _, err := net.SplitHostPort(f.Link.addr)
	return err == nil && ReplicaOf(c).Port == int64(f.Port) && ReplicaOf(c).host(c) == host
}

// isOwn reports whether a history began at this server.
func (r *replicas) isOwn(id string) bool { return id == r.made }

// newID returns a name for a history that begins here.
func (r *replicas) newID() string {
	r.made = server.NewRunID()
	return r.made
}

// place is what a file says of its keys' place in the history (rdb.c: rdbPopulateSaveInfo).
func (r *replicas) place() *rdb.Replication {
	st, f := &r.Stream, &r.s.Follow
	db, whole := 0, true
	switch {
	case r.isTop() && st.Active:
		db, whole = r.s.Ex.Propagation.Selected()
	case f.IsUp():
		db = f.Link.Client.Sess.DB
	case f.Known:
		db = f.db
	default:
		return nil
	}
	if !whole {
		return nil
	}
	return &rdb.Replication{ID: st.ID, Offset: st.Offset, DB: db}
}

// restore takes the place of the keys of a file that was loaded at the start. A replica continues from there. A master
// begins a new history with it, so its replicas can go on (server.c: loadDataFromDisk).
func (r *replicas) restore(from rdb.Replication) (goesOn bool) {
	if from.ID == "" {
		return false
	}
	st := &r.Stream
	st.ID, st.Offset = from.ID, from.Offset
	if r.s.Cfg.ReplicaOf != "" {
		r.s.Follow.Known, r.s.Follow.db = true, from.DB
		return false
	}
	st.Shift(r.newID())
	st.Resume()
	r.alone = r.Now()
	r.listen()
	return true
}

// debug are the subcommands of DEBUG that concern the stream.
func (r *replicas) debug() []server.DebugCommand {
	return []server.DebugCommand{
		{Name: "change-repl-id", Do: r.changeID,
			Summary: "Gives the history a new ID, so that no replica can go on."},
		{Name: "replicate", Syntax: "<argument> [<argument> ...]", Least: 1, Most: server.ManyArguments, Do: r.replicate,
			Summary: "Sends a request to the replicas, as it is."},
	}
}

// changeID is DEBUG CHANGE-REPL-ID (replication.c: changeReplicationId).
func (r *replicas) changeID(c *command.Call, _ [][]byte) error {
	r.s.Log('*', "Changing replication IDs after receiving change-repl-id")
	r.Stream.ID, r.Stream.ID2, r.Stream.Second = r.newID(), replication.NoID, -1
	r.s.Follow.Known = false
	c.OK()
	return nil
}

// replicate is DEBUG REPLICATE.
func (r *replicas) replicate(c *command.Call, args [][]byte) error {
	if r.isTop() && r.Stream.Active {
		r.feed(resp.AppendRequest(nil, args...))
	}
	c.OK()
	return nil
}
