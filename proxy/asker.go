package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// asker is a connection of the proxy itself to an upstream. It connects when somebody asks, and again after an end.
type asker struct {
	u      *upstream
	fd     int // -1 while there is none
	tls    *ioworkers.TLS
	begins bool // the connection is not there yet: nothing may be sent
	shakes *handshake
	out    []byte
	in     []byte
	cutter resp.Cutter
	cut    int // bytes of in that the cutter has seen
	asked  []*question
	closed bool   // nobody gets an answer any more
	runID  string // of the process that answered last, "" before
}

// question is some requests whose replies belong together.
type question struct {
	missing int
	got     []resp.Value
	then    func(got []resp.Value, err error)
	given   bool // nobody waits for the answer any more
}

// ask sends requests, and calls then with the n replies. An error means that not all of them have come.
func (a *asker) ask(n int, requests []byte, then func(got []resp.Value, err error)) *question {
	q := &question{missing: n, then: then, given: a.closed}
	if a.closed {
		return q
	}
	if a.fd < 0 {
		if err := a.connect(); err != nil {
			a.u.p.loop.Post(func() { q.answer(err) })
			return q
		}
	}
	a.asked = append(a.asked, q)
	a.out = append(a.out, requests...)
	a.write()
	return q
}

func (q *question) answer(err error) {
	if !q.given {
		q.given = true
		q.then(q.got, err)
	}
}

// connect begins a connection, and sends first what it needs.
func (a *asker) connect() error {
	fd, err := startConnect(a.u.family, a.u.at)
	if err != nil {
		return err
	}
	a.fd, a.tls, a.cutter, a.cut, a.in, a.out = fd, nil, resp.Cutter{}, 0, nil, nil
	if a.begins = a.u.tls != nil; a.begins {
		err = a.u.p.loop.Watch(fd, reactor.Writable, a.connected)
	} else {
		err = a.u.p.loop.Watch(fd, reactor.Readable, a.read)
	}
	if err != nil {
		a.end(err)
		return err
	}
	hello := []byte{}
	n := 3
	if a.u.auth != nil {
		hello, n = resp.AppendRequest(hello, append([]string{"AUTH"}, a.u.auth...)...), 4
	}
	hello = resp.AppendRequest(hello, "CLIENT", "SETNAME", "miniredisd-proxy")
	hello = resp.AppendRequest(hello, "CLIENT", "NO-TOUCH", "ON") // since Redis 7.2: looks do not keep keys from eviction
	if a.u.p.cfg.Behind == Cluster {
		hello, n = resp.AppendRequest(hello, "READONLY"), n+1 // a replica shows its keys
	}
	hello = resp.AppendRequest(hello, "INFO", "server")
	a.out = hello
	a.asked = append(a.asked, &question{missing: n, then: a.learnsRun})
	return nil
}

// connected begins TLS.
func (a *asker) connected() {
	a.u.p.loop.Unwatch(a.fd, reactor.Writable)
	if err := socketError(a.fd); err != nil {
		a.end(err)
		return
	}
	fd := a.fd
	var own *handshake
	own = a.u.secure(fd, func(t *ioworkers.TLS, err error) {
		if a.shakes != own {
			closeSocket(fd, fin) // end has left that to the handshake
			return
		}
		a.shakes = nil
		a.tls, a.begins = t, false
		if err == nil {
			err = a.u.p.loop.Watch(fd, reactor.Readable, a.read)
		}
		if err != nil {
			a.end(err)
			return
		}
		a.write()
		if a.fd == fd {
			a.read() // the handshake may have read beyond its end
		}
	})
	a.shakes = own
}

// learnsRun notices that the upstream is another process than before.
func (a *asker) learnsRun(got []resp.Value, err error) {
	if err != nil {
		return
	}
	info := got[len(got)-1].Str
	id := infoField(info, "run_id")
	if a.runID != "" && id != a.runID {
		a.u.lab.ledger.restarted = true
		clear(a.u.lab.scripts)
	}
	a.runID = id
	if a.u.p.places != nil && id != "" {
		a.u.sentinel = infoField(info, "redis_mode") == Sentinel
		a.u.unify(id + " " + infoField(info, "tcp_port"))
	}
}

// infoField returns a field of INFO.
func infoField(info, name string) string {
	_, rest, _ := bytes.Cut([]byte("\n"+info), []byte("\n"+name+":"))
	value, _, _ := bytes.Cut(rest, []byte("\r"))
	return string(value)
}

func (a *asker) write() {
	if a.begins {
		return
	}
	for len(a.out) > 0 {
		n, err := sendTo(a.fd, a.tls, a.out)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOTCONN):
			if err := a.u.p.loop.Watch(a.fd, reactor.Writable, a.write); err != nil {
				a.end(err)
			}
			return
		case err != nil:
			a.end(err)
			return
		}
		a.out = a.out[n:]
	}
	a.u.p.loop.Unwatch(a.fd, reactor.Writable)
}

func (a *asker) read() {
	buf := a.u.p.scratch[:chunk]
	n, err := receiveFrom(a.fd, a.tls, buf)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
	case err != nil:
		a.end(err)
	case n == 0:
		a.end(io.EOF)
	default:
		a.in = append(a.in, buf[:n]...)
		a.readReplies()
	}
}

func (a *asker) readReplies() {
	for a.fd >= 0 {
		n, kind, err := a.cutter.Cut(a.in[a.cut:])
		a.cut += n
		if err != nil {
			a.end(err)
			return
		}
		if kind == 0 {
			return
		}
		v, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(a.in[:a.cut])))
		if err != nil || len(a.asked) == 0 {
			a.end(fmt.Errorf("the upstream has sent what nobody asked for: %w", err))
			return
		}
		a.in, a.cut = slices.Clone(a.in[a.cut:]), 0
		q := a.asked[0]
		q.got = append(q.got, v)
		if q.missing--; q.missing == 0 {
			a.asked = a.asked[1:]
			q.answer(nil)
		}
	}
}

// end closes the connection. Those who wait for an answer get the error.
func (a *asker) end(err error) {
	if a.fd < 0 {
		return
	}
	a.u.p.loop.Unwatch(a.fd, reactor.Readable|reactor.Writable)
	if a.shakes != nil {
		a.shakes.giveUp(err)
		a.shakes = nil
	} else {
		closeSocket(a.fd, fin)
	}
	asked := a.asked
	a.fd, a.asked = -1, nil
	for _, q := range asked {
		q.answer(err)
	}
}
