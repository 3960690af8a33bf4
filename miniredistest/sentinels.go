package miniredistest

import (
	"context"
	"net"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/resp"
)

// Sentinels starts n Sentinels. They watch the first master as "mymaster", a second one as "mymaster2", and so on:
//
//	srv := miniredistest.Run(t, miniredistest.Replicas(2), miniredistest.Sentinels(3))
//	client := redis.NewFailoverClient(&redis.FailoverOptions{
//		MasterName: "mymaster", SentinelAddrs: srv.SentinelAddrs(), Dialer: srv.Nodes().Dial,
//	})
//	lock.Acquire("order:42", 30*time.Second)
//	srv.Sentinel(3).Pause() // one Sentinel is late
//	promoted := srv.Failover()
//
// The clock of all nodes, srv.Nodes().Clock(), moves the Sentinels, too. In a bubble they look after the nodes while
// time passes: a test that waits for ever is not noticed.
func Sentinels(n int) Option { return Config("--sentinels", strconv.Itoa(n)) }

// Sentinel is one of the Sentinels of a server.
type Sentinel struct {
	s      *Server
	number string
}

// SentinelAddrs returns the addresses of all Sentinels.
func (s *Server) SentinelAddrs() []string { return s.in.sentinels.Addrs() }

// Sentinel returns a Sentinel, counted from 1.
func (s *Server) Sentinel(n int) *Sentinel {
	s.t.Helper()
	if n < 1 || n > len(s.in.sentinels) {
		s.t.Fatalf("%sthere is no Sentinel %d, only %d of them: see the option Sentinels", s.name, n, len(s.in.sentinels))
	}
	return &Sentinel{s.in.sentinels[n-1], strconv.Itoa(n)}
}

// Addr returns the address of the Sentinel as host:port.
func (n *Sentinel) Addr() string { return n.s.addr }

// Do executes a command of a Sentinel, as Server.Do does.
func (n *Sentinel) Do(args ...string) resp.Value {
	n.s.t.Helper()
	return n.s.Do(args...)
}

// Master returns the node that the Sentinel names as the master.
func (n *Sentinel) Master() *Server {
	n.s.t.Helper()
	at := n.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", n.s.s.Cfg.SentinelName).Elems
	port, _ := strconv.Atoi(at[1].Str)
	return n.s.nodeAt(port)
}

// Believe makes the Sentinel name another node as the master, until it hears of a newer configuration.
func (n *Sentinel) Believe(master *Server) {
	n.s.t.Helper()
	n.s.lab("SENTINEL", n.number, "BELIEVE", strconv.Itoa(master.Port()))
}

// Pause lets the Sentinel hear nothing. Its clients get the answers that it has.
func (n *Sentinel) Pause() {
	n.s.t.Helper()
	n.s.lab("SENTINEL", n.number, "PAUSE")
}

// Resume ends Pause.
func (n *Sentinel) Resume() {
	n.s.t.Helper()
	n.s.lab("SENTINEL", n.number, "RESUME")
}

// Nodes returns all masters and their replicas.
func (m Masters) Nodes() Masters { return m[0].in.nodes }

// all returns all servers of the process: masters, replicas and Sentinels.
func (in *process) all() Masters { return slices.Concat(in.nodes, in.sentinels) }

// Dial connects to the server that has the address: a master, a replica or a Sentinel that was started with these.
// Clients of a cluster or of Sentinels take it in a bubble, where Server.Dial would always reach the same server.
func (m Masters) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	for _, s := range m[0].in.all() {
		if s.addr == addr && s.InBubble() {
			return s.s.Dial()
		}
	}
	var d net.Dialer
	return d.DialContext(ctx, network, addr)
}
