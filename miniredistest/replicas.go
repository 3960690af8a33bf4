package miniredistest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
)

// Replicas gives each server n replicas. They follow it by Redis's protocol, also in a bubble. Each has a clock, a log
// and an address of its own:
//
//	srv := miniredistest.Run(t, miniredistest.Replicas(2))
//	srv.Hold()                                           // the stream stands still
//	lock.Acquire("order:42", 30*time.Second)             // the replicas do not get it
//	promoted := srv.Failover()
//	promoted.AssertNone("order:42")                      // and a second client gets the lock
//
// When Run returns, all replicas are connected.
func Replicas(n int) Option { return Config("--replicas", strconv.Itoa(n)) }

// namesOf returns what messages call the servers: nothing, if there is only one.
func namesOf(cfg *config.Config) []string {
	if cfg.Servers() == 1 {
		return []string{""}
	}
	var names []string
	for n := 1; n <= cfg.Servers(); n++ {
		switch of := cfg.MasterOf(n); {
		case n > cfg.Nodes():
			names = append(names, fmt.Sprintf("sentinel %d: ", n-cfg.Nodes()))
		case of == n:
			names = append(names, fmt.Sprintf("master %d: ", n))
		case cfg.Masters == 1:
			names = append(names, fmt.Sprintf("replica %d: ", n-1))
		default:
			names = append(names, fmt.Sprintf("replica %d of master %d: ", (n-cfg.Masters-1)%cfg.Replicas+1, of))
		}
	}
	return names
}

// connectMost is how long the replicas may take to connect.
const connectMost = time.Minute

// awaitReplicas waits until all replicas have the data of their masters. Their logs begin then.
func (in *process) awaitReplicas() {
	for i, s := range in.nodes {
		s.t.Helper()
		replicas := s.Nodes()[1:]
		if in.master(i) != i || len(replicas) == 0 {
			continue
		}
		if got := s.lab("REPLICATION", "WAIT", millis(connectMost)).Int; got < int64(len(replicas)) {
			s.t.Fatalf("miniredistest: only %d of %d replicas follow %s", got, len(replicas), s.name)
		}
		for _, node := range s.Nodes() {
			node.ResetLog()
		}
	}
}

// master returns the place of the master to which a node belonged at the start.
func (in *process) master(i int) int {
	if in.away != nil {
		return i
	}
	return in.servers.MasterOf(i)
}

// Nodes returns the master and its replicas, as they were at the start. Their Clock moves them together.
func (s *Server) Nodes() (all Masters) {
	in := s.in
	for i := range in.nodes {
		if in.master(i) == in.master(s.place) {
			all = append(all, in.nodes[i])
		}
	}
	return all
}

// Replica returns a replica of the master, counted from 1. It stays the same server after a failover.
func (s *Server) Replica(n int) *Server {
	s.t.Helper()
	all := s.Nodes()
	if n < 1 || n >= len(all) {
		s.t.Fatalf("%sthere is no replica %d, only %d of them: see the option Replicas", s.name, n, len(all)-1)
	}
	return all[n]
}

// Port returns the port of the server. In a bubble it is only a name.
func (s *Server) Port() int { return s.port }

// Hold stops the stream of a master to all its replicas, or that of its master to a replica. What was executed before
// still arrives. Replicas do not acknowledge anything either.
func (s *Server) Hold() {
	s.t.Helper()
	s.lab("REPLICATION", "HOLD")
}

// Release ends Hold and Lag.
func (s *Server) Release() {
	s.t.Helper()
	s.lab("REPLICATION", "RELEASE")
}

// Lag makes the stream come late, by the clock of the master.
func (s *Server) Lag(by time.Duration) {
	s.t.Helper()
	s.lab("REPLICATION", "LAG", millis(by))
}

// Synced waits until the replicas of a master have everything that it has executed.
func (s *Server) Synced() {
	s.t.Helper()
	s.lab("REPLICATION", "WAIT")
}

// Failover makes the replica with the most data the master of the others, and returns it. The old master follows it,
// too: at once if other nodes reach it, else once they do.
func (s *Server) Failover() *Server {
	s.t.Helper()
	return s.nodeAt(int(s.lab("FAILOVER").Int))
}

// FailoverTo is Failover to a certain replica.
func (s *Server) FailoverTo(replica *Server) {
	s.t.Helper()
	s.lab("FAILOVER", "TO", strconv.Itoa(replica.Port()))
}

func (s *Server) nodeAt(port int) *Server {
	for _, other := range s.in.nodes {
		if other.Port() == port {
			return other
		}
	}
	return nil // never
}
