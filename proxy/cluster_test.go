package proxy

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// fleet is some clients that go wherever replies send them.
type fleet struct {
	t     *testing.T
	r     *running
	conns map[string]*respclient.Conn
	seen  map[string]bool // MOVED and ASK
	name  string
}

func (r *running) fleet() *fleet {
	f := &fleet{t: r.t, r: r, conns: map[string]*respclient.Conn{}, seen: map[string]bool{}, name: "app"}
	return f
}

// first is the address of the first port.
func (f *fleet) first() string { return fmt.Sprintf("127.0.0.1:%d", f.r.ports()[0]) }

// at returns a connection to an address that a reply has named. It must be a port of the proxy.
func (f *fleet) at(addr string) *respclient.Conn {
	f.t.Helper()
	if f.conns[addr] == nil {
		_, port, err := net.SplitHostPort(addr)
		require.NoError(f.t, err)
		number, err := strconv.Atoi(port)
		require.NoError(f.t, err)
		require.Contains(f.t, f.r.ports(), number, "an address past the proxy")
		c, err := respclient.Dial(addr)
		require.NoError(f.t, err)
		c.Limit = redistest.Limit
		f.t.Cleanup(func() { _ = c.Close() })
		f.conns[addr] = c
		require.Equal(f.t, "+OK", f.ask(addr, "CLIENT", "SETNAME", f.name).String())
	}
	return f.conns[addr]
}

func (f *fleet) ask(addr string, words ...string) resp.Value {
	f.t.Helper()
	v, err := f.at(addr).Do(words...)
	require.NoError(f.t, err)
	return v
}

// do sends a command, and follows MOVED and ASK. It returns the last reply and the address that gave it.
func (f *fleet) do(addr string, words ...string) (resp.Value, string) {
	f.t.Helper()
	asking := false
	for range 10 {
		if asking {
			require.Equal(f.t, "+OK", f.ask(addr, "ASKING").String())
		}
		v := f.ask(addr, words...)
		where := strings.Fields(v.Str)
		if v.Kind != '-' || where[0] != "MOVED" && where[0] != "ASK" {
			return v, addr
		}
		asking = where[0] == "ASK"
		addr = where[2]
		f.seen[where[0]] = true
	}
	f.t.Fatalf("%q is sent on without end", words)
	return resp.Value{}, ""
}

// ports returns the ports of the proxy. Another goroutine may open one.
func (r *running) ports() []int {
	got := make(chan []int)
	r.proxy.loop.Post(func() { got <- r.proxy.Ports() })
	return <-got
}

// upstreamOf returns the server to which a port leads.
func (r *running) upstreamOf(addr string) string {
	got := make(chan string)
	r.proxy.loop.Post(func() {
		name := ""
		for _, u := range r.proxy.upstreams {
			if strings.HasSuffix(addr, ":"+strconv.Itoa(u.port)) {
				name = u.name
			}
		}
		got <- name
	})
	return <-got
}

// noneIsPast looks in the CLIENT LIST of each server: all connections of the clients with a name are the proxy's.
func (r *running) noneIsPast(name string, servers ...string) {
	r.t.Helper()
	got := make(chan []string)
	r.proxy.loop.Post(func() {
		var mine []string
		for _, u := range r.proxy.upstreams {
			for c := range u.pairs {
				if at, err := unix.Getsockname(c.server); err == nil {
					if at, is := at.(*unix.SockaddrInet4); is {
						mine = append(mine, fmt.Sprintf("addr=127.0.0.1:%d", at.Port))
					}
				}
			}
		}
		got <- mine
	})
	mine, n := <-got, 0
	for _, addr := range servers {
		for line := range strings.Lines(redistest.Dial(r.t, addr).Do("CLIENT", "LIST").Str) {
			if words := strings.Fields(line); slices.Contains(words, "name="+name) {
				n++
				require.Contains(r.t, mine, words[1], "a connection past the proxy: %s", line)
			}
		}
	}
	require.NotZero(r.t, n)
}

// names returns the addresses in a reply that look like those of the servers.
func past(t *testing.T, reply string, servers []string) {
	t.Helper()
	for _, addr := range servers {
		_, port, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		require.NotContains(t, reply, addr)
		require.NotContains(t, reply, ":"+port+",")
		require.NotContains(t, reply, ":"+port+"]")
		require.NotContains(t, reply, `"`+port+`"`)
	}
}

func addrs(servers []*redistest.Server) (all []string) {
	for _, s := range servers {
		all = append(all, s.Addr)
	}
	return all
}

