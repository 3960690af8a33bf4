package sentinel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/sentinel"
)

// node is a data node of a world: just what INFO says of it.
type node struct {
	addr     sentinel.Addr
	follows  sentinel.Addr // the zero Addr for a master
	priority int
	offset   int
	isDown   bool
}

// world has nodes and Sentinels, and a network that can be cut between any two of them.
type world struct {
	t         testing.TB
	now       int64
	nodes     []*node
	sentinels []*sentinel.Sentinel
	next      []int64
	cut       map[[2]sentinel.Addr]bool
	dead      map[string]bool // IDs of Sentinels
	events    []string        // what the Sentinels told, with their place
	epochs    map[int]string  // the last that each Sentinel told of
	tried     map[int]string  // the epoch of its own failover
	leaders   map[string]string
}

func addr(port int) sentinel.Addr { return sentinel.Addr{Host: "127.0.0.1", Port: port} }

func newWorld(t testing.TB, replicas, sentinels int, seed uint64) *world {
	w := &world{t: t, now: 1_000_000, cut: map[[2]sentinel.Addr]bool{}, dead: map[string]bool{},
		leaders: map[string]string{},
		epochs:  map[int]string{}, tried: map[int]string{}}
	for i := range 1 + replicas {
		n := &node{addr: addr(7001 + i), priority: 100, offset: 50}
		if i > 0 {
			n.follows = addr(7001)
		}
		w.nodes = append(w.nodes, n)
	}
	for i := range sentinels {
		s := sentinel.New(fmt.Sprintf("%040d", i+1), addr(26001+i), w.now, seed+uint64(i))
		m := s.Watch("mymaster", addr(7001), int64(sentinels/2+1))
		for _, n := range w.nodes[1:] {
			s.AddReplica(m, n.addr)
		}
		for j := range sentinels {
			if j != i {
				s.AddOther(m, fmt.Sprintf("%040d", j+1), addr(26001+j))
			}
		}
		w.sentinels = append(w.sentinels, s)
		w.next = append(w.next, w.now+int64(i*33))
	}
	return w
}

// run lets time pass.
func (w *world) run(ms int64) {
	for end := w.now + ms; ; {
		i := 0
		for j := range w.next {
			if w.next[j] < w.next[i] {
				i = j
			}
		}
		if w.next[i] > end {
			w.now = end
			return
		}
		w.now = max(w.now, w.next[i])
		s := w.sentinels[i]
		if w.dead[s.ID] {
			w.next[i] = end + 1
			continue
		}
		s.Tick(w.next[i])
		w.settle(i)
		w.next[i] = s.Next()
	}
}

// settle makes the calls of a Sentinel, until it has no more.
func (w *world) settle(i int) {
	s := w.sentinels[i]
	for {
		events, calls := s.Take()
		for _, e := range events {
			w.note(i, s, e)
		}
		if len(calls) == 0 {
			return
		}
		for _, c := range calls {
			w.call(s, c)
		}
	}
}

// note checks what must never happen: two leaders of one epoch.
func (w *world) note(i int, s *sentinel.Sentinel, e sentinel.Event) {
	w.events = append(w.events, fmt.Sprintf("%d %s %s", i+1, e.Type, e.Text))
	switch {
	case e.Type == "+new-epoch":
		w.epochs[i] = e.Text
	case e.Type == "+try-failover":
		w.tried[i] = w.epochs[i]
	case e.Type == "+elected-leader":
		require.Empty(w.t, w.leaders[w.tried[i]], "epoch %s has two leaders", w.tried[i])
		w.leaders[w.tried[i]] = s.ID
	}
}

