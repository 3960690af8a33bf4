package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
)

// Masters ask each other while they crash, and clients leave meanwhile. In the end every master
// answers.
func TestMastersSurviveAskingEachOtherWhileTheyCrash(t *testing.T) {
	t.Parallel()
	m := startMasters(t, 3, "--seed", "1")
	verbs := [][]string{
		{"ALL", "CLOCK", "ADVANCE", "10"}, {"ALL", "CRASH"}, {"MASTER", "2", "CRASH", "LOSE", "NOTHING"},
		{"MASTER", "1", "CRASH", "DOWN", "50"},
		{"ALL", "CLOCK", "FREEZE"}, {"ALL", "CLOCK", "RUN"}, {"MASTER", "3", "BLACKHOLE", "ON"},
		{"ALL", "BLACKHOLE", "OFF"}, {"ALL", "RESET"},
		{"ALL", "FAULT", "ADD", "hold", "CMD", "GET", "ACTION", "HOLD"}, {"ALL", "HOLD", "WAIT", "hold", "1"},
		{"ALL", "FAULT", "CLEAR"},
		{"ALL", "SNAPSHOT", "SAVE", "s"}, {"ALL", "SNAPSHOT", "RESTORE", "s"}, {"CLOCK", "ADVANCE", "20"},
		{"ALL", "LISTEN", "OFF"}, {"ALL", "LISTEN", "ON"},
	}
	var clients sync.WaitGroup
	for n := range 6 {
		clients.Add(1)
		go func() {
			defer clients.Done()
			r := rand.New(rand.NewPCG(1, uint64(n)))
			var c net.Conn
			for range 200 {
				if c == nil {
					c, _ = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", m[r.IntN(len(m))].Port()))
				}
				verb := append([]string{"LAB"}, verbs[r.IntN(len(verbs))]...)
				switch {
				case c == nil || n == 0:
					_, _ = m[r.IntN(len(m))].Do(context.Background(), verb...)
				default:
					_, _ = c.Write(resp.AppendRequest(nil, "GET", "lock"))
					_, _ = c.Write(resp.AppendRequest(nil, verb...))
				}
				if c != nil && r.IntN(3) == 0 {
					_ = c.Close()
					c = nil
				}
			}
			if c != nil {
				_ = c.Close()
			}
		}()
	}
	clients.Wait()
	requireHealthy(t, m)
}

// requireHealthy undoes what keeps clients from working and requires that all masters answer.
func requireHealthy(t *testing.T, m node.Nodes) {
	t.Helper()
	// A server may still execute requests of clients that have gone. Their effects need a reset
	// too.
	redistest.Until(t, func() bool {
		before := callers(t, m)
		undo(t, m)
		return callers(t, m) == before && !strings.Contains(before, "here")
	})
	for n := range m {
		c := dialMaster(t, m, n+1)
		require.Equal(t, "PONG", c.Do("PING").Str)
		require.Len(t, c.Do("LAB", "ALL", "CLOCK").Elems, len(m))
	}
}

func undo(t *testing.T, m node.Nodes) {
	t.Helper()
	v, err := m.Do(context.Background(), 0, "LAB", "ALL", "RESET")
	require.NoError(t, err)
	require.Equal(t, "[+OK, +OK, +OK]", v.String())
}

// callers returns how many clients each master has accepted so far, and whether any is still
// connected.
func callers(t *testing.T, m node.Nodes) (text string) {
	t.Helper()
	for _, s := range m {
		v, err := s.Do(context.Background(), "INFO", "clients", "stats")
		require.NoError(t, err)
		_, came, _ := strings.Cut(v.Str, "total_connections_received:")
		came, _, _ = strings.Cut(came, "\r\n")
		text += came + " "
		if !strings.Contains(v.Str, "connected_clients:0\r\n") {
			text += "here "
		}
	}
	return text
}
