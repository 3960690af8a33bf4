package node_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// The resolver answers nothing. It is that of the whole process, so no test runs beside this one.
func TestNobodyWaitsWhileTheNameOfAMasterIsResolved(t *testing.T) {
	begun, ended := make(chan bool, 100), make(chan bool, 100)
	resolver := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		begun <- true
		<-ctx.Done()
		ended <- true
		return nil, ctx.Err()
	}}
	t.Cleanup(func() { net.DefaultResolver = resolver }) // after the server has ended
	l := born(t, t.TempDir())
	c := l.dial()
	ok(t, c, "REPLICAOF", "master.test", "1")
	<-begun
	require.Equal(t, "PONG", c.Do("PING").Str)
	require.Equal(t, "down", infoText(c, "replication", "master_link_status"))
	require.Empty(t, ended, "the resolver is still asked")
	ok(t, c, "REPLICAOF", "other.test", "1")
	<-ended // the question that nobody needs any more
	require.Equal(t, "other.test", infoText(c, "replication", "master_host"))
	ok(t, c, "REPLICAOF", "NO", "ONE")
	require.Equal(t, "master", infoText(c, "replication", "role"))
	ok(t, c, "REPLICAOF", "master.test", "1") // the server ends meanwhile
	<-begun
}
