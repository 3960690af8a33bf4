package repl

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// following is what makes a server a replica. Its files are follow*.go. Package follow has the conversation with
// the master, this one has its socket, the keys and the clock:
//
//	handlers      the socket is readable, or connected: noted       follow_link.go
//	timer         a second has passed: noted
//	executePhase  advance: read, execute, load, acknowledge         follow_stream.go, follow_sync.go
//
// So everything that a master causes happens where commands are executed, between those of clients.
type following struct {
	s    *Role
	Host string // of the master, "" if this server is a master
	Port int

	// What is executed is the history of replicas.Stream: its ID, and its offset.
	Known   bool   // the master may go on after it (server.h: cached_master)
	db      int    // that the stream has selected
	partial []byte // of the stream: a transaction whose end has not come

	own ownKeys

	Link      *link    // nil between two connections
	Sync      *syncing // a full synchronization under way, or nil
	timer     *reactor.Timer
	asking    *asking        // for the address of the master, or nil
	computing sync.WaitGroup // for the handshakes of TLS, and for asking
	ticked    bool           // the timer has fired
	downSince int64          // unix seconds, 0 if there was no link since it became a replica
	warned    int64          // monotonic ns, when the log was told of writes that are not on the disk
}

// replPeriod is how often a replica acknowledges, and looks at its link (replication.c: replicationCron).
const replPeriod = time.Second

func followRows() []command.Row {
	const flags = command.Admin | command.NoScript | command.Stale | command.NoAsyncLoading
	const syntax = "(args: (host-port: host port:integer) | (no-one: NO ONE))"
	return []command.Row{
		server.Row("replicaof", syntax,
			3, flags, "server", "5.0.0",
			"O(1)",
			"Makes this server a replica of another one, or a master.", (*following).replicaOf),
		server.Row("slaveof", syntax,
			3, flags, "server", "1.0.0",
			"O(1)",
			"Does the same as REPLICAOF, under its old name.", (*following).replicaOf),
	}
}

const (
	errReplicaFollows store.Error = "ERR Command is not valid when client is a replica."

	errClusterRole store.Error = "ERR REPLICAOF not allowed in cluster mode."
	errMasterPort  store.Error = "ERR Invalid master port"
	errOwnMaster   store.Error = "ERR REPLICAOF refused: this is the server itself"
	errBubbleLink  store.Error = "ERR REPLICAOF leads out of the bubble of testing/synctest: only servers that were " +
		"started together reach each other there"
	alreadyFollows = "OK Already connected to specified master"
)

// REPLICAOF host port | NO ONE (replication.c: replicaofCommand)
// SLAVEOF host port | NO ONE (replication.c: replicaofCommand)
func (f *following) replicaOf(c *command.Call) error {
	by := f.s.Clients.Describe(f.s.Clients.Of(c.Sess))
	switch {
	case f.s.Cfg.ClusterEnabled:
		return errClusterRole
	case f.s.Failover.State != NoFailover:
		return errFailingOver
	}
	if ascii.EqualFold(c.Args[1], "no") && ascii.EqualFold(c.Args[2], "one") {
		if f.Host != "" {
			f.Promote()
			f.s.Log('*', "MASTER MODE enabled (user request from '%s')", by)
		}
		c.OK()
		return nil
	}
	port, ok := ascii.ParseInt(c.Args[2])
	host := string(c.Args[1])
	switch {
	case c.Sess.Replica || c.Sess.Monitor:
		return errReplicaFollows
	case !ok || port < 0 || port > server.MaxPort:
		return errMasterPort
	case f.s.Bubble != nil && !f.isSelf(host, int(port)) && PeerAt(f.s, host, int(port)) == nil:
		return errBubbleLink
	case f.Host != "" && strings.EqualFold(f.Host, host) && f.Port == int(port):
		f.s.Log('*', "REPLICAOF would result into synchronization with the master we are already connected with. "+
			"No operation performed.")
		c.Status(alreadyFollows)
		return nil
	case f.isSelf(host, int(port)):
		return errOwnMaster
	}
	f.Follow(host, int(port))
	f.s.Log('*', "REPLICAOF %s:%d enabled (user request from '%s')", host, port, by)
	c.OK()
	return nil
}

// Start obeys the directive replicaof.
func (f *following) Start() error {
	host, port, ok := strings.Cut(f.s.Cfg.ReplicaOf, " ")
	n, err := strconv.Atoi(port)
	switch {
	case !ok || err != nil || f.Host != "":
		return nil
	case f.isSelf(host, n):
		return errOwnMaster
	case f.s.Bubble != nil && PeerAt(f.s, host, n) == nil:
		return errBubbleLink
	}
	known, db := f.Known, f.db // from the file
	f.Follow(host, n)
	f.Known, f.db = known, db
	return nil
}

