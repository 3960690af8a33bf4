package replicas

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// node is a server, and the relay to its master if it has one.
type node struct {
	*redistest.Server
	t      testing.TB
	kind   string
	dir    string
	args   []string
	addr   string
	admin  *redistest.Conn
	parent *node
	link   *relay
	before map[string]int // what INFO counted before restarts
}

const (
	ours         = "ours"
	oursAsValkey = "ours as Valkey"
	redis        = "redis"
	valkey       = "valkey"
)

// start starts the server, maybe from its file.
func (n *node) start(more ...string) {
	n.t.Helper()
	args := append([]string{"--dir", n.dir, "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
		"--repl-ping-replica-period", "3600", "--repl-timeout", "600"}, n.args...)
	args = append(args, more...)
	var s *redistest.Server
	switch n.kind {
	case redis:
		s = redistest.Start(n.t, args...)
		if redistest.Older(s.Version, "7.2") {
			n.t.Skipf("redis-server is %s, and replicas of 7.2 are compared", s.Version)
		}
	case valkey:
		s = redistest.StartValkey(n.t, args...)
	case oursAsValkey:
		args = append(args, "--dialect", "valkey-9.1")
		fallthrough
	default:
		s = redistest.StartProgram(n.t, *binary, args...)
	}
	n.Server, n.addr, n.admin = s, s.Addr, redistest.Dial(n.t, s.Addr)
}

// info returns a field of INFO.
func (n *node) info(field string) string {
	_, rest, _ := strings.Cut(n.admin.Do("INFO", "everything").Str, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// counted returns a count of INFO, also from before a restart.
func (n *node) counted(field string) int {
	now, _ := strconv.Atoi(n.info(field))
	return n.before[field] + now
}

// follows makes the node a replica, through a relay of its own.
func (n *node) follows(parent *node) {
	n.t.Helper()
	if n.link != nil {
		n.link.Close()
	}
	n.parent, n.link = parent, newRelay(n.t, parent.addr)
	host, port, err := net.SplitHostPort(n.link.Addr().String())
	require.NoError(n.t, err)
	require.Equal(n.t, "OK", n.admin.Do("REPLICAOF", host, port).Str)
}

// restart ends a replica and starts it again from its file.
func (n *node) restart(meanwhile func(), byShutdown bool) {
	n.t.Helper()
	if byShutdown {
		require.NoError(n.t, n.admin.Send([]byte("SHUTDOWN SAVE\r\n")))
	} else {
		require.Equal(n.t, "OK", n.admin.Do("SAVE").Str)
		require.NoError(n.t, n.admin.Send([]byte("SHUTDOWN NOSAVE NOW\r\n")))
	}
	_, err := n.admin.TryRead()
	require.Error(n.t, err)
	meanwhile()
	host, port, err := net.SplitHostPort(n.link.Addr().String())
	require.NoError(n.t, err)
	n.start("--replicaof", host+" "+port)
}
