package repl

import (
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// Failover is FAILOVER: a master hands its role over to a replica, and nothing is lost (replication.c:
// failoverCommand).
//
//	waitsForSync   writes are held back, until a replica has told that it has everything
//	handsOver      this server follows the replica, and asks it by PSYNC ID offset FAILOVER to be the master
//
// The pause ends with the reply to PSYNC. Then the writes that were held back get READONLY.
type Failover struct {
	S     *Role
	State failoverState
	host  string // of the replica, "" for any
	port  int64
	force bool  // hand over even if the replica lacks something, when the time is over
	until int64 // ns, by Clock.Timeline; 0 for no limit
	timer *reactor.Timer
}

// failoverState is how far a failover is, as INFO has it.
type failoverState uint8

const (
	NoFailover failoverState = iota // none is under way
	waitsForSync
	handsOver
)

// String is the state as INFO has it (replication.c: getFailoverStateString).
func (st failoverState) String() string {
	return [...]string{"no-failover", "waiting-for-sync", "failover-in-progress"}[st]
}

const (
	errNoFailover       store.Error = "ERR No failover in progress."
	errFailoverTimeout  store.Error = "ERR FAILOVER timeout must be greater than 0"
	errFailoverTwice    store.Error = "ERR FAILOVER already in progress."
	errFailoverReplica  store.Error = "ERR FAILOVER is not valid when server is a replica."
	errFailoverAlone    store.Error = "ERR FAILOVER requires connected replicas."
	errFailoverForce    store.Error = "ERR FAILOVER with force option requires both a timeout and target HOST and IP."
	errFailoverNoTarget store.Error = "ERR FAILOVER target HOST and PORT is not a replica."
	errFailoverOffline  store.Error = "ERR FAILOVER target replica is not online."
	errFailoverCluster  store.Error = "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead."
	errFailingOver      store.Error = "ERR REPLICAOF not allowed while failing over."
	errNoSync           store.Error = "NOMASTERLINK Can't SYNC while failing over"
	errNotMaster        store.Error = "ERR PSYNC FAILOVER can't be sent to a master."
	errOtherHistory     store.Error = "ERR PSYNC FAILOVER replid must match my replid."
)

// FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds] (replication.c: failoverCommand)
func (v *Failover) failoverCommand(c *command.Call) error {
	if v.S.Cfg.ClusterEnabled {
		return errFailoverCluster
	}
	if len(c.Args) == 2 && ascii.EqualFold(c.Args[1], "abort") {
		if v.State == NoFailover {
			return errNoFailover
		}
		v.Abort("Failover manually aborted")
		c.OK()
		return nil
	}
	want, ms, err := parseFailover(c.Args[1:])
	if err != nil {
		return err
	}
	if err := v.check(&want, ms); err != nil {
		return err
	}
	v.begin(&want, ms)
	c.OK()
	return nil
}

// HandOver makes the replica with an address the master, once it has everything. After ms milliseconds without that
// this server stays the master (cluster.c: clusterSendMFStart). It does nothing if a failover is under way already, or
// if no such replica is there.
func (v *Failover) HandOver(host string, port int, ms int64) {
	if want := (Failover{host: host, port: int64(port)}); v.check(&want, ms) == nil {
		v.begin(&want, ms)
	}
}

// begin holds back writes until the replica has everything.
func (v *Failover) begin(want *Failover, ms int64) {
	v.host, v.port, v.force, v.State = want.host, want.port, want.force, waitsForSync
	if v.host != "" {
		v.S.Log('*', "FAILOVER requested to %s:%d.", v.host, v.port)
	} else {
		v.S.Log('*', "FAILOVER requested to any replica.")
	}
	if ms > 0 {
		v.until = v.S.Replicas.Now() + ms*int64(time.Millisecond)
		v.timer = v.S.At(v.until, func() { v.timer = nil }) // advance looks at the time
	}
	v.S.Pausing.Begin(server.ByFailover, command.PausesWrites, server.Forever)
}

// parseFailover reads what FAILOVER asks for.
func parseFailover(args [][]byte) (want Failover, ms int64, err error) {
	for ; len(args) > 0; args = args[1:] {
		var ok bool
		switch {
		case ascii.EqualFold(args[0], "timeout") && len(args) > 1 && ms == 0:
			if ms, ok = ascii.ParseInt(args[1]); !ok {
				return want, 0, store.ErrNotInt
			}
			if ms <= 0 {
				return want, 0, errFailoverTimeout
			}
			args = args[1:]
		case ascii.EqualFold(args[0], "to") && len(args) > 2 && want.host == "":
			if want.port, ok = ascii.ParseInt(args[2]); !ok {
				return want, 0, store.ErrNotInt
			}
			want.host = string(args[1])
			args = args[2:]
		case ascii.EqualFold(args[0], "force") && !want.force:
			want.force = true
		default:
			return want, 0, server.ErrSyntax
		}
	}
	return want, ms, nil
}

// check says why a failover cannot begin.
func (v *Failover) check(want *Failover, ms int64) error {
	r := &v.S.Replicas
	switch {
	case v.State != NoFailover:
		return errFailoverTwice
	case !r.isTop():
		return errFailoverReplica
	case len(r.All) == 0:
		return errFailoverAlone
	case want.force && (ms == 0 || want.host == ""):
		return errFailoverForce
	case want.host == "":
		return nil
	}
	switch target := r.find(want.host, want.port); {
	case target == nil:
		return errFailoverNoTarget
	case ReplicaOf(target).State != Online:
		return errFailoverOffline
	}
	return nil
}

// find returns the replica with an address (replication.c: findReplica).
func (r *replicas) find(host string, port int64) *server.Client {
	for _, c := range r.All {
		if !c.Closed && ReplicaOf(c).Port == port && strings.EqualFold(ReplicaOf(c).host(c), host) {
			return c
		}
	}
	return nil
}

// advance begins to hand over when a replica has everything, or when the time is over. All commands of the pass are
// executed (replication.c: updateFailoverStatus).
func (v *Failover) advance() {
	if v.State != waitsForSync {
		return
	}
	if v.until != 0 && v.S.Replicas.Now() >= v.until {
		if !v.force {
			v.Abort("Replica never caught up before timeout")
			return
		}
		v.S.Log('*', "FAILOVER to %s:%d time out exceeded, failing over.", v.host, v.port)
		v.handOver()
		return
	}
	for _, c := range v.S.Replicas.All {
		rep := ReplicaOf(c)
		if c.Closed || rep.State != Online || rep.Acked != v.S.Replicas.Stream.Offset {
			continue
		}
		if v.host == "" || c == v.S.Replicas.find(v.host, v.port) {
			v.host, v.port = rep.host(c), rep.Port
			v.S.Log('*', "Failover target %s:%d is synced, failing over.", v.host, v.port)
			v.handOver()
			return
		}
	}
}

// handOver makes this server a replica of the target.
func (v *Failover) handOver() {
	v.State = handsOver
	v.S.Follow.Follow(v.host, int(v.port))
}

// done ends the failover: the target has become the master.
func (v *Failover) done() {
	if v.State == NoFailover {
		return
	}
	if v.timer != nil {
		v.S.Timers.Cancel(v.timer)
	}
	*v = Failover{S: v.S}
	v.S.Pausing.End(server.ByFailover)
}

// refused ends the failover, because the target does not become the master.
func (v *Failover) refused() {
	if v.State == handsOver {
		v.Abort("Failover target rejected psync request")
	}
}

// Abort ends the failover, and this server stays the master (replication.c: abortFailover).
func (v *Failover) Abort(why string) {
	if v.host != "" {
		v.S.Log('*', "FAILOVER to %s:%d aborted: %s", v.host, v.port, why)
	} else {
		v.S.Log('*', "FAILOVER to any replica aborted: %s", why)
	}
	if v.State == handsOver {
		v.S.Follow.Promote()
	}
	v.done()
}

// takeOver makes this server the master, because its master asks for that by PSYNC ID offset FAILOVER.
func (v *Failover) takeOver(c *command.Call) error {
	s := v.S
	s.Log('*', "Failover request received for replid %s.", c.Args[1])
	switch {
	case s.Replicas.isTop():
		return errNotMaster
	case !strings.EqualFold(string(c.Args[1]), s.Replicas.Stream.ID):
		return errOtherHistory
	case c.Sess.Index >= 0 && ReplicaOf(s.Running) != nil && s.Link.Refuses(s.Running) != nil:
		return s.Link.Refuses(s.Running) // before the promotion: the refusal makes the other server a master again
	}
	s.Follow.Promote()
	s.Log('*', "MASTER MODE enabled (failover request from '%s')", s.Clients.Describe(s.Clients.Of(c.Sess)))
	return nil
}

// pings reports whether the stream gets its PING. During a failover with a time limit the offset has to stand still.
func (r *replicas) pings() bool { return r.isTop() && r.s.Failover.until == 0 }
