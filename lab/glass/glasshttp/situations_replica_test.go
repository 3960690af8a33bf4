package glasshttp

import (
	"net"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/server"
)

// replicaSituations play on a replica, whose master is another server in the process of the test, and on a master.
func replicaSituations() []situation {
	one := []string{"--replicas", "1"}
	return []situation{
		{name: "master, a change", clients: 1, args: one, before: each("SET before 1"), play: func(p *player) {
			p.do(1, "SET k v")
			p.do(1, "GET k")
		}},
		{name: "master, the stream stands still", clients: 1, args: one, before: each("SET before 1"), play: func(p *player) {
			p.lab("REPLICATION HOLD")
			p.do(1, "SET k v")
			p.lab("REPLICATION RELEASE")
		}},
		{name: "master, WAIT", clients: 1, args: one, before: each("SET before 1"), play: func(p *player) {
			p.do(1, "SET k v")
			require.Equal(p.t, int64(1), p.do(1, "WAIT 1 0").Int)
		}},
		{name: "master, with a file", clients: 1, args: append(one, "--lab-disk", "yes", "--appendonly", "yes",
			"--appendfsync", "always"), before: each("SET before 1"), play: each("SET k v")},
		{name: "replica, a change arrives", clients: 1, before: follows, play: func(p *player) {
			p.obeys(1, "SET k v")
			p.do(1, "GET k")
			p.do(1, "SET k w")
		}},
		{name: "replica, a transaction arrives", clients: 1, before: follows, play: func(p *player) {
			p.far.Do("MULTI")
			p.far.Do("INCR", "a")
			p.far.Do("INCR", "b")
			p.obeys(4, "EXEC")
		}},
		{name: "replica, its master asks for the offset", clients: 1, before: follows, play: func(p *player) {
			told := p.count(trace.LinkTold)
			require.Equal(p.t, int64(1), p.far.Do("WAIT", "1", "0").Int)
			redistest.Until(p.t, func() bool { return p.count(trace.LinkTold) > told })
		}},
	}
}

// follows makes the server of the page a replica of another one.
func follows(p *player) {
	p.t.Helper()
	p.linked = true
	cfg, err := config.Parse([]string{"--port", "0", "--bind", "127.0.0.1", "--save", "",
		"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "3600"}, nil)
	require.NoError(p.t, err)
	masters, err := node.NewNodes(cfg, func(int) server.Log { return func(byte, string, ...any) {} })
	require.NoError(p.t, err)
	ended := make(chan error, 1)
	go func() { ended <- masters.Run() }()
	p.t.Cleanup(func() { masters.Stop(); require.NoError(p.t, <-ended) })
	p.far = redistest.Dial(p.t, masters.Addrs()[0])
	p.far.Do("SET", "before", "1")
	host, port, err := net.SplitHostPort(masters.Addrs()[0])
	require.NoError(p.t, err)
	p.do(1, "REPLICAOF "+host+" "+port)
	redistest.Until(p.t, func() bool {
		return strings.Contains(p.do(1, "INFO replication").Str, "master_link_status:up")
	})
	p.far.Do("SET", "before", "2") // begins with SELECT
	redistest.Until(p.t, func() bool { return p.do(1, "GET before").Str == "2" })
}

// obeys lets the master execute a command, and waits until the replica has executed n requests for it.
func (p *player) obeys(n int, command string) {
	p.t.Helper()
	before := p.count(trace.Replied)
	p.far.Do(words(command)...)
	redistest.Until(p.t, func() bool { return p.count(trace.Replied) >= before+n })
}

// withoutAcks removes the passes in which a replica only tells its offset, or its master hears it: they come with the
// time.
func withoutAcks(lines []glass.Message) (kept []glass.Message) {
	passes, told := map[int64]bool{}, map[int64]bool{}
	for _, m := range lines {
		for _, e := range m.Events {
			passes[e.Pass] = passes[e.Pass] || ofNews(e)
			told[e.Pass] = told[e.Pass] || isTold(e) || isAck(e)
		}
	}
	for _, m := range lines {
		if pass := m.Events[0].Pass; passes[pass] || !told[pass] {
			kept = append(kept, m)
		}
	}
	return kept
}

// isTold reports whether a replica tells its offset, or that it is there.
func isTold(e trace.Event) bool { return e.Point == trace.LinkTold && (e.B >= 0 || e.Text == `\n`) }

func isAck(e trace.Event) bool {
	return e.Point == trace.Executes && strings.HasPrefix(e.Text, "REPLCONF ACK")
}

// ofNews reports whether an event is about more than an acknowledgement.
func ofNews(e trace.Event) bool {
	switch e.Point {
	case trace.Executes:
		return !isAck(e)
	case trace.LinkRead, trace.Fed, trace.Accepted, trace.Closed, trace.Written, trace.Messaged, trace.Expired:
		return true
	}
	return false
}
