package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// master asks a Sentinel behind the proxy for the address of the master.
func (f *fleet) master() string {
	f.t.Helper()
	v := f.ask(f.first(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")
	require.Len(f.t, v.Elems, 2)
	return v.Elems[0].Str + ":" + v.Elems[1].Str
}

func sentinelCommands() []string {
	return []string{"SENTINEL GET-MASTER-ADDR-BY-NAME mymaster", "SENTINEL MASTERS", "SENTINEL MASTER mymaster",
		"SENTINEL REPLICAS mymaster", "SENTINEL SLAVES mymaster", "SENTINEL SENTINELS mymaster",
		"SENTINEL INFO-CACHE mymaster", "INFO sentinel", "INFO", "HELLO"}
}

func TestClientsOfSentinelsStayBehindTheProxy(t *testing.T) {
	sentinels, nodes := redistest.StartSentinels(t, 3)
	servers := append(addrs(sentinels), addrs(nodes)...)
	r := startWith(t, Config{Upstreams: servers[:1], Behind: Sentinel})
	f := r.fleet()
	require.Len(t, r.ports(), 6)
	for i, port := range r.ports() {
		for _, proto := range []string{"2", "3"} {
			addr := fmt.Sprintf("127.0.0.1:%d", port)
			f.ask(addr, "HELLO", proto)
			commands := sentinelCommands()
			if i >= 3 {
				commands = []string{"ROLE", "INFO", "INFO replication", "HELLO"}
			}
			for _, command := range commands {
				past(t, f.ask(addr, strings.Fields(command)...).String(), servers)
			}
		}
	}
	require.Equal(t, nodes[0].Addr, r.upstreamOf(f.master()))
	require.Equal(t, "+OK", f.ask(f.master(), "SET", key, "v").String())

	hears, all := r.client(), r.client()
	require.Equal(t, `["subscribe", "+switch-master", :1]`, hears.do("SUBSCRIBE +switch-master"))
	require.Contains(t, all.do("HELLO 3"), `"mode": "sentinel"`)
	all.send("PSUBSCRIBE *", "PING")
	require.Equal(t, `>["psubscribe", "*", :1]`, all.read())
	old := f.master()
	require.Equal(t, "+OK", f.ask(f.first(), "SENTINEL", "FAILOVER", "mymaster").String())
	message := hears.read()
	for heard := ""; !strings.Contains(heard, "+switch-master"); {
		heard = all.read()
		past(t, heard, servers)
		for _, server := range servers {
			require.NotContains(t, heard, strings.ReplaceAll(server, ":", " "))
		}
	}
	redistest.Until(t, func() bool { return f.master() != old })
	was, is := strings.ReplaceAll(old, ":", " "), strings.ReplaceAll(f.master(), ":", " ")
	require.Equal(t, fmt.Sprintf(`["message", "+switch-master", "mymaster %s %s"]`, was, is), message)
	f = r.fleet() // the Sentinels end the connections of a server that has another role
	require.Equal(t, `"v"`, f.ask(f.master(), "GET", key).String())
	require.Equal(t, "+OK", f.ask(f.master(), "SET", key, "w").String())
	r.noneIsPast("app", servers...)
	require.Contains(t, f.ask(f.first(), "LAB", "TOPOLOGY").String(), `"role", "sentinel"`)
}

func TestSentinelsOfOursStayBehindTheProxy(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Replicas(2), miniredistest.Sentinels(3))
	r := startWith(t, Config{Upstreams: srv.SentinelAddrs()[:1], Behind: Sentinel, MasterName: "mymaster"})
	f := r.fleet()
	require.Len(t, r.ports(), 6)
	for _, command := range sentinelCommands() {
		past(t, f.ask(f.first(), strings.Fields(command)...).String(), append(srv.SentinelAddrs(), srv.Addr()))
	}
	require.Equal(t, srv.Addr(), r.upstreamOf(f.master()))
	require.Equal(t, "+OK", f.ask(f.master(), "SET", key, "v").String())
	require.Equal(t, int64(2), f.ask(f.master(), "WAIT", "2", "0").Int)
	require.Equal(t, "+OK", f.ask(f.first(), "SENTINEL", "FAILOVER", "mymaster").String())
	redistest.Until(t, func() bool { return r.upstreamOf(f.master()) != srv.Addr() })
	require.Equal(t, `"v"`, f.ask(f.master(), "GET", key).String())
}
