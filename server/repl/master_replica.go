package repl

import (
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/replication"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/server"
)

// replica is what the server knows of a client that replicates, or has said by REPLCONF that it will.
type replica struct {
	State  replicaState
	stream *replication.Stream // of this server

	// What it has said of itself.
	Port                   int64 // that it listens on, 0 for unknown
	addr                   string
	takesEOF, takesNewID   bool   // capa eof, capa psync2
	version                string // of Valkey, "" for others and for old ones
	rdbOnly                bool
	filtered, wantsLibrary bool // rdb-filter-only
	old                    bool // it asked by SYNC, so it sends no offsets

	Acked   int64 // the offset that it has executed
	synced  int64 // the offset that is in its append only file
	hasFile bool  // it has told that
	Heard   int64 // ns, by Clock.Timeline, of the last offset
	Told    int64 // likewise, monotonic ns; 0 for never
	asked   int64 // monotonic ns, when it asked for all keys: the clock of a lab may stand still

	Follows bool               // cursor is its place
	Cursor  replication.Cursor // the bytes before it are in the output, or sent
	onAck   bool               // it gets the stream when it has told its offset
	more    bool               // there is more for it than the output has

	file   disk.File // that it gets, or nil
	left   int64     // bytes of file
	handed handed    // of file
	got    int64     // bytes that were written when they were last looked at
}

// replicaState is how far a replica is (server.h: SLAVE_STATE_*).
type replicaState uint8

const (
	noReplica     replicaState = iota
	waitsForStart              // of a snapshot
	waitsForEnd                // of a snapshot; it gets the stream from its beginning on
	getsFile
	Online // it gets what is new
	gotRDB // it wanted no more, and is closed
)

// String is the state as INFO has it.
func (st replicaState) String() string {
	switch st {
	case waitsForStart, waitsForEnd:
		return "wait_bgsave"
	case getsFile:
		return "send_bulk"
	case Online:
		return "online"
	}
	return ""
}

// outputMem is Client.OutputMem for a replica: what it has not got of the stream. The keys do not count: the output has
// only a few of them at a time, or in a lab all of them until they are due.
func (rep *replica) outputMem(c *server.Client) int {
	waiting := 0
	if rep.Follows {
		waiting = int(rep.stream.Offset + 1 - rep.Cursor.From())
	}
	if rep.State == noReplica || rep.State == Online && !c.Withheld {
		waiting += c.Unsent()
	}
	return waiting
}

// replicaKey is where a client keeps what it is as a replica.
type replicaKey struct{}

// ReplicaOf returns what c is as a replica, or nil.
func ReplicaOf(c *server.Client) *replica {
	rep, _ := c.Attached(replicaKey{}).(*replica)
	return rep
}

// of returns what c is as a replica, or prepares for that.
func (r *replicas) of(c *server.Client) *replica {
	if rep := ReplicaOf(c); rep != nil {
		return rep
	}
	rep := &replica{stream: &r.Stream}
	c.Attach(replicaKey{}, rep)
	c.Counts = &server.Counting{OutputMem: func() int { return rep.outputMem(c) }, LeastLimit: rep.leastLimit}
	return rep
}

// leastLimit is the least hard limit of a replica's output: what it may ask for must fit (networking.c:
// checkClientOutputBufferLimits).
func (rep *replica) leastLimit() int64 {
	if rep.State == noReplica {
		return 0
	}
	return rep.stream.Size
}

// host is the address of a replica.
func (rep *replica) host(c *server.Client) string {
	if rep.addr != "" {
		return rep.addr
	}
	host, _, err := net.SplitHostPort(c.Sess.Addr)
	if err != nil {
		return c.Sess.Addr
	}
	return host
}

