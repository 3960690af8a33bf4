package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/store"
)

func TestRepliesNameTheAnnouncedHost(t *testing.T) {
	m := miniredistest.RunMasters(t, 3, miniredistest.Cluster())
	r := startWith(t, Config{Upstreams: m.Addrs()[:1], Behind: Cluster, Announce: "lab.example"})
	f := r.fleet()
	require.Equal(t, 3, strings.Count(f.ask(f.first(), "CLUSTER", "SLOTS").String(), `"lab.example"`))
}

func TestTwoAddressesOfAServerLeadToOneLog(t *testing.T) {
	s := redistest.Start(t, "--cluster-enabled", "yes", "--bind", "127.0.0.1", "127.0.0.2", "--cluster-announce-ip",
		"127.0.0.2")
	direct := redistest.Dial(t, s.Addr)
	require.Equal(t, "+OK", direct.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383").String())
	direct.Until(func() bool { return strings.Contains(direct.Do("CLUSTER", "INFO").Str, "cluster_state:ok") })
	r := startWith(t, Config{Upstreams: []string{s.Addr}, Behind: Cluster, Judge: judge})
	require.Len(t, r.ports(), 2)
	f := r.fleet()
	require.Contains(t, f.ask(f.first(), "CLUSTER", "SLOTS").String(), fmt.Sprintf(":%d", r.ports()[0]))
	require.Equal(t, "+OK", f.ask(f.first(), "LAB", "LOG", "WATCH", "lock:*").String())
	second := fmt.Sprintf("127.0.0.1:%d", r.ports()[1])
	require.Equal(t, "+OK", f.ask(second, "SET", "lock:1", "token", "NX", "PX", "60000").String())
	require.Contains(t, f.ask(f.first(), "LAB", "LOG").String(), "SET lock:1 token NX PX 60000")
	require.Contains(t, f.ask(f.first(), "LAB", "TOPOLOGY").String(), fmt.Sprintf(`"same", :%d`, r.ports()[0]))
}

func TestATopologyMayBeOneServer(t *testing.T) {
	s := miniredistest.Run(t)
	r := start(t, s.Addr())
	require.Equal(t, fmt.Sprintf(`[["port", :%d, "upstream", "%s", "state", "up", "role", "master", "follows", :0, `+
		`"same", :0]]`, r.ports()[0], s.Addr()), r.client().do("LAB TOPOLOGY"))
}

func TestAMasterThatNobodyKnowsIsNoBeginning(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Sentinels(1))
	var lines []string
	_, err := New(Config{Upstreams: srv.SentinelAddrs(), Behind: Sentinel, MasterName: "nope", Bind: "127.0.0.1",
		Multiplexer: config.Default().Multiplexer, Match: store.MatchPattern,
		Log: func(_ byte, format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }})
	require.ErrorContains(t, err, "does not say which nodes there are: ERR No such master with that name")
	require.Empty(t, lines)
}