// eachReply asks at every port what names nodes, in both protocols.
func (f *fleet) eachReply(servers []string, commands ...string) {
	f.t.Helper()
	for _, port := range f.r.ports() {
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		for _, proto := range []string{"2", "3"} {
			f.ask(addr, "HELLO", proto)
			for _, command := range commands {
				past(f.t, f.ask(addr, strings.Fields(command)...).String(), servers)
			}
		}
	}
}

const key = "lock:order"

func TestClientsOfAClusterStayBehindTheProxy(t *testing.T) {
	nodes := redistest.StartCluster(t, 3, 1)
	servers := addrs(nodes)
	for order, free := range map[string]bool{"exact": false, "free": true} {
		t.Run(order, func(t *testing.T) {
			r := startWith(t, Config{Upstreams: servers[:1], Behind: Cluster, Free: free})
			f := r.fleet()
			require.Len(t, r.ports(), 6)
			f.eachReply(servers, "CLUSTER SLOTS", "CLUSTER SHARDS", "CLUSTER NODES", "ROLE", "INFO", "INFO replication",
				"CLUSTER INFO", "HELLO")
			v, at := f.do(f.first(), "SET", key, "v")
			require.Equal(t, "+OK", v.String())
			from := r.upstreamOf(at)
			id := redistest.Dial(t, from).Do("CLUSTER", "MYID").Str
			past(t, f.ask(at, "CLUSTER", "REPLICAS", id).String(), servers)
			f.halfMoved(from, servers)
			replica := f.takesOver(from, servers)
			v, at = f.do(f.first(), "GET", key)
			require.Equal(t, `"v"`, v.String())
			require.Equal(t, replica, r.upstreamOf(at))
			r.noneIsPast("app", servers...)
		})
	}
}

