// Package proxied runs tests of package miniredistest at another server: redis-server, valkey-server, or any that
// speaks Redis's protocol. A proxy in the process of the test stands before it and plays the failures.
//
//	srv := miniredistest.Run(t, proxied.Server(`redis-server --port {port} --save ""`))
//	srv.Fault("lost").Cmd("SET").Key("lock:*").Nth(1).DropReply()
//	lock := mylock.New(srv.Addr())
//
// RunMasters starts several of them. The methods are the same, but for what a proxy cannot do: it says so, and the test
// fails. The clock runs, and Clock().Advance moves the deadlines of keys. Do goes through the proxy: rules match it,
// and the history has its commands on keys.
package proxied

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/lab/labverdict"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/proxy"
	"github.com/miniredisd/miniredisd/proxy/child"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Server starts a command for each master, such as "redis-server --port {port} --save \"\"". It ends with the test.
// {port} is a free port, and {dir} a new folder. No shell runs the command.
func Server(command string) miniredistest.Option {
	return miniredistest.At(func(masters int, seed uint64, log logger) (*miniredistest.Elsewhere, error) {
		s := &servers{ended: make(chan error, 1)}
		for range masters {
			if err := s.add(command, log); err != nil {
				s.close()
				return nil, err
			}
		}
		return s.start(seed, log)
	})
}

// Upstream names servers that run already, one for each master: "127.0.0.1:6379" or "redis://127.0.0.1:6379". Each test
// begins with FLUSHALL, so name none whose keys somebody needs.
func Upstream(urls ...string) miniredistest.Option {
	return miniredistest.At(func(masters int, seed uint64, log logger) (*miniredistest.Elsewhere, error) {
		if len(urls) < masters {
			return nil, fmt.Errorf("Upstream has %d servers, and the test needs %d", len(urls), masters)
		}
		s := &servers{ended: make(chan error, 1)}
		for _, text := range urls[:masters] {
			addr, err := address(text)
			if err == nil {
				s.upstreams = append(s.upstreams, addr)
				_, err = ask(addr, []string{"FLUSHALL"})
			}
			if err != nil {
				return nil, fmt.Errorf("the upstream %s: %w", text, err)
			}
		}
		return s.start(seed, log)
	})
}

// address returns the host:port of a URL or of an address.
func address(text string) (string, error) {
	if !strings.Contains(text, "://") {
		return text, nil
	}
	at, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	if at.Scheme != "redis" || at.User != nil || strings.Trim(at.Path, "/") != "" {
		return "", errors.New("expected redis://host:port, without a name or a database")
	}
	if at.Port() == "" {
		return net.JoinHostPort(at.Hostname(), "6379"), nil
	}
	return at.Host, nil
}

type logger = func(level byte, format string, args ...any)

// servers are those of one test, and the proxy before them.
type servers struct {
	proxy     *proxy.Proxy
	ended     chan error // gets the error of the proxy's loop
	own       []*child.Child
	upstreams []string
	addrs     []string // of the proxy
}

// add starts one more server. If it ends by itself, it is started again.
func (s *servers) add(command string, log logger) error {
	var c *child.Child
	var err error
	c, err = child.New(command, func(line string) { log('*', "Server: %s", line) }, func(how string) {
		log('#', "The server has ended (%s), and is started again", how)
		if err := c.Start(); err != nil {
			log('#', "%v", err)
		}
	})
	if err != nil {
		return err
	}
	s.own, s.upstreams = append(s.own, c), append(s.upstreams, c.Addr)
	return c.Start()
}

// start starts the proxy.
func (s *servers) start(seed uint64, log logger) (*miniredistest.Elsewhere, error) {
	p, err := proxy.New(proxy.Config{
		Bind: "127.0.0.1", Upstreams: s.upstreams, Own: s.own, Multiplexer: config.Default().Multiplexer,
		ClockKeys: 10_000, Seed: seed, Match: store.MatchPattern, Log: log,
		Judge: labverdict.Judge, Diagnose: labverdict.Diagnose,
	})
	if err != nil {
		s.close()
		return nil, err
	}
	s.proxy = p
	for _, port := range p.Ports() {
		s.addrs = append(s.addrs, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	go func() { s.ended <- p.Run() }()
	return &miniredistest.Elsewhere{Addrs: s.addrs, Do: s.do, End: s.end}, nil
}

// do executes a command at a master. LAB needs no connection, so it also works while the server is down.
func (s *servers) do(ctx context.Context, master, db int, args []string) (resp.Value, error) {
	if len(args) > 0 && strings.EqualFold(args[0], "LAB") {
		return s.proxy.Ask(ctx, master+1, args)
	}
	// No rule holds a connection that has sent LAB.
	first, resp3, in := []string{"LAB", "CLOCK"}, []string{"HELLO", "3"}, []string{"SELECT", strconv.Itoa(db)}
	return ask(s.addrs[master], first, resp3, in, args)
}

// ask sends requests over a connection of their own, and returns the last reply. An error reply is an error.
func ask(addr string, requests ...[]string) (v resp.Value, err error) {
	c, err := respclient.Dial(addr)
	if err != nil {
		return v, err
	}
	defer c.Close()
	for _, words := range requests {
		if v, err = c.Do(words...); err == nil && v.Kind == '-' {
			err = errors.New(v.Str)
		}
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

func (s *servers) end() error {
	s.proxy.Stop()
	defer s.close()
	return <-s.ended
}

func (s *servers) close() {
	for _, c := range s.own {
		c.Close()
	}
}
