// Package proxy stands between clients and a server that speaks RESP, such as redis-server or valkey-server. What a
// client sends goes to the server unchanged, and what the server sends goes to the client unchanged.
//
//	client              pair                          upstream
//	  │  requests   ┌──────────────────────────────┐     │
//	  ├────────────>│ way: read, resp.Parser, write ├────>│
//	  │             │                              │     │
//	  │<────────────┤ write, resp.Cutter, read :way │<────┤
//	  │   replies   └──────────────────────────────┘     │
//
// A client and its connection to the upstream are a pair. SELECT, AUTH, MULTI, SUBSCRIBE and scripts are an affair of
// the two: the proxy keeps no keys and executes nothing. It finds where requests and replies end, so it knows what goes
// past. A reply that is none ends the pair.
//
// # LAB
//
// A client that sends LAB talks to the proxy, which has rules and a log for each upstream (package lab). While there
// are rules, each request is decided on before it is sent (gate), and a reply that a rule strikes is found by its
// number (deliver). Both are in fault.go. session.go has what the proxy knows of a client, table.go where the keys of a
// command are, lab.go and hold.go the subcommands.
//
// # Order
//
// Unless the order is free, an upstream has one request at a time. turn.go says whose. Then the proxy can look at
// watched keys before and after a request (watched.go, look.go), over a connection of its own (asker.go). What has
// changed goes into the log in the form of a server's log (ledger.go, inside.go), so the verdict reads both. watch.go
// has LAB LOG and LAB VERDICT, doctor.go LAB DOCTOR, clock.go LAB CLOCK, net.go LAB BLACKHOLE, relay.go LAB ALL.
// If the proxy has started the upstream itself (package child), crash.go has LAB CRASH, and saved.go LAB SNAPSHOT.
//
// # Addresses
//
// Sentinels and the nodes of a cluster tell their clients where to go. places.go opens a port for each address that
// they name, and naming.go finds the replies in which they do so. rename.go writes the ports instead, and no other byte
// of the reply is changed (span.go).
//
// # TLS
//
// Either side may have it (tls.go). A way then reads and writes through a layer of package ioworkers. A handshake has a
// goroutine of its own, which reaches nothing else.
//
// # Memory
//
// A way that cannot write does not read. So the slower side sets the pace, and a way holds at most a chunk that it
// could not write, and the front of a request. As long as the other side takes all bytes, they lie in one buffer that
// all pairs share. A value of 1 GB passes through the same 64 KB.
//
// # Ends
//
// Each side sees of the other what it would see without the proxy. The end of a client's requests goes to the upstream
// once these are sent, and the replies still come. A connection that the upstream resets is a reset for the client. A
// client whose upstream cannot be reached gets a reset at once: it cannot be refused any more.
//
// # Who may call it
//
// One goroutine runs the loop (package reactor) and everything here. Others may call Stop, Ask, Do and Renew alone.
//
// Redis has no proxy. Its Cluster proxy was a program of its own, which spread the requests of a client over nodes.
package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/proxy/child"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// Config says what a Proxy connects.
type Config struct {
	Bind      string   // the address on which it listens, without a port
	Port      int      // the port that leads to the first upstream; the next ones count up. 0 means free ports
	Upstreams []string // host:port of each server

	// Own has the processes of the upstreams, which run, if the proxy may kill and start them; nil if it may not.
	Own []*child.Child

	Behind     string // what the upstreams show the way to: Sentinel, Cluster, or "" for nothing
	MasterName string // of the master at the Sentinels; "" for all
	Announce   string // the host that replies name; "" for the one to which the client has connected

	Multiplexer string // how the loop waits: see reactor.New

	Free bool // --order free: the requests of several clients may be under way at once

	ClockKeys int // how many keys with a deadline LAB CLOCK ADVANCE may move

	Seed uint64 // of the dice of rules with PROB

	TLS         *tls.Config // of the clients' side, nil without TLS
	UpstreamTLS *tls.Config // of the upstreams' side; its ServerName is that of the upstream unless it is set

	// Match reports whether s matches a glob as in KEYS. The rules of LAB ask it.
	Match func(pattern string, s []byte) bool

	Auth []string // a password, or a name and one, for the connection that looks at keys; nil for none

	// Diagnose answers LAB DOCTOR from the log of an upstream; now is unix ms by its clock.
	Diagnose func(w *resp.Writer, log lab.History, now int64) error

	// Judge answers LAB VERDICT for the logs of all upstreams.
	Judge func(w *resp.Writer, args [][]byte, logs []lab.History) error

	Log func(level byte, format string, args ...any) // writes a line; the level is one of rlog
}

