package node_test

import (
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func sectionsOf(t *testing.T, info string) (titles []string) {
	t.Helper()
	require.True(t, strings.HasSuffix(info, "\r\n"))
	require.NotContains(t, strings.ReplaceAll(info, "\r\n", ""), "\n", "redis-cli looks for CR at the end of each line")
	for _, line := range strings.Split(info, "\r\n") {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			titles = append(titles, title)
		} else if line != "" {
			require.Regexp(t, `^[A-Za-z0-9_.|:-]+:`, line)
		}
	}
	return titles
}

func TestInfoHasItsSectionsInRedissOrder(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	c.Do("SET", "k", "v", "PX", "100000")
	c.Do("NOSUCH")
	short := []string{
		"Server", "Clients", "Memory", "Persistence", "Stats", "Replication", "CPU", "Modules",
		"Errorstats", "Cluster", "Keyspace", "Miniredisd",
	}
	all := []string{
		"Server", "Clients", "Memory", "Persistence", "Stats", "Replication", "CPU", "Modules",
		"Commandstats", "Errorstats", "Latencystats", "Cluster", "Keyspace", "Miniredisd",
	}
	require.Equal(t, short, sectionsOf(t, string(c.Do("INFO").Str)))
	require.Equal(t, short, sectionsOf(t, string(c.Do("INFO", "default").Str)))
	require.Equal(t, all, sectionsOf(t, string(c.Do("INFO", "ALL").Str)))
	require.Equal(t, all, sectionsOf(t, string(c.Do("INFO", "everything").Str)))
	require.Equal(t, []string{"Clients", "Keyspace"},
		sectionsOf(t, string(c.Do("INFO", "keyspace", "nosuch", "clients").Str)))
	require.Equal(t, []string{"Commandstats"}, sectionsOf(t, string(c.Do("INFO", "commandstats").Str)))
}

// Tools find fields by name, and some rely on the order. Every field of 7.0.15 must be present, in
// the same order.
func TestInfoHasEveryFieldOfRedisInItsOrder(t *testing.T) {
	redistest.Require(t)
	names := func(c *redistest.Conn) (fields []string) {
		for _, line := range strings.Split(string(c.Do("INFO").Str), "\r\n") {
			if name, _, ok := strings.Cut(line, ":"); ok {
				fields = append(fields, name)
			}
		}
		return fields
	}
	ours := names(redistest.Dial(t, start(t, nil)))
	at := 0
	for _, field := range names(redistest.Dial(t, redistest.Start(t).Addr)) {
		for at < len(ours) && ours[at] != field {
			at++
		}
		require.Less(t, at, len(ours), "%s is missing or in another place", field)
	}
}

func TestInfoCountsWhatHappened(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	c.Do("CONFIG", "RESETSTAT")
	c.Do("SET", "k", "v", "PX", "100000")
	c.Do("GET", "k")
	c.Do("GET", "nosuch")
	c.Do("GET")
	c.Do("INCR", "k")
	c.Do("CLIENT", "NOSUCH")
	require.Regexp(t, `^calls=2,usec=\d+,usec_per_call=\d+\.\d\d,rejected_calls=1,failed_calls=0$`,
		infoField(c, "cmdstat_get"))
	require.Regexp(t, `^calls=1,.*,rejected_calls=0,failed_calls=1$`, infoField(c, "cmdstat_incr"))
	require.Regexp(t, `^p50=\d+\.\d{3},p99=\d+\.\d{3},p99\.9=\d+\.\d{3}$`, infoField(c, "latency_percentiles_usec_get"))
	require.Equal(t, "count=3", infoField(c, "errorstat_ERR"))
	require.Equal(t, "3", infoField(c, "total_error_replies"))
	require.Equal(t, "1", infoField(c, "keyspace_misses"), "what writes does not count")
	require.Regexp(t, `^keys=1,expires=1,avg_ttl=(9\d{4}|100000)$`, infoField(c, "db0"))
	c.Do("CONFIG", "SET", "latency-tracking", "no")
	require.Empty(t, infoField(c, "latency_percentiles_usec_get"))
}

