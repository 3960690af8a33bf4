package proxy

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// eachOrder runs a test before a server, with both orders.
func eachOrder(t *testing.T, test func(t *testing.T, r *running, lab conn)) {
	for name, free := range map[string]bool{"exact": false, "free": true} {
		t.Run(name, func(t *testing.T) {
			r := startWith(t, Config{Upstreams: []string{miniredistest.Run(t).Addr()}, Free: free})
			test(t, r, r.client())
		})
	}
}

func TestAPartitionHoldsUpClientsByTheirNames(t *testing.T) {
	eachOrder(t, func(t *testing.T, r *running, lab conn) {
		a, b := r.client(), r.client()
		require.Equal(t, "+OK", b.do("CLIENT SETNAME b"))
		require.Equal(t, "+OK", lab.do("LAB PARTITION CLIENT a-* ON"))
		a.send("CLIENT SETNAME a-1", "SET k v", "GET k")
		for !strings.Contains(lab.do("LAB PARTITION LIST"), `["client", "a-*", "cut", :1, "spared", :0]`) {
		}
		require.Equal(t, "+PONG", b.do("PING"))
		a.hasNothing()
		require.Equal(t, "+OK", lab.do("CLIENT SETNAME a-2"))
		require.Contains(t, lab.do("LAB PARTITION LIST"), `"spared", :1]`)
		require.Equal(t, "+OK", lab.do("LAB PARTITION CLIENT a-* OFF"))
		for _, want := range []string{"+OK", "+OK", `"v"`} {
			require.Equal(t, want, a.read())
		}
		require.Equal(t, "[]", lab.do("LAB PARTITION LIST"))
	})
}

func TestABlackHoleLosesNothing(t *testing.T) {
	eachOrder(t, func(t *testing.T, r *running, lab conn) {
		a, b := r.client(), r.client()
		a.send("BLPOP list 0")
		redistest.Until(t, func() bool { return strings.Contains(lab.do("INFO clients"), "blocked_clients:1") })
		require.Equal(t, "+OK", lab.do("LAB BLACKHOLE ON"))
		b.send("SET k v")
		require.Equal(t, ":1", lab.do("RPUSH list x"))
		require.Equal(t, ":0", lab.do("EXISTS list"), "the command that waited was served")
		require.Equal(t, "(nil)", lab.do("GET k"))
		a.hasNothing()
		late := r.client()
		late.send("PING")
		require.Equal(t, "+OK", lab.do("LAB RESET"))
		require.Equal(t, `["list", "x"]`, a.read())
		require.Equal(t, "+OK", b.read())
		require.Equal(t, "+PONG", late.read())
	})
}

func TestTheEndOfAConnectionWaitsForTheNetwork(t *testing.T) {
	eachOrder(t, func(t *testing.T, r *running, lab conn) {
		a := r.client()
		require.Equal(t, "+OK", a.do("CLIENT SETNAME a"))
		require.Equal(t, "+OK", lab.do("LAB PARTITION CLIENT a ON"))
		killed := lab.do("CLIENT LIST")
		id := killed[strings.Index(killed, "id=")+3:]
		for line := range strings.Lines(strings.ReplaceAll(killed, "\\n", "\n")) {
			if strings.Contains(line, "name=a ") {
				id = line[strings.Index(line, "id=")+3:]
			}
		}
		id, _, _ = strings.Cut(id, " ")
		require.Equal(t, ":1", lab.do("CLIENT KILL ID "+id))
		r.left(1)
		a.hasNothing()
		require.Equal(t, "+OK", lab.do("LAB PARTITION CLIENT a OFF"))
		_, err := a.Read()
		require.ErrorIs(t, err, io.EOF)
		var slow net.Error
		require.NotErrorAs(t, err, &slow)
	})
}