// Proxy connects the clients of some ports with one upstream for each port.
type Proxy struct {
	cfg        Config
	loop       *reactor.Loop
	log        func(level byte, format string, args ...any)
	upstreams  []*upstream
	places     *places // nil unless replies are renamed
	announced  bool
	tls        *tls.Config // of the clients' side, nil without TLS
	handshakes handshakes
	ready      []*way        // they have to look again at what they hold
	ended      chan struct{} // closed when it has ended
	closing    []*pair       // ended in this pass; until its end they keep their descriptors, so that nobody gets these

	scratch []byte     // what a way reads
	batch   resp.Batch // the requests in it
	spare   [][]byte   // buffers that no way needs
}

// New resolves the names of the upstreams and listens. The error names the address that is wrong or taken.
func New(cfg Config) (*Proxy, error) {
	clock := clock.New()
	loop, err := reactor.New(cfg.Multiplexer, clock.Mono)
	if err != nil {
		return nil, err
	}
	p := &Proxy{cfg: cfg, loop: loop, log: cfg.Log,
		scratch: make([]byte, mostHeld), ended: make(chan struct{}),
		handshakes: handshakes{loop: loop, all: map[*handshake]struct{}{}}}
	if cfg.TLS != nil {
		p.tls = cfg.TLS.Clone()
		p.tls.DynamicRecordSizingDisabled = true
	}
	if err = p.listenAll(); err != nil {
		p.close()
		return nil, err
	}
	loop.BeforeSleep(func() time.Duration {
		p.goOn()
		p.free()
		return -1
	})
	return p, nil
}

// listenAll opens the ports.
func (p *Proxy) listenAll() error {
	for i, name := range p.cfg.Upstreams {
		at, err := net.ResolveTCPAddr("tcp", name)
		if err != nil {
			return fmt.Errorf("the upstream '%s' is no address: %w", name, err)
		}
		if at.IP == nil || at.Port == 0 {
			return fmt.Errorf("the upstream '%s' is no address: expected host:port", name)
		}
		port := p.cfg.Port
		if port != 0 {
			port += i
		}
		u, err := p.listen(name, at.AddrPort(), port)
		if err != nil {
			return err
		}
		if p.cfg.Behind == "" {
			u.accepts()
		}
	}
	if p.cfg.Behind != "" {
		return p.findPlaces()
	}
	return nil
}

// listen opens the port of an upstream. Nobody is accepted yet.
func (p *Proxy) listen(name string, at netip.AddrPort, port int) (*upstream, error) {
	cfg := &p.cfg
	u := &upstream{p: p, name: name, pairs: map[*pair]struct{}{}, auth: cfg.Auth}
	host, _, _ := net.SplitHostPort(name)
	u.tls = secured(cfg.UpstreamTLS, host)
	u.turn = turn{u: u, loop: p.loop, free: cfg.Free}
	u.lab = labState{
		p: p, turn: &u.turn, asker: &asker{u: u, fd: -1}, judge: cfg.Judge, doctor: cfg.Diagnose,
		plan: lab.NewPlan(cfg.Seed, cfg.Match), log: lab.NewLog(cfg.Match), scripts: map[string]string{},
		ledger: ledger{known: map[keyAt]*lab.Value{}},
	}
	if cfg.Own != nil {
		u.lab.own = &owned{child: cfg.Own[len(p.upstreams)], snapshots: map[string]*saved{}}
	}
	u.family, u.at = sockaddr(at)
	var err error
	if u.listener, err = p.listenOn(port); err != nil {
		return nil, err
	}
	u.port = portOf(u.listener)
	p.upstreams = append(p.upstreams, u)
	return u, nil
}

