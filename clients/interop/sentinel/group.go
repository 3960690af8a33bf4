package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// group is a master, its replicas, and the sentinels that watch them. Its nodes change their roles.
type group struct {
	dir       string
	servers   []*node
	sentinels []*node
	master    *node
}

const (
	masterName = "locks"

	replicas  = 2
	sentinels = 3
	quorum    = 2
	downAfter = 2 * time.Second // until a sentinel takes a silent server for down

	groupLimit    = 60 * time.Second // until all know each other
	failoverLimit = 90 * time.Second
	returnLimit   = 60 * time.Second
)

// The ways in which a master is lost.
const (
	killed = "killed" // SIGKILL; it is started again after the failover
	paused = "paused" // SIGSTOP, and SIGCONT after the failover
	cutOff = "cut"    // no byte goes in or out, until after the failover
)

// what is to be started.
type programs struct {
	server   string // miniredisd, redis-server or valkey-server
	sentinel string // redis-server or valkey-server
}

// startGroup starts all nodes in dir, and returns when they know each other. With proxied a server can be cut off.
func startGroup(dir string, p programs, proxied bool) (*group, error) {
	g := &group{dir: dir}
	err := errors.Join(g.startServers(p.server, proxied))
	if err == nil {
		err = g.startSentinels(p.sentinel)
	}
	if err == nil {
		err = until(groupLimit, "all sentinels know all others", g.settled)
	}
	if err != nil {
		err = errors.Join(err, g.logs())
		g.stop()
		return nil, err
	}
	return g, nil
}

func (g *group) startServers(binary string, proxied bool) error {
	for i := range 1 + replicas {
		n, err := newNode(g.dir, "server-"+strconv.Itoa(i), binary, []string{
			`save ""`, "enable-debug-command yes", "repl-diskless-sync-delay 0", "repl-backlog-size 64mb",
		})
		if err != nil {
			return err
		}
		if proxied {
			if n.proxy, err = newProxy(n.addr); err != nil {
				return err
			}
			n.public = n.proxy.addr()
			host, port, _ := net.SplitHostPort(n.public)
			err = n.configure("replica-announce-ip "+host, "replica-announce-port "+port)
		}
		if i > 0 {
			err = errors.Join(err, n.configure("replicaof "+words(g.servers[0].public)))
		}
		g.servers = append(g.servers, n)
		if err = errors.Join(err, n.start()); err != nil {
			return err
		}
	}
	g.master = g.servers[0]
	return nil
}

func (g *group) startSentinels(binary string) error {
	ms := strconv.FormatInt(downAfter.Milliseconds(), 10)
	for i := range sentinels {
		n, err := newNode(g.dir, "sentinel-"+strconv.Itoa(i), binary, []string{
			"sentinel monitor " + masterName + " " + words(g.master.public) + " " + strconv.Itoa(quorum),
			"sentinel down-after-milliseconds " + masterName + " " + ms,
			"sentinel failover-timeout " + masterName + " 10000",
		}, "--sentinel")
		if err != nil {
			return err
		}
		g.sentinels = append(g.sentinels, n)
		if err := n.start(); err != nil {
			return err
		}
		// A sentinel looks at a server each 10 s, and turns back an old master after four of its greetings, which come
		// each 2 s. These are shorter here. It does not matter for how long a client is stuck.
		if _, err := n.ask("SENTINEL", "DEBUG", "INFO-PERIOD", "1000", "PUBLISH-PERIOD", "500"); err != nil {
			return err
		}
	}
	return nil
}

// words is an address as directives have it.
func words(addr string) string { return strings.ReplaceAll(addr, ":", " ") }