// Follow makes the server a replica. Replicas of its own stay: they go on if this server can (replication.c:
// replicationSetMaster).
func (f *following) Follow(host string, port int) {
	f.leave()
	if f.Host == "" {
		f.s.Link.Demoted(port)
		f.timer = f.s.Loop.After(replPeriod, f.tick)
		f.s.Replicas.demote()
		f.Known, f.db = true, 0 // the new master begins with SELECT
		f.doubtExec()
	}
	f.endWaits()
	f.Host, f.Port = host, port
	f.s.Cfg.ReplicaOf = host + " " + strconv.Itoa(port)
	f.configure()
	f.s.Replicas.countGood()
	f.s.Log('*', "Connecting to MASTER %s:%d", host, port)
	f.connect()
}

// doubtExec forgets the place in the stream if the EXEC that changes the role changes keys, too. No stream has these
// changes.
func (f *following) doubtExec() {
	ex := f.s.Ex
	if ex.Depth == 0 {
		return
	}
	f.Known = !ex.HasHalf()
	dirty := f.s.KS.Stats.Dirty
	f.s.Deferred = append(f.s.Deferred, func() { f.Known = f.Known && f.s.KS.Stats.Dirty == dirty })
}

// Promote makes the server a master. Its data go on with a new ID. The old one counts up to here (replication.c:
// replicationUnsetMaster).
func (f *following) Promote() {
	f.leave()
	f.s.Loop.Cancel(f.timer)
	f.s.Link.Promoted()
	f.Host, f.s.Cfg.ReplicaOf, f.Known, f.downSince = "", "", false, 0
	f.s.Replicas.takeOver()
	f.configure()
	f.s.Replicas.countGood()
}

// leave ends the link for good. What came of a full synchronization is thrown away.
func (f *following) leave() {
	f.stopAsking()
	f.abortSync()
	if f.Link != nil {
		f.hangUp()
	}
}

// Stop makes the server what it was before start, for LAB CRASH.
func (f *following) Stop() {
	if f.Host == "" {
		return
	}
	f.leave()
	f.s.Loop.Cancel(f.timer)
	f.Host, f.Known, f.db, f.downSince = "", false, 0, 0
	f.configure()
}

// Diverge makes the link begin anew: a lab has put other keys in place of those of the master.
func (f *following) Diverge() {
	f.forget()
	if f.Host != "" {
		f.leave()
	}
}

// forget makes the next synchronization a full one, of this server and of its replicas: the data are not those of the
// stream any more (replication.c: replicationAttachToNewMaster).
func (f *following) forget() {
	f.Known = false
	f.s.Replicas.reset()
}

// configure tells the executor what a replica may do.
func (f *following) configure() {
	cfg, r, follows := f.s.Cfg, &f.s.Ex.Refusals, f.Host != ""
	r.Set(command.IsReplica, follows)
	r.Set(command.ReadOnlyReplica, follows && cfg.ReplicaReadOnly)
	r.Set(command.StaleReplica, follows && !cfg.ReplicaServeStaleData && !f.IsUp())
	if follows && !cfg.ReplicaReadOnly {
		f.s.Ex.Propagation.OnChange(f.remember)
	} else {
		f.s.Ex.Propagation.OnChange(nil)
	}
	if !follows {
		f.forgetOwn()
	}
}

// IsUp reports whether the stream comes in (server.h: REPL_STATE_CONNECTED).
func (f *following) IsUp() bool { return f.Link != nil && f.Link.Client != nil }

// tick notes that a second has passed. It is a timer.
func (f *following) tick() (again time.Duration) {
	f.ticked = true
	return replPeriod
}

// end is leave when the server has ended. A client frees the socket that it has.
func (f *following) end() {
	f.stopAsking()
	f.abortSync()
	if f.Link != nil && f.Link.Client == nil {
		f.hangUp()
	}
	f.Link = nil
	f.computing.Wait()
}

// endWaits ends the waits of all blocked clients, and closes them after the reply. Who waits for a lab waits on.
func (f *following) endWaits() {
	for _, c := range f.s.Clients.ByAge() {
		if c.Sess.Hold == command.Blocked && !f.s.Link.WaitsOn(c) {
			f.s.Ex.Unblock(&c.Sess, command.ErrRoleChanged)
			c.Sess.CloseAfterReply = true
		}
	}
}

// role is what ROLE says of a replica.
func (f *following) role(c *command.Call) {
	c.Array(5)
	c.BulkString("slave")
	c.BulkString(f.Host)
	c.Int(int64(f.Port))
	c.BulkString(f.State())
	if f.IsUp() {
		c.Int(f.s.Replicas.Stream.Offset)
	} else {
		c.Int(-1)
	}
}

// State is the name of what the link does.
func (f *following) State() string {
	switch {
	case f.Link == nil && f.Sync == nil:
		return "connect"
	case f.Sync != nil:
		return "sync"
	case f.Link.Client != nil:
		return "connected"
	case f.Link.Talk == nil:
		return "connecting"
	}
	return "handshake"
}
