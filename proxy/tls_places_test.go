package proxy

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/freeport"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/labtls"
)

// A proxy with TLS on the side of its clients is a trio, or a cluster, with TLS. Its replies name its own ports.
func TestNodesWithTLSStayBehindTheProxy(t *testing.T) {
	serverSide, clientSide := certificates(t)
	sentinels, trio := redistest.StartSentinels(t, 3)
	cluster := redistest.StartCluster(t, 3, 0)
	for behind, servers := range map[string][]*redistest.Server{Sentinel: append(sentinels, trio...), Cluster: cluster} {
		second := startWith(t, Config{Upstreams: []string{servers[0].Addr}, Behind: behind, TLS: serverSide})
		r := startWith(t, Config{Upstreams: []string{second.addr()}, Behind: behind, UpstreamTLS: clientSide, Judge: judge})
		f := r.fleet()
		require.Len(t, r.ports(), len(servers), behind)
		require.Equal(t, "+OK", f.ask(f.first(), "LAB", "LOG", "WATCH", "lock:*").String())
		at := f.first()
		if behind == Sentinel {
			at = f.master()
		}
		v, at := f.do(at, "SET", key, "v", "NX", "PX", "60000")
		require.Equal(t, "+OK", v.String())
		require.Contains(t, f.ask(at, "LAB", "LOG").String(), key+": absent -> 'v'")
		require.NotContains(t, f.ask(at, "LAB", "TOPOLOGY").String(), "down")
	}

	_, stranger := certificates(t)
	second := startWith(t, Config{Upstreams: []string{cluster[0].Addr}, Behind: Cluster, TLS: serverSide})
	_, err := New(Config{Upstreams: []string{second.addr()}, Behind: Cluster, UpstreamTLS: stranger, Bind: "127.0.0.1",
		Multiplexer: "poll", Log: func(byte, string, ...any) {}})
	require.ErrorContains(t, err, "does not say which nodes there are: it has refused TLS: tls: failed to verify")
}

// The nodes of a real cluster with TLS name their ports for TLS.
func TestARealClusterWithTLSStaysBehindTheProxy(t *testing.T) {
	redistest.NeedTLS(t)
	dir := t.TempDir()
	require.NoError(t, labtls.Write(dir))
	_, clientSide := certificatesIn(t, dir)
	var secure []string
	var admins []*redistest.Conn
	for i := range 3 {
		port, err := freeport.Choose()
		require.NoError(t, err)
		file := func(name string) string { return filepath.Join(dir, name) }
		s := redistest.StartClusterNode(t, "--tls-port", port, "--tls-cluster", "yes", "--tls-replication", "yes",
			"--tls-cert-file", file("server.crt"), "--tls-key-file", file("server.key"),
			"--tls-client-cert-file", file("client.crt"), "--tls-client-key-file", file("client.key"),
			"--tls-ca-cert-file", file("ca.crt"))
		c := redistest.Dial(t, s.Addr)
		secure, admins = append(secure, net.JoinHostPort("127.0.0.1", port)), append(admins, c)
		last := min(16383, 5500*i+5499)
		require.Equal(t, "+OK", c.Do("CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(5500*i), fmt.Sprint(last)).String())
		bus := c.Do("CONFIG", "GET", "cluster-port").Elems[1].Str
		require.Equal(t, "+OK", c.Do("CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1)).String())
		require.Equal(t, "+OK", admins[0].Do("CLUSTER", "MEET", "127.0.0.1", port, bus).String())
	}
	for _, c := range admins {
		c.Until(func() bool {
			return strings.Contains(c.Do("CLUSTER", "INFO").Str, "cluster_state:ok") &&
				strings.Count(c.Do("CLUSTER", "NODES").Str, "connected ") == 3
		})
	}
	r := startWith(t, Config{Upstreams: secure[:1], Behind: Cluster, UpstreamTLS: clientSide, Judge: judge})
	f := r.fleet()
	require.Len(t, r.ports(), 3)
	f.eachReply(secure, "CLUSTER SLOTS", "CLUSTER NODES", "CLUSTER SHARDS")
	for i := range 20 {
		v, _ := f.do(f.first(), "SET", fmt.Sprint("lock:", i), "v")
		require.Equal(t, "+OK", v.String())
	}
	require.True(t, f.seen["MOVED"])
	require.NotContains(t, f.ask(f.first(), "LAB", "TOPOLOGY").String(), "down")
}
