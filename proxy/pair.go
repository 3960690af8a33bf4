package proxy

import (
	"errors"
	"fmt"

	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// pair is a client and its connection to the upstream.
type pair struct {
	p  *Proxy
	up *upstream
	session

	client, server    int     // descriptors
	names             *naming // nil unless replies are renamed
	requests, replies way
	connecting        bool // the connection to the upstream is not there yet: nothing may be sent
	ended             bool
	ending            ending // how the client's connection ends
	works             bool   // a whole reply has come
	parser            resp.Parser
	large             resp.Cutter // finds the end of a request that is too large to hold
	inLarge, unparsed bool        // such a request is under way; the requests are none that anybody can read
	cutter            resp.Cutter
	raw               bool // the upstream sends other bytes than replies: see track

	due     []*due  // oldest first
	waiting []byte  // replies that have to wait for what is due
	parked  *parked // nil while requests go on
	decided *parked // what the next request was, nil if rules have to look at it
	silent  bool    // the client gets nothing any more
	asking  bool    // LAB waits for what the upstream says, and the next requests wait for LAB
	last    bool    // no further request is sent

	queued  bool               // it waits for the turn
	granted bool               // it has the turn, and has not sent its request
	under   *underway          // its request has no reply yet
	kept    []byte             // of the upstream, until the log has the request
	stalled bool               // its next request waits until the client has taken the replies
	muted   bool               // nothing gets through to the client, or from it
	tell    func(reply []byte) // gets the reply of LAB that came over no connection: see relay.go
	relayed *relayed           // the LAB ALL or LAB MASTER that this is a part of, nil for none
	dying   bool               // the client is gone, and the reply to its request is awaited
	orphan  bool               // the upstream is gone, and the client gets one more reply to LAB
}

// ending is how a connection ends.
type ending uint8

const (
	fin     ending = iota // as close(2) does
	reset                 // by a TCP reset
	drained               // by the end of the stream, even if the client has sent what nobody has read
)

const (
	// longestFront is how much of a request the proxy holds to read it whole. A longer one goes past in pieces.
	longestFront = 64 << 10

	// anyBulk is the longest string in a request. The upstream has its own limit, and says so.
	anyBulk = 1 << 48
)

func newParser() resp.Parser {
	return resp.Parser{Limits: resp.Limits{MaxBulk: anyBulk}}
}

// join connects a new client with its upstream. The client's requests wait in the kernel meanwhile.
func (p *Proxy) join(u *upstream, client int, t *ioworkers.TLS) {
	c := &pair{p: p, up: u, client: client, parser: newParser(), connecting: true}
	server, err := startConnect(u.family, u.at)
	if err != nil {
		u.fails(fmt.Sprintf("cannot be reached: %v", err))
		u.shuts(err)
		closeSocket(client, reset)
		return
	}
	c.server = server
	if p.places != nil {
		c.names = &naming{at: c.place, secure: u.tls != nil}
	}
	u.lab.ids++
	c.id = u.lab.ids
	c.requests = way{c: c, from: client, to: server, in: t}
	c.replies = way{c: c, from: server, to: client, out: t}
	u.pairs[c] = struct{}{}
	if err := p.loop.Watch(server, reactor.Writable, c.connected); err != nil {
		u.fails(fmt.Sprintf("cannot be reached: %v", err))
		c.end(reset)
	}
}

// connected runs when the connection to the upstream is there, or has failed.
func (c *pair) connected() {
	c.p.loop.Unwatch(c.server, reactor.Writable)
	if err := socketError(c.server); err != nil {
		c.up.fails(fmt.Sprintf("cannot be reached: %v", err))
		c.up.shuts(err)
		c.end(reset)
		return
	}
	c.up.secure(c.server, func(t *ioworkers.TLS, err error) {
		if err != nil {
			if !errors.Is(err, errSilent) { // the proxy goes on
				c.up.fails(fmt.Sprintf("has refused TLS: %v", err))
			}
			c.end(reset)
			return
		}
		c.requests.out, c.replies.in, c.connecting = t, t, false
		c.requests.rewatch()
		c.replies.rewatch()
	})
}

// end ends both connections at the end of the pass.
func (c *pair) end(how ending) {
	if c.ended || c.dies(how) {
		return
	}
	c.ended, c.ending = true, how
	c.up.turn.forget(c)
	c.p.loop.Unwatch(c.client, reactor.Readable|reactor.Writable|reactor.HangUp)
	c.p.loop.Unwatch(c.server, reactor.Readable|reactor.Writable)
	c.p.closing = append(c.p.closing, c)
	c.forgetParked()
	c.up.lab.forgetWaits(func(w *wait) bool { return w.c == c })
	for _, d := range c.due {
		c.hurry(d)
	}
}

// free closes the descriptors.
func (c *pair) free() {
	if c.muted && c.up.lab.mutes(c.name) {
		c.linger()
	} else {
		if c.replies.out != nil && c.ending != reset {
			c.replies.out.SayGoodbye()
		}
		closeSocket(c.client, c.ending)
	}
	closeSocket(c.server, fin)
	c.requests.release()
	c.replies.release()
	delete(c.up.pairs, c)
}

// cutReplies checks that buf has replies, and counts them. It returns how many bytes the client may get.
func (c *pair) cutReplies(buf []byte) (n int, err error) {
	for !c.raw && n < len(buf) {
		took, kind, err := c.cutter.Cut(buf[n:])
		n += took
		if err != nil {
			return n, err
		}
		if kind != 0 {
			c.proved()
		}
		if kind != 0 && kind != '>' {
			c.answered++
		}
	}
	return len(buf), nil
}

// proved notes that the upstream has sent a whole reply.
func (c *pair) proved() {
	if !c.works {
		c.works = true
		c.up.works()
	}
}