func (w *world) call(s *sentinel.Sentinel, c sentinel.Call) {
	if w.cut[[2]sentinel.Addr{s.Addr, c.Addr}] {
		return
	}
	if c.To.Kind == sentinel.Other {
		w.callSentinel(s, c)
		return
	}
	n := w.node(c.Addr)
	if n.isDown {
		s.Refused(c)
		return
	}
	if c.Follow != nil {
		n.follows = *c.Follow
	}
	if c.Ping {
		s.Ponged(c, "PONG")
	}
	if c.Info {
		s.Informed(c, w.info(n))
	}
	if c.Hello != "" {
		for _, other := range w.sentinels {
			if !w.cut[[2]sentinel.Addr{other.Addr, n.addr}] && !w.dead[other.ID] {
				other.Heard(c.Hello)
			}
		}
	}
}

func (w *world) callSentinel(s *sentinel.Sentinel, c sentinel.Call) {
	other := w.sentinels[c.Addr.Port-26001]
	if w.dead[other.ID] {
		s.Refused(c)
		return
	}
	if c.Ping {
		s.Ponged(c, "PONG")
	}
	if c.Hello != "" {
		other.Heard(c.Hello)
	}
	if c.Down != nil {
		isDown, leader, epoch := other.IsDown(*c.Down)
		if leader == "" {
			leader = "*"
		}
		s.Replied(c, isDown, leader, epoch)
	}
}

func (w *world) node(at sentinel.Addr) *node {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *node) bool { return n.addr == at })]
}

func (w *world) info(n *node) string {
	lines := []string{fmt.Sprintf("run_id:%040d", n.addr.Port)}
	if n.follows != (sentinel.Addr{}) {
		status, since := "up", []string(nil)
		if master := w.node(n.follows); master.isDown {
			status, since = "down", []string{"master_link_down_since_seconds:1"}
		}
		lines = append(lines, "role:slave", "master_host:"+n.follows.Host, fmt.Sprintf("master_port:%d", n.follows.Port),
			"master_link_status:"+status)
		lines = append(lines, since...)
		lines = append(lines, fmt.Sprintf("slave_repl_offset:%d", n.offset), fmt.Sprintf("slave_priority:%d", n.priority),
			"replica_announced:1")
		return strings.Join(lines, "\r\n")
	}
	lines = append(lines, "role:master")
	for i, other := range w.nodes {
		if other.follows == n.addr && !other.isDown {
			lines = append(lines, fmt.Sprintf("slave%d:ip=%s,port=%d,state=online,offset=1,lag=0", i, other.addr.Host,
				other.addr.Port))
		}
	}
	return strings.Join(lines, "\r\n")
}

// believes returns the port of the master that each Sentinel believes in.
func (w *world) believes() (ports []int) {
	for _, s := range w.sentinels {
		ports = append(ports, s.Master("mymaster").MasterAddr().Port)
	}
	return ports
}

func (w *world) told(what string) (all []string) {
	for _, e := range w.events {
		if strings.Contains(e, " "+what) {
			all = append(all, e)
		}
	}
	return all
}

// disturb makes one random thing happen. SENTINEL FAILOVER is not among them: it asks nobody, so that two
// configurations of one epoch are possible, as in Redis.
func (w *world) disturb(r *rand.Rand) {
	n := w.nodes[r.IntN(len(w.nodes))]
	s := w.sentinels[r.IntN(len(w.sentinels))]
	switch r.IntN(8) {
	case 0, 1:
		n.isDown = true
	case 2, 3:
		n.isDown = false
	case 4:
		w.cut[[2]sentinel.Addr{s.Addr, n.addr}] = true
	case 5:
		other := w.sentinels[r.IntN(len(w.sentinels))]
		w.cut[[2]sentinel.Addr{s.Addr, other.Addr}], w.cut[[2]sentinel.Addr{other.Addr, s.Addr}] = true, true
	case 6:
		clear(w.cut)
	case 7:
		w.dead[s.ID] = !w.dead[s.ID]
	}
}

// heal ends all that is wrong.
func (w *world) heal() {
	clear(w.cut)
	clear(w.dead)
	for i, n := range w.nodes {
		n.isDown = false
		n.offset += i
	}
	for i := range w.next {
		w.next[i] = w.now + int64(i*33)
	}
}