func TestClientListDescribesEveryConnection(t *testing.T) {
	addr := start(t, nil)
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	a.Do("CLIENT", "SETNAME", "first")
	b.Do("HELLO", "3", "SETNAME", "second")
	b.Do("SELECT", "4")
	b.Do("CLIENT", "SETINFO", "LIB-NAME", "tester")
	b.Do("CLIENT", "NO-EVICT", "ON")
	lines := strings.Split(strings.TrimSuffix(string(a.Do("CLIENT", "LIST").Str), "\n"), "\n")
	require.Len(t, lines, 2, "the oldest comes first")
	shape := regexp.MustCompile(`^id=\d+ addr=[\d.]+:\d+ laddr=[\d.]+:\d+ fd=\d+ name=\S* age=\d+ idle=\d+ ` +
		`flags=\S+ db=\d+ sub=0 psub=0 ssub=0 multi=-1 ` +
		`qbuf=\d+ qbuf-free=\d+ argv-mem=\d+ multi-mem=\d+ rbs=\d+ rbp=\d+ obl=\d+ oll=\d+ omem=\d+ tot-mem=\d+ ` +
		`events=rw? cmd=\S+ user=default redir=-1 resp=[23] lib-name=\S* lib-ver=\S*$`)
	for _, line := range lines {
		require.Regexp(t, shape, line)
	}
	require.Contains(t, lines[0], " name=first ")
	require.Contains(t, lines[0], " cmd=client|list ")
	require.Contains(t, lines[1], " name=second ")
	for _, field := range []string{" flags=e ", " db=4 ", " cmd=client|no-evict ", " resp=3 ", " lib-name=tester "} {
		require.Contains(t, lines[1], field)
	}
	id, _, _ := strings.Cut(b.Do("CLIENT", "INFO").Str, " ")
	require.Equal(t, strings.Fields(lines[1])[0], strings.TrimPrefix(id, "txt:"))
}

func TestAClientKilledInMidPipelineRunsNothingMore(t *testing.T) {
	addr := start(t, nil)
	c, other := redistest.Dial(t, addr), redistest.Dial(t, addr)
	require.NoError(t, c.Send([]byte("CLIENT KILL TYPE normal SKIPME no\r\nSET k v\r\nPING\r\n")))
	require.Equal(t, int64(2), c.Read().Int, "the one that asked is closed after its reply")
	requireClosed(t, c)
	requireClosed(t, other)
	require.Equal(t, int64(0), redistest.Dial(t, addr).Do("EXISTS", "k").Int)
}

// moveListener makes the server listen on another port. It returns the new address.
func moveListener(t *testing.T, c *redistest.Conn) (addr string) {
	t.Helper()
	for {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addr = free.Addr().String()
		_, port, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		require.NoError(t, free.Close())
		if c.Do("CONFIG", "SET", "port", port).Str == "OK" {
			return addr
		} // another process took the port
	}
}

func TestConfigSetPortMovesTheListener(t *testing.T) {
	addr := start(t, nil)
	c := redistest.Dial(t, addr)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(free.Addr().String())
	require.NoError(t, err)

	require.Contains(t, string(c.Do("CONFIG", "SET", "port", port).Str), "Unable to listen on this port", "it is taken")
	require.Equal(t, "PONG", string(redistest.Dial(t, addr).Do("PING").Str), "and so the old one still works")

	require.NoError(t, free.Close())
	moved := moveListener(t, c)
	require.Equal(t, "PONG", string(redistest.Dial(t, moved).Do("PING").Str))
	_, err = net.Dial("tcp", addr)
	require.Error(t, err)
	require.Equal(t, "PONG", string(c.Do("PING").Str), "connections stay")
}

func TestShutdownEndsTheServerAndItsConnections(t *testing.T) {
	s := newServer(t, func(byte, string, ...any) {})
	addr, done := s.Addrs()[0], make(chan error)
	go func() { done <- s.Run() }()
	c := redistest.Dial(t, addr)
	require.NoError(t, c.Send([]byte("SHUTDOWN NOSAVE\r\nSET k v\r\n")))
	requireClosed(t, c)
	_, err := net.Dial("tcp", addr)
	require.Error(t, err, "no server listens any more")
	require.NoError(t, <-done)
	s.Stop() // this second Stop does nothing
}