// halfMoved moves the slot of the key, and asks while it is half moved and after that.
func (f *fleet) halfMoved(from string, servers []string) {
	f.t.Helper()
	var to string
	for _, addr := range servers {
		if addr != from && redistest.Dial(f.t, addr).Do("ROLE").Elems[0].Str == "master" {
			to = addr
		}
	}
	source, target := redistest.Dial(f.t, from), redistest.Dial(f.t, to)
	slot := strconv.FormatInt(source.Do("CLUSTER", "KEYSLOT", key).Int, 10)
	sourceID, targetID := source.Do("CLUSTER", "MYID").Str, target.Do("CLUSTER", "MYID").Str
	require.Equal(f.t, "+OK", target.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", sourceID).String())
	require.Equal(f.t, "+OK", source.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", targetID).String())
	host, port, _ := net.SplitHostPort(to)
	require.Equal(f.t, "+OK", source.Do("MIGRATE", host, port, key, "0", "5000").String())
	clear(f.seen)
	v, at := f.do(f.first(), "GET", key)
	require.Equal(f.t, `"v"`, v.String())
	require.Equal(f.t, to, f.r.upstreamOf(at))
	require.True(f.t, f.seen["ASK"])
	for _, c := range []*redistest.Conn{target, source} {
		require.Equal(f.t, "+OK", c.Do("CLUSTER", "SETSLOT", slot, "NODE", targetID).String())
	}
	v, at = f.do(f.first(), "GET", key)
	require.Equal(f.t, `"v"`, v.String())
	require.Equal(f.t, to, f.r.upstreamOf(at))

	require.Equal(f.t, "+OK", target.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", sourceID).String())
	require.Equal(f.t, "+OK", source.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", targetID).String())
	host, port, _ = net.SplitHostPort(from)
	require.Equal(f.t, "+OK", target.Do("MIGRATE", host, port, key, "0", "5000").String())
	for _, c := range []*redistest.Conn{source, target} {
		require.Equal(f.t, "+OK", c.Do("CLUSTER", "SETSLOT", slot, "NODE", sourceID).String())
	}
	f.agreed(servers) // else redis-cli refuses to begin
	out, err := exec.Command("redis-cli", "--cluster", "reshard", to, "--cluster-from", targetID, "--cluster-to", sourceID,
		"--cluster-slots", "100", "--cluster-yes").CombinedOutput()
	require.NoError(f.t, err, string(out))
	for i := range 100 {
		v, _ := f.do(f.first(), "SET", fmt.Sprint("k", i), "v")
		require.Equal(f.t, "+OK", v.String())
	}
}

// takesOver makes the replica of a master the master.
func (f *fleet) takesOver(master string, servers []string) (replica string) {
	f.t.Helper()
	for _, addr := range servers {
		role := redistest.Dial(f.t, addr).Do("ROLE").Elems
		if role[0].Str == "slave" && strings.HasSuffix(master, fmt.Sprintf(":%d", role[2].Int)) {
			replica = addr
		}
	}
	c, old := redistest.Dial(f.t, replica), redistest.Dial(f.t, master)
	f.agreed(servers) // the replica takes over the slots of which it knows
	require.Equal(f.t, "+OK", c.Do("CLUSTER", "FAILOVER", "TAKEOVER").String())
	c.Until(func() bool { return c.Do("ROLE").Elems[0].Str == "master" })
	old.Until(func() bool {
		role := old.Do("ROLE").Elems
		return role[0].Str == "slave" && role[3].Str == "connected"
	})
	return replica
}

// agreed waits until all nodes know the same of slots.
func (f *fleet) agreed(servers []string) {
	f.t.Helper()
	redistest.Until(f.t, func() bool {
		maps := map[string]bool{}
		for _, addr := range servers {
			maps[slotMap(redistest.Dial(f.t, addr))] = true
		}
		return len(maps) == 1
	})
}

// slotMap returns what a node knows of slots: which master has them, and the newest epoch.
func slotMap(c *redistest.Conn) string {
	var all []string
	for _, part := range c.Do("CLUSTER", "SLOTS").Elems {
		all = append(all, fmt.Sprint(part.Elems[0].Int, part.Elems[1].Int, part.Elems[2].Elems[1].Int))
	}
	slices.Sort(all)
	return infoField(c.Do("CLUSTER", "INFO").Str, "cluster_current_epoch") + strings.Join(all, ",")
}

func TestANodeThatAppearsGetsAPort(t *testing.T) {
	nodes := redistest.StartCluster(t, 3, 0)
	servers := addrs(nodes)
	r := startWith(t, Config{Upstreams: servers[:1], Behind: Cluster})
	f := r.fleet()
	require.Len(t, r.ports(), 3)
	late := redistest.StartClusterNode(t)
	out, err := exec.Command("redis-cli", "--cluster", "add-node", late.Addr, servers[0]).CombinedOutput()
	require.NoError(t, err, string(out))
	servers = append(servers, late.Addr)
	redistest.Until(t, func() bool {
		past(t, f.ask(f.first(), "CLUSTER", "NODES").String(), servers)
		return len(r.ports()) == 4
	})
	v := f.ask(fmt.Sprintf("127.0.0.1:%d", r.ports()[3]), "CLUSTER", "MYID")
	require.Equal(t, redistest.Dial(t, late.Addr).Do("CLUSTER", "MYID").Str, v.Str)
	require.Contains(t, f.ask(f.first(), "LAB", "TOPOLOGY").String(),
		fmt.Sprintf(`["port", :%d, "upstream", "%s", "state", "up", "role", "master"`, r.ports()[3], late.Addr))
}

func TestAClusterOfOursStaysBehindTheProxy(t *testing.T) {
	m := miniredistest.RunMasters(t, 3, miniredistest.Cluster(), miniredistest.Replicas(1))
	r := startWith(t, Config{Upstreams: m.Addrs()[:1], Behind: Cluster})
	f := r.fleet()
	require.Len(t, r.ports(), 6)
	f.eachReply(m.Addrs(), "CLUSTER SLOTS", "CLUSTER SHARDS", "CLUSTER NODES", "ROLE", "INFO replication")
	v, _ := f.do(f.first(), "SET", key, "v")
	require.Equal(t, "+OK", v.String())
	to := m[0]
	if m.Owner(key) == to {
		to = m[1]
	}
	m.MoveSlot(key, to, miniredistest.SlotKeys)
	v, at := f.do(f.first(), "GET", key)
	require.Equal(t, `"v"`, v.String())
	require.Equal(t, to.Addr(), r.upstreamOf(at))
	m.MoveSlot(key, to, miniredistest.SlotNode)
	v, at = f.do(f.first(), "GET", key)
	require.Equal(t, `"v"`, v.String())
	require.Equal(t, to.Addr(), r.upstreamOf(at))
	r.noneIsPast("app", m.Addrs()...)
}

// A client of a cluster looks for another node when one refuses it.
func TestANodeThatIsDownRefusesClients(t *testing.T) {
	nodes := redistest.StartCluster(t, 3, 0)
	r := startWith(t, Config{Upstreams: addrs(nodes)[:1], Behind: Cluster})
	dead := nodes[2]
	port := 0
	for _, each := range r.ports() {
		if r.upstreamOf(fmt.Sprintf("127.0.0.1:%d", each)) == dead.Addr {
			port = each
		}
	}
	require.NoError(t, redistest.Dial(t, dead.Addr).Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE")))
	at := fmt.Sprintf("127.0.0.1:%d", port)
	redistest.Until(t, func() bool {
		c, err := net.Dial("tcp", at)
		if err == nil {
			_ = c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	back, err := net.Listen("tcp", dead.Addr)
	require.NoError(t, err)
	defer back.Close()
	redistest.Until(t, func() bool {
		c, err := net.Dial("tcp", at)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}
