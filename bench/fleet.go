package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// fleet are connections that stay open while several loads run over them. So the cost of a
// connection is not part of the cost of a request.
type fleet []*conn

const (
	// perAddress keeps below the number of ports that one address has for connections it begins.
	perAddress = 20_000
	// spare are the open files of a server or of the load besides their connections.
	spare = 100
)

// openFleet connects n clients. Above perAddress they come from several addresses of this machine.
func openFleet(addr string, n int) (fleet, error) {
	f := make(fleet, 0, n)
	for i := range n {
		from := net.IPv4(127, 0, 0, byte(1+i/perAddress))
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Control: portAtConnect}
		c, err := d.DialContext(context.Background(), "tcp", addr)
		if err != nil {
			f.close()
			return nil, fmt.Errorf("connection %d of %d: %w", i+1, n, err)
		}
		// A connection that is reset leaves nothing behind. Others would keep their ports for a
		// minute.
		_ = c.(*net.TCPConn).SetLinger(0)
		f = append(f, &conn{respclient.New(c, 1<<10)})
	}
	// The server has accepted a client that it answers.
	for _, c := range f {
		if _, err := c.Do("PING"); err != nil {
			f.close()
			return nil, err
		}
	}
	return f, nil
}

func (f fleet) close() {
	for _, c := range f {
		c.Close()
	}
}

// drive sends j over all connections at once, and returns the number of requests.
func (f fleet) drive(j job) (requests int, err error) {
	batches := max(1, j.n/j.pipeline/len(f))
	done := make(chan error)
	for i, c := range f {
		go func() {
			_, err := c.sendJob(j, batches, uint64(i))
			done <- err
		}()
	}
	for range f {
		err = errors.Join(err, <-done)
	}
	return batches * j.pipeline * len(f), err
}

// cost is the server's CPU time for a load of this fleet, in microseconds per request.
func (f fleet) cost(s *server, j job) (float64, error) {
	before := s.cpu()
	requests, err := f.drive(j)
	return perRequest(s, before, requests), err
}

// mostFiles raises the limit of open files to n, or as far as it may, and returns the limit.
// Servers that are started later inherit it.
func mostFiles(n uint64) (uint64, error) {
	if err := allowFiles(n); err == nil {
		return n, nil
	}
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, err
	}
	l.Cur = l.Max
	return l.Max, unix.Setrlimit(unix.RLIMIT_NOFILE, &l)
}