func (p *Proxy) listenOn(port int) (listener int, err error) {
	here, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(p.cfg.Bind, strconv.Itoa(port)))
	if err != nil {
		return -1, fmt.Errorf("cannot listen on %s: %w", p.cfg.Bind, err)
	}
	if listener, err = listenAt(here.AddrPort()); err != nil {
		return -1, fmt.Errorf("cannot listen on %s: %w", here, err)
	}
	return listener, nil
}

// Ports returns the ports on which the proxy listens, in the order of the upstreams.
func (p *Proxy) Ports() (ports []int) {
	for _, u := range p.upstreams {
		ports = append(ports, u.port)
	}
	return ports
}

// Announce logs where each port leads.
func (p *Proxy) Announce() {
	for _, u := range p.upstreams {
		p.log('*', "Ready to accept connections tcp: port %d leads to %s", u.port, u.name)
	}
	p.announced = true
}

// Dedicated tells the proxy that its process does nothing else. Call it before Run.
func (p *Proxy) Dedicated() { p.loop.Dedicated() }

// Run serves until Stop. The error means that the multiplexer has failed.
func (p *Proxy) Run() error {
	defer p.close()
	return p.loop.Run()
}

// Stop ends Run: all connections end. Any goroutine may call it.
func (p *Proxy) Stop() { p.loop.Post(p.loop.Stop) }

// close closes all that is open.
func (p *Proxy) close() {
	for _, u := range p.upstreams {
		u.lab.asker.closed = true
	}
	p.handshakes.end()
	for _, u := range p.upstreams {
		u.closePort()
		u.stopProbing()
		for each := range u.pairs {
			each.under = nil // nobody waits for its reply
			each.end(fin)
		}
		u.lab.closeLingering()
		u.lab.asker.end(errSilent)
	}
	p.free()
	p.loop.Close()
	close(p.ended)
}

// goOn lets ways go on that have waited.
func (p *Proxy) goOn() {
	for i := 0; i < len(p.ready); i++ {
		w := p.ready[i]
		w.listed, p.ready[i] = false, nil
		w.again()
	}
	p.ready = p.ready[:0]
}

// free closes the descriptors of the pairs that have ended.
func (p *Proxy) free() {
	for i, each := range p.closing {
		each.free()
		p.closing[i] = nil
	}
	p.closing = p.closing[:0]
}

// upstream is a server, and the port that leads to it.
type upstream struct {
	p        *Proxy
	name     string // as it was given
	family   int
	at       unix.Sockaddr
	port     int
	listener int // -1 while the upstream refuses connections (refuse.go), or is down (crash.go)
	probing  int // a connection that asks it, 0 for none
	pairs    map[*pair]struct{}
	lab      labState
	turn     turn
	tls      *tls.Config // nil without TLS
	auth     []string    // for a connection of the proxy itself: a password, or a name and one; nil for none
	trouble  string      // what the log has said last, "" if the upstream has answered since

	id       string    // of its process, "" if the upstream has not said it
	same     *upstream // which it is as well: a server may have several addresses
	sentinel bool      // it has no keys
}

// accept takes the connections that wait, a bounded number in each pass.
func (u *upstream) accept() {
	for range 100 {
		if u.listener < 0 {
			return
		}
		fd, err := acceptFrom(u.listener)
		switch {
		case err == nil:
			u.p.welcome(u.canonical(), fd)
		case errors.Is(err, unix.EAGAIN):
			return
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED):
			u.pause(err)
			return
		}
	}
}

// pause stops listening for a moment. Without a free descriptor the listener would stay readable, and the loop would
// spin.
func (u *upstream) pause(err error) {
	u.p.log('#', "Accepting client connection: %v", err)
	u.p.loop.Unwatch(u.listener, reactor.Readable)
	u.p.loop.After(100*time.Millisecond, func() time.Duration {
		u.accepts()
		return 0
	})
}

// fails logs what is wrong with the upstream, once until it answers again.
func (u *upstream) fails(trouble string) {
	if u.trouble != trouble {
		u.trouble = trouble
		u.p.log('#', "Upstream %s %s", u.name, trouble)
	}
}

// works logs that the upstream answers again.
func (u *upstream) works() {
	if u.trouble != "" {
		u.trouble = ""
		u.p.log('*', "Upstream %s answers again", u.name)
	}
}