// settled reports whether each sentinel knows the others, and sees the master with replicas that are up. On a busy
// machine the sentinels may have changed the master once more.
func (g *group) settled() bool {
	if !g.look() {
		return false
	}
	for _, s := range g.sentinels {
		v, err := s.ask("SENTINEL", "MASTER", masterName)
		if err != nil || field(v.Elems, "flags") != "master" || field(v.Elems, "port") != portOf(g.master.public) ||
			field(v.Elems, "num-other-sentinels") != strconv.Itoa(sentinels-1) {
			return false
		}
		v, err = s.ask("SENTINEL", "REPLICAS", masterName)
		if err != nil {
			return false
		}
		up := 0
		for _, r := range v.Elems {
			if field(r.Elems, "flags") == "slave" && field(r.Elems, "master-link-status") == "ok" &&
				field(r.Elems, "master-port") == portOf(g.master.public) {
				up++
			}
		}
		if up != replicas || len(v.Elems) != replicas {
			return false
		}
	}
	return g.replicate()
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// replicate reports whether all servers have one master.
func (g *group) replicate() bool {
	for _, n := range g.servers {
		if n == g.master && n.info("role") != "master" {
			return false
		}
		if n != g.master && (n.info("role") != "slave" || n.info("master_link_status") != "up" ||
			n.info("master_port") != portOf(g.master.public)) {
			return false
		}
	}
	return true
}

// whereIsMaster asks the first sentinel that answers.
func (g *group) whereIsMaster() (addr string, err error) {
	for _, s := range g.sentinels {
		v, failed := s.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
		if failed == nil && len(v.Elems) == 2 {
			return net.JoinHostPort(v.Elems[0].Str, v.Elems[1].Str), nil
		}
		err = errors.Join(err, failed)
	}
	return "", fmt.Errorf("no sentinel knows the master: %w", err)
}

// lose takes the master away.
func (g *group) lose(how string) error {
	switch how {
	case killed:
		g.master.kill()
	case paused:
		return g.master.signal(syscall.SIGSTOP)
	case cutOff:
		g.master.proxy.cut(true)
	default:
		return fmt.Errorf("there is no fault %q: %s, %s or %s", how, killed, paused, cutOff)
	}
	return nil
}

// awaitMaster returns when the sentinels name another master.
func (g *group) awaitMaster() (old *node, err error) {
	old = g.master
	err = until(failoverLimit, "the sentinels name a new master", func() bool { return g.look() && g.master != old })
	return old, err
}

// look asks the sentinels who is the master.
func (g *group) look() bool {
	addr, err := g.whereIsMaster()
	i := slices.IndexFunc(g.servers, func(n *node) bool { return n.public == addr })
	if err != nil || i < 0 {
		return false
	}
	g.master = g.servers[i]
	return true
}

// bringBack lets the old master come back, and returns when it is a replica.
func (g *group) bringBack(old *node, how string) (err error) {
	switch how {
	case killed:
		err = old.start()
	case paused:
		err = old.signal(syscall.SIGCONT)
	case cutOff:
		old.proxy.cut(false)
	}
	if err != nil {
		return err
	}
	return until(returnLimit, "the old master is a replica, and the sentinels see it", g.settled)
}

// caughtUp returns when all servers have the same data. Nobody writes any more.
func (g *group) caughtUp() error {
	var seen []string
	err := until(returnLimit, "all servers have the same data", func() bool {
		seen = nil
		for _, n := range g.servers {
			v, err := n.ask("DEBUG", "DIGEST")
			if err != nil {
				return false
			}
			seen = append(seen, v.Str+" at "+n.info("master_repl_offset"))
		}
		return len(slices.Compact(slices.Clone(seen))) == 1
	})
	if err != nil {
		err = fmt.Errorf("%w: %q", err, seen)
	}
	return err
}

// logs is what the nodes have logged last, as an error.
func (g *group) logs() error {
	var all strings.Builder
	for _, n := range slices.Concat(g.servers, g.sentinels) {
		text, _ := os.ReadFile(n.file + ".log") // a node that did not start has none
		fmt.Fprintf(&all, "--- %s %s\n%s\n", n.file, n.public, text[max(0, len(text)-4000):])
	}
	return errors.New(all.String())
}

func (g *group) stop() {
	for _, n := range slices.Concat(g.sentinels, g.servers) {
		n.kill()
		if n.proxy != nil {
			n.proxy.close()
		}
	}
}
