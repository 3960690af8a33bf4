package proxy

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// address is where a node is.
type address struct {
	host string
	port int
}

// scout asks an upstream for the nodes behind it. It finds them in the replies as it does for clients.
type scout struct {
	c     net.Conn
	in    *bufio.Reader
	found []address
	batch []address // of the newest reply

	secure bool // it has TLS
}

// scoutTime is how long an upstream may take.
const scoutTime = 5 * time.Second

// discover asks one upstream after another until one says which nodes there are. Any goroutine may call it.
func (p *Proxy) discover() (found []address, err error) {
	for _, name := range p.cfg.Upstreams {
		var one error
		if found, one = p.scout(name); one == nil {
			return found, nil
		}
		err = errors.Join(err, fmt.Errorf("the upstream %s does not say which nodes there are: %w", name, one))
	}
	return nil, err
}

func (p *Proxy) scout(name string) ([]address, error) {
	c, err := p.dial(name)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s := &scout{c: c, in: bufio.NewReader(c), secure: p.cfg.UpstreamTLS != nil}
	if p.cfg.Auth != nil {
		_, _ = s.ask(nil, append([]string{"AUTH"}, p.cfg.Auth...)...) // what follows says whether that was needed
	}
	if p.cfg.Behind == Cluster {
		_, err = s.ask((*renamer).nodes, "CLUSTER", "NODES")
	} else {
		err = s.askSentinel(p.cfg.MasterName)
	}
	return s.found, err
}

// dial connects with an upstream, and waits for a handshake if it has TLS.
func (p *Proxy) dial(name string) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", name, scoutTime)
	if err == nil {
		err = c.SetDeadline(time.Now().Add(scoutTime))
	}
	if err != nil || p.cfg.UpstreamTLS == nil {
		return c, err
	}
	host, _, _ := net.SplitHostPort(name)
	secure := tls.Client(c, secured(p.cfg.UpstreamTLS, host))
	if err := secure.Handshake(); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("it has refused TLS: %w", err)
	}
	return secure, nil
}

// askSentinel asks for the masters, or for one, and for all that belongs to them.
func (s *scout) askSentinel(only string) error {
	names := []string{only}
	if only == "" {
		reply, err := s.ask(nil, "SENTINEL", "MASTERS")
		if err != nil {
			return err
		}
		names = nil
		v, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(reply)))
		if err != nil {
			return err
		}
		for _, master := range v.Elems {
			names = append(names, field(master, "name").Str)
		}
	}
	for _, sub := range []string{"SENTINELS", "MASTER", "REPLICAS"} {
		for _, name := range names {
			if _, err := s.ask((*renamer).fields, "SENTINEL", sub, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask asks one thing. The nodes that the reply names are added in the order of their addresses.
func (s *scout) ask(do rewrite, words ...string) ([]byte, error) {
	if _, err := s.c.Write(resp.AppendRequest(nil, words...)); err != nil {
		return nil, err
	}
	var reply []byte
	var cutter resp.Cutter
	for kind := byte(0); kind == 0; {
		if _, err := s.in.Peek(1); err != nil {
			return nil, err
		}
		front, _ := s.in.Peek(s.in.Buffered())
		n, ends, err := cutter.Cut(front)
		if err != nil {
			return nil, err
		}
		reply, kind = append(reply, front[:n]...), ends
		_, _ = s.in.Discard(n)
	}
	if reply[0] == '-' {
		return nil, errors.New(string(bytes.TrimSpace(reply[1:])))
	}
	if do != nil {
		s.batch = nil
		rename(reply, do, s.secure, s.notes)
		slices.SortFunc(s.batch, func(a, b address) int {
			return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.port, b.port))
		})
		s.found = append(s.found, s.batch...)
	}
	return reply, nil
}

// notes notes an address that a reply names.
func (s *scout) notes(host string, port int) (string, int) {
	if !hides(host) {
		s.batch = append(s.batch, address{host, port})
	}
	return host, port
}
