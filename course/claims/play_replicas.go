package claims

import (
	"net"
	"strconv"
)

// The stories about replicas. Server 1 is the master, 2 and 3 are its replicas. A story is played once for each
// server whose recording counts.

// withReplicas is a story on a master with two replicas. watched is the server whose recording counts.
func withReplicas(name string, watched int, play func(*story), more ...string) act {
	return act{name, append([]string{"--replicas", "2"}, more...), func(s *story) {
		s.watched = watched
		s.lab("REPLICATION", "WAIT")
		play(s)
	}}
}

// port is the port of a server.
func (s *story) port(n int) string {
	_, port, err := net.SplitHostPort(s.servers.Addrs[n-1])
	s.check(err)
	return port
}

// failover makes server 3 the master. The others are out of reach.
func (s *story) failover() {
	s.labOf(1, "BLACKHOLE", "ON")
	s.labOf(2, "BLACKHOLE", "ON")
	s.labOf(3, "FAILOVER")
}

// playWait: replica 3 is slow. A takes the lock, and waits until one replica has it. Then the master and that replica
// fail. The second time, no replica gets the lock within the time of WAIT.
func playWait(s *story) {
	a := s.client("A")
	s.freeze()
	s.lab("REPLICATION", "HOLD", s.port(3))
	s.begin()
	a.lock("lock:a")
	a.do("WAIT", "1", "0")
	s.lab("REPLICATION", "HOLD")
	a.lock("lock:b")
	a.send("WAIT", "1", "100")
	a.arrive()
	s.advance(101)
	a.reply()
	a.do("GET", "lock:b")
	s.failover()
	s.clientOf(3, "B").lock("lock:a")
}

// playWaitForAll: A waits until both replicas have the lock.
func playWaitForAll(s *story) {
	a := s.client("A")
	s.freeze()
	s.begin()
	a.lock("lock:a")
	a.do("WAIT", "2", "0")
	s.failover()
	s.clientOf(3, "B").lock("lock:a")
}

// The directives of playOldMaster, and when A sends to the old master.
const (
	maxLag    = 10 // s
	stillGood = 5
	tooLate   = 11
)

// playOldMaster: the master is cut off from its replicas, and 2 is promoted. B takes the lock there. A takes it from
// the old master, and tries another one later.
func playOldMaster(s *story) {
	a := s.client("A")
	s.freeze()
	s.begin()
	a.lock("lock:first")
	s.lab("PARTITION", "CLIENT", "replica-*", "ON")
	s.labOf(2, "FAILOVER", "TO", s.port(2))
	s.labOf(2, "REPLICATION", "WAIT")
	s.clientOf(2, "B").lock("lock:a")
	s.advance(stillGood * 1000)
	a.lock("lock:a")
	s.advance((tooLate - stillGood) * 1000)
	a.lock("lock:late")
}

func oldMaster(name string, watched int) act {
	return withReplicas(name, watched, playOldMaster, "--min-replicas-to-write", "1", "--min-replicas-max-lag",
		strconv.Itoa(maxLag))
}

// playStaleRead: the stream stands still. A takes the lock, and C asks a replica, now and later.
func playStaleRead(s *story) {
	a, c := s.client("A"), s.clientOf(2, "C")
	s.freeze()
	s.begin()
	s.lab("REPLICATION", "HOLD")
	a.lock("lock:a")
	c.do("GET", "lock:a")
	s.lab("REPLICATION", "RELEASE")
	s.lab("REPLICATION", "WAIT")
	c.do("GET", "lock:a")
}
