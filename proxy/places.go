package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/resp"
)

// What an upstream may show the way to.
const (
	Sentinel = "sentinel" // the servers of the masters that it watches, and other Sentinels
	Cluster  = "cluster"  // the other nodes of its cluster
)

// Each address that a reply names has a port of the proxy:
//
//	reply of the upstream     MOVED 42 10.0.0.3:6379
//	                                   │ places: is there a port for it? else one is opened
//	what the client gets      MOVED 42 127.0.0.1:7779
//
// A server may have several addresses: a name and an IP, or one for its clients and one for its replicas. Its process
// has one ID. So the ports lead to one upstream, which has one log.

// places has the upstream of each address.
type places struct {
	p     *Proxy
	next  int // the port of the next one; 0 for free ports
	known map[string]*upstream
}

// findPlaces asks the upstreams for the nodes behind them, and opens their ports. The error says why none of the
// upstreams says so.
func (p *Proxy) findPlaces() error {
	s := &places{p: p, known: map[string]*upstream{}}
	if p.places = s; p.cfg.Port != 0 {
		s.next = p.cfg.Port + len(p.upstreams)
	}
	for i, u := range p.upstreams {
		at, _ := net.ResolveTCPAddr("tcp", p.cfg.Upstreams[i])
		s.known[u.name], s.known[keyOfAddress(at.IP.String(), at.Port)] = u, u
		u.identify()
	}
	found, err := p.discover()
	if err != nil {
		return err
	}
	for _, at := range found {
		if s.find(at.host, at.port) == nil {
			return fmt.Errorf("there is no port for %s", keyOfAddress(at.host, at.port))
		}
	}
	return nil
}

func keyOfAddress(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// find returns the upstream of an address. It is nil if no port could be opened.
func (s *places) find(host string, port int) *upstream {
	key := keyOfAddress(host, port)
	if u := s.known[key]; u != nil {
		return u
	}
	at, err := net.ResolveTCPAddr("tcp", key) // an IP, as nearly always, is no question for others
	if err != nil {
		s.p.log('#', "A reply names %s, which is no address: %v", key, err)
		return nil
	}
	ip := keyOfAddress(at.IP.String(), at.Port)
	u := s.known[ip]
	if u == nil {
		if u, err = s.open(key, at.AddrPort()); err != nil {
			s.p.log('#', "There is no port for %s: %v", key, err)
			return nil
		}
	}
	s.known[key], s.known[ip] = u, u
	return u
}

// mostTaken is how many ports in turn may belong to others.
const mostTaken = 1000

// open opens the next port.
func (s *places) open(name string, at netip.AddrPort) (u *upstream, err error) {
	for range mostTaken {
		if s.next > 65535 {
			return nil, errors.New("the ports are all taken")
		}
		u, err = s.p.listen(name, at, s.next)
		if s.next != 0 {
			s.next++
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if s.p.announced { // the others are announced together
		s.p.log('*', "Ready to accept connections tcp: port %d leads to %s", u.port, name)
	}
	u.joins()
	u.identify()
	return u, nil
}

// identify asks an upstream for the ID of its process, and accepts clients then. One that does not answer has clients
// as well.
func (u *upstream) identify() {
	u.lab.ask("PING")(func(_ resp.Value, err error) {
		u.shuts(err)
		u.accepts()
	})
}

// unify finds out whether an upstream is another one as well.
func (u *upstream) unify(id string) {
	u.id, u.same = id, nil
	for _, other := range u.p.upstreams {
		if other == u {
			return
		}
		if id != "" && other.id == id && other.same == nil {
			u.same = other
			return
		}
	}
}

// canonical returns the upstream that has the log of the server.
func (u *upstream) canonical() *upstream {
	if u.same != nil {
		return u.same
	}
	return u
}

// place returns the address that a client is told instead of that of a node.
func (c *pair) place(host string, port int) (string, int) {
	if hides(host) {
		host, _, _ = net.SplitHostPort(c.up.name)
	}
	u := c.p.places.find(host, port)
	if u == nil {
		return c.here(), 0 // nobody walks past the proxy
	}
	return c.here(), u.canonical().port
}

// here returns the host at which the client reaches the proxy.
func (c *pair) here() string {
	if c.p.cfg.Announce != "" {
		return c.p.cfg.Announce
	}
	switch at, _ := unix.Getsockname(c.client); at := at.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(at.Addr).String()
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(at.Addr).Unmap().String()
	}
	return c.p.cfg.Bind
}
