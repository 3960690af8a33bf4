package glasshttp

import (
	"fmt"
	"net"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/trace"
)

// syncSituations are the handshake of a replica and what follows it, seen from both sides. The test plays the other
// side by hand, so that each piece comes in a pass of its own.
func syncSituations() []situation {
	// A disk of the lab has written the keys as soon as the writing begins, so the passes are always the same. A stream
	// of keys comes from another goroutine in pieces, and a file is loaded beside the passes, so they are not here.
	now := []string{"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "3600", "--lab-disk", "yes"}
	var id string
	return []situation{
		{name: "master, full sync over a file", clients: 2, args: append(now, "--repl-diskless-sync", "no"),
			before: each("SET k v"), play: func(p *player) {
				p.introduces(1)
				p.send(1, "PSYNC ? -1")
				p.reads(1, "\xff")
			}},
		{name: "master, partial sync", clients: 3, args: now, before: func(p *player) {
			p.introduces(1)
			p.send(1, "PSYNC ? -1")
			p.readsKeys(1)
			p.acks(1, 0)
			p.do(2, "SET k w")
			p.reads(1, "SET")
			p.conns[0].Close()
			p.untilGone(1)
			p.do(2, "SET k x")
			id = p.field(2, "master_replid")
		}, play: func(p *player) {
			p.introduces(3)
			p.send(3, "PSYNC "+id+" 1")
			p.reads(3, "CONTINUE")
		}},
		{name: "replica, full sync into memory", clients: 1, args: []string{"--repl-diskless-load", "swapdb"},
			play: func(p *player) {
				m := p.byHand()
				m.handshake()
				mark := strings.Repeat("m", 40)
				m.says("+FULLRESYNC " + strings.Repeat("a", 40) + " 0\r\n$EOF:" + mark + "\r\n" + aFile + mark)
				m.hears("ACK")
			}},
		{name: "replica, partial sync", clients: 1, before: func(p *player) {
			p.do(1, "SET k v")
		}, play: func(p *player) {
			m := p.byHand()
			m.handshake()
			m.says("+CONTINUE " + strings.Repeat("b", 40) + "\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nw\r\n")
		}},
	}
}

// aFile is an RDB file with one key, whose checksum is off.
const aFile = "REDIS0011\xfe\x00\x00\x01k\x01v\xff\x00\x00\x00\x00\x00\x00\x00\x00"

// introduces is the handshake of a client that becomes a replica.
func (p *player) introduces(client int) {
	p.t.Helper()
	p.linked = true
	p.do(client, "PING")
	p.do(client, "REPLCONF listening-port 7777")
	p.do(client, "REPLCONF capa eof capa psync2")
}

// reads takes bytes until a text is among them.
func (p *player) reads(client int, text string) {
	p.t.Helper()
	p.readsUntil(client, func(got string) bool { return strings.Contains(got, text) })
}

// readsKeys takes the keys of a full synchronization without a file. An offset that a replica tells before it has the
// mark behind them does not count.
func (p *player) readsKeys(client int) {
	p.t.Helper()
	p.readsUntil(client, func(got string) bool {
		_, behind, found := strings.Cut(got, "$EOF:")
		return found && len(behind) > 40 && strings.Count(behind, behind[:40]) == 2
	})
}

func (p *player) readsUntil(client int, isEnough func(got string) bool) {
	p.t.Helper()
	b, got := make([]byte, 4096), ""
	for !isEnough(got) {
		n, err := p.conns[client-1].Net.Read(b)
		require.NoError(p.t, err)
		got += string(b[:n])
	}
}

func (p *player) acks(client, offset int) {
	p.t.Helper()
	p.arrive(client, request(fmt.Sprintf("REPLCONF ACK %d", offset)))
}

func (p *player) field(client int, name string) string {
	p.t.Helper()
	for _, line := range strings.Split(p.do(client, "INFO replication").Str, "\r\n") {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return value
		}
	}
	return ""
}

// hand is a master that the test plays.
type hand struct {
	p *player
	c net.Conn
}

func (p *player) byHand() hand {
	p.t.Helper()
	p.linked = true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	p.do(1, "REPLICAOF 127.0.0.1 "+port)
	c, err := l.Accept()
	require.NoError(p.t, err)
	p.t.Cleanup(func() { c.Close() })
	return hand{p, c}
}

func (h hand) hears(text string) {
	h.p.t.Helper()
	b, got := make([]byte, 4096), ""
	for !strings.Contains(got, text) {
		n, err := h.c.Read(b)
		require.NoError(h.p.t, err)
		got += string(b[:n])
	}
	h.p.lab("CLOCK") // the pass is over
}

func (h hand) says(text string) {
	h.p.t.Helper()
	before := h.p.count(trace.LinkRead)
	_, err := h.c.Write([]byte(text))
	require.NoError(h.p.t, err)
	redistest.Until(h.p.t, func() bool { return h.p.count(trace.LinkRead) > before })
	h.p.lab("CLOCK")
}

func (h hand) handshake() {
	h.hears("PING")
	h.says("+PONG\r\n")
	h.hears("capa")
	h.says("+OK\r\n+OK\r\n")
	h.hears("PSYNC")
}