// name is how the log calls a replica (replication.c: replicationGetSlaveName).
func (r *replicas) name(c *server.Client) string {
	host := ReplicaOf(c).host(c)
	if ReplicaOf(c).Port == 0 {
		return host + ":<unknown-replica-port>"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.FormatInt(ReplicaOf(c).Port, 10)
}

// add makes c a replica.
func (r *replicas) add(c *server.Client, state replicaState) {
	ReplicaOf(c).State, ReplicaOf(c).asked, c.Sess.Replica = state, r.s.Ex.Now.Mono, true
	r.All = append(r.All, c)
	if state == waitsForStart {
		r.s.Link.Asked(c)
	}
	r.s.Clients.Weigh(c)
	if r.s.Cfg.ReplDisableNoDelay && !c.Unix {
		_ = unix.SetsockoptInt(c.FD, unix.IPPROTO_TCP, unix.TCP_NODELAY, 0) // it only sends smaller packets
	}
}

// forget makes c no replica.
func (r *replicas) forget(c *server.Client) {
	rep := ReplicaOf(c)
	if rep.file != nil {
		_ = rep.file.Close() // it was only read
		rep.file = nil
	}
	rep.State, rep.Follows, c.Sess.Replica = noReplica, false, false
	c.Withheld = false // an error that follows is not late
	r.All = slices.DeleteFunc(r.All, func(other *server.Client) bool { return other == c })
	if r.sync != nil {
		r.leave(r.sync, c)
	}
	if len(r.All) == 0 {
		r.alone = r.Now()
	}
	r.countGood()
}

// putOnline notes that a replica has all keys. The stream follows (replication.c: replicaPutOnline).
func (r *replicas) putOnline(c *server.Client) {
	rep := ReplicaOf(c)
	if rep.rdbOnly {
		r.s.Log('*', "RDB transfer completed, rdb only replica (%s) should be disconnected asap", r.name(c))
		rep.State, c.Sess.CloseAfterReply = gotRDB, true
		r.s.WantWrite(c)
		return
	}
	rep.State, rep.Heard = Online, r.Now()
	r.countGood()
	r.s.Log('*', "Synchronization with replica %s succeeded", r.name(c))
}

const filePiece = 64 << 10

// fileEnded makes the members get the file (replication.c: updateSlavesWaitingBgsave).
func (r *replicas) fileEnded(y *fullSync, err error) {
	if !y.joined {
		y.ended, y.err = true, err
		return
	}
	r.sync = nil
	if err != nil {
		r.fail(y, err)
		return
	}
	for _, c := range y.members {
		if c.Closed {
			continue
		}
		f, err := r.s.Persist.Disk.Open(r.s.Persist.Path())
		if err == nil {
			ReplicaOf(c).left, err = f.Size()
		}
		if err != nil {
			r.s.Log('#', "SYNC failed. Can't open/stat DB after BGSAVE: %v", err)
			r.s.CloseClient(c)
			continue
		}
		ReplicaOf(c).file, ReplicaOf(c).State = f, getsFile
		r.tell(c, "$%d\r\n", ReplicaOf(c).left)
	}
}

// handFile hands over the next pieces of the file that a replica gets (replication.c: sendBulkToSlave).
func (r *replicas) handFile(c *server.Client) {
	rep := ReplicaOf(c)
	for rep.left > 0 && c.Out.RefLen < handMost {
		piece := rep.handed.written(c.Out.RefLen)
		if piece == nil {
			piece = make([]byte, filePiece)
		}
		piece = piece[:min(filePiece, rep.left)]
		n, err := io.ReadFull(rep.file, piece)
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("premature EOF")
			}
			r.s.Log('#', "Read error sending DB to replica: %v", err)
			r.s.CloseClient(c)
			return
		}
		rep.left -= int64(n)
		r.refer(c, trace.FedKeys, piece)
		rep.handed.add(piece)
	}
	rep.more = rep.left > 0
	if rep.left == 0 && c.Unsent() == 0 {
		_ = rep.file.Close() // it was only read
		rep.file, rep.handed = nil, handed{}
		r.putOnline(c)
		if rep.State == Online {
			r.handTo(c)
		}
		return
	}
	rep.more = true // at the end, too: then it goes online
}

// removeFile removes the file of a full synchronization, with rdb-del-sync-files (replication.c:
// removeRDBUsedToSyncReplicas).
func (r *replicas) removeFile() {
	p := r.s.Persist
	if !r.s.Cfg.RDBDelSyncFiles {
		r.leftFile = false
	}
	if !r.leftFile || !p.IsOff() || r.sync != nil {
		return
	}
	for _, c := range r.All {
		if ReplicaOf(c).State == waitsForStart || ReplicaOf(c).State == getsFile {
			return
		}
	}
	r.leftFile = false
	r.s.Log('*', "Removing the RDB file used to feed replicas in a persistence-less instance")
	if err := p.Disk.Remove(p.Path()); err != nil {
		r.s.Log('#', "Can't remove %s: %v", p.Path(), err)
	}
}
