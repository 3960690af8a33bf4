package miniredistest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"testing"

	"github.com/miniredisd/miniredisd/resp"
)

// Elsewhere has servers of other programs, with a proxy before them. Package miniredistest/proxied makes one.
type Elsewhere struct {
	Addrs []string // where clients connect, one for each master

	// Do executes a command at a master, counted from 0. LAB does not need that the server is up.
	Do func(ctx context.Context, master, db int, args []string) (resp.Value, error)

	End func() error
}

// Starter starts the servers of a test. Each master has the same seed. Its log may be called from any goroutine.
type Starter func(masters int, seed uint64, log func(level byte, format string, args ...any)) (*Elsewhere, error)

// At runs the test at servers of another program. The options of package miniredistest/proxied call it.
func At(start Starter) Option { return func(o *options) { o.elsewhere = start } }

// runElsewhere is run for At.
func runElsewhere(t testing.TB, n int, o options) Masters {
	t.Helper()
	switch {
	case inBubble():
		t.Fatal("miniredistest: a server of another program cannot be in a bubble of testing/synctest: its time is the " +
			"machine's. Start it outside, or use miniredisd itself")
	case o.frozen || !o.at.IsZero():
		t.Fatal("miniredistest: Frozen: the clock of another server does not stop. Clock().Advance moves its deadlines")
	case o.tls != nil:
		t.Fatal("miniredistest: TLS is an option of miniredisd itself, not of a server behind a proxy")
	case o.onlyHere != "":
		t.Fatalf("miniredistest: only miniredisd itself has %s: a server behind a proxy has options of its own", o.onlyHere)
	}
	in := &process{nodeCount: n}
	away, err := o.elsewhere(n, o.seed, func(level byte, format string, args ...any) {
		in.log.add("", level, format, args)
	})
	if err != nil {
		t.Fatalf("miniredistest: %v", err)
	}
	in.away = away
	t.Cleanup(func() { in.end(t) }) // also if the server cannot be watched
	for i, addr := range away.Addrs {
		name := ""
		if n > 1 {
			name = fmt.Sprintf("master %d: ", i+1)
		}
		s := &Server{t: t, in: in, place: i, name: name, addr: addr, plain: addr}
		_, port, _ := net.SplitHostPort(addr)
		s.port, _ = strconv.Atoi(port)
		in.nodes = append(in.nodes, s)
	}
	in.nodes.watch(o)
	return in.nodes
}
