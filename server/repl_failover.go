package server

import (
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// failover is FAILOVER: a master hands its role over to a replica, and nothing is lost (replication.c:
// failoverCommand).
//
//	waitsForSync   writes are held back, until a replica has told that it has everything
//	handsOver      this server follows the replica, and asks it by PSYNC ID offset FAILOVER to be the master
//
// The pause ends with the reply to PSYNC. Then the writes that were held back get READONLY.
type failover struct {
	s     *Role
	state failoverState
	host  string // of the replica, "" for any
	port  int64
	force bool  // hand over even if the replica lacks something, when the time is over
	until int64 // ns, by Clock.Timeline; 0 for no limit
	timer *reactor.Timer
}

// failoverState is how far a failover is, as INFO has it.
type failoverState uint8

const (
	noFailover failoverState = iota
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
	errFailingOver      store.Error = "ERR REPLICAOF not allowed while failing over."
	errNoSync           store.Error = "NOMASTERLINK Can't SYNC while failing over"
	errNotMaster        store.Error = "ERR PSYNC FAILOVER can't be sent to a master."
	errOtherHistory     store.Error = "ERR PSYNC FAILOVER replid must match my replid."
)

// FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds] (replication.c: failoverCommand)
func (v *failover) failoverCommand(c *command.Call) error {
	if len(c.Args) == 2 && is(c.Args[1], "abort") {
		if v.state == noFailover {
			return errNoFailover
		}
		v.abort("Failover manually aborted")
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
	v.host, v.port, v.force, v.state = want.host, want.port, want.force, waitsForSync
	if v.host != "" {
		v.s.Log('*', "FAILOVER requested to %s:%d.", v.host, v.port)
	} else {
		v.s.Log('*', "FAILOVER requested to any replica.")
	}
	if ms > 0 {
		v.until = v.s.Replicas.now() + ms*int64(time.Millisecond)
		v.timer = v.s.at(v.until, func() { v.timer = nil }) // advance looks at the time
	}
	v.s.pausing.begin(byFailover, command.PausesWrites, forever)
	c.OK()
	return nil
}

// parseFailover reads what FAILOVER asks for.
func parseFailover(args [][]byte) (want failover, ms int64, err error) {
	for ; len(args) > 0; args = args[1:] {
		var ok bool
		switch {
		case is(args[0], "timeout") && len(args) > 1 && ms == 0:
			if ms, ok = ascii.ParseInt(args[1]); !ok {
				return want, 0, store.ErrNotInt
			}
			if ms <= 0 {
				return want, 0, errFailoverTimeout
			}
			args = args[1:]
		case is(args[0], "to") && len(args) > 2 && want.host == "":
			if want.port, ok = ascii.ParseInt(args[2]); !ok {
				return want, 0, store.ErrNotInt
			}
			want.host = string(args[1])
			args = args[2:]
		case is(args[0], "force") && !want.force:
			want.force = true
		default:
			return want, 0, errSyntax
		}
	}
	return want, ms, nil
}

// check says why a failover cannot begin.
func (v *failover) check(want *failover, ms int64) error {
	r := &v.s.Replicas
	switch {
	case v.state != noFailover:
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
	case ReplicaOf(target).state != online:
		return errFailoverOffline
	}
	return nil
}

// find returns the replica with an address (replication.c: findReplica).
func (r *replicas) find(host string, port int64) *Client {
	for _, c := range r.All {
		if !c.Closed && ReplicaOf(c).port == port && strings.EqualFold(ReplicaOf(c).host(c), host) {
			return c
		}
	}
	return nil
}

// advance begins to hand over when a replica has everything, or when the time is over. All commands of the pass are
// executed (replication.c: updateFailoverStatus).
func (v *failover) advance() {
	if v.state != waitsForSync {
		return
	}
	if v.until != 0 && v.s.Replicas.now() >= v.until {
		if !v.force {
			v.abort("Replica never caught up before timeout")
			return
		}
		v.s.Log('*', "FAILOVER to %s:%d time out exceeded, failing over.", v.host, v.port)
		v.handOver()
		return
	}
	for _, c := range v.s.Replicas.All {
		rep := ReplicaOf(c)
		if c.Closed || rep.state != online || rep.Acked != v.s.Replicas.Stream.Offset {
			continue
		}
		if v.host == "" || c == v.s.Replicas.find(v.host, v.port) {
			v.host, v.port = rep.host(c), rep.port
			v.s.Log('*', "Failover target %s:%d is synced, failing over.", v.host, v.port)
			v.handOver()
			return
		}
	}
}

// handOver makes this server a replica of the target.
func (v *failover) handOver() {
	v.state = handsOver
	v.s.Follow.follow(v.host, int(v.port))
}

// done ends the failover: the target has become the master.
func (v *failover) done() {
	if v.state == noFailover {
		return
	}
	if v.timer != nil {
		v.s.timers.Cancel(v.timer)
	}
	*v = failover{s: v.s}
	v.s.pausing.end(byFailover)
}

// refused ends the failover, because the target does not become the master.
func (v *failover) refused() {
	if v.state == handsOver {
		v.abort("Failover target rejected psync request")
	}
}

// abort ends the failover, and this server stays the master (replication.c: abortFailover).
func (v *failover) abort(why string) {
	if v.host != "" {
		v.s.Log('*', "FAILOVER to %s:%d aborted: %s", v.host, v.port, why)
	} else {
		v.s.Log('*', "FAILOVER to any replica aborted: %s", why)
	}
	if v.state == handsOver {
		v.s.Follow.promote()
	}
	v.done()
}

// takeOver makes this server the master, because its master asks for that by PSYNC ID offset FAILOVER.
func (v *failover) takeOver(c *command.Call) error {
	s := v.s
	s.Log('*', "Failover request received for replid %s.", c.Args[1])
	switch {
	case s.Replicas.isTop():
		return errNotMaster
	case !strings.EqualFold(string(c.Args[1]), s.Replicas.Stream.ID):
		return errOtherHistory
	case c.Sess.Index >= 0 && ReplicaOf(s.Running) != nil && s.Link.Refuses(s.Running) != nil:
		return s.Link.Refuses(s.Running) // before the promotion: the refusal makes the other server a master again
	}
	s.Follow.promote()
	s.Log('*', "MASTER MODE enabled (failover request from '%s')", s.Clients.describe(s.Clients.of(c.Sess)))
	return nil
}

// pings reports whether the stream gets its PING. During a failover with a time limit the offset has to stand still.
func (r *replicas) pings() bool { return r.isTop() && r.s.failover.until == 0 }
