package proxy

import (
	"fmt"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// pair is a client and its connection to the upstream.
type pair struct {
	p  *Proxy
	up *upstream

	client, server    int // descriptors
	requests, replies way
	ended             bool
	ending            ending // how the client's connection ends
	answered          bool   // a whole reply has come
	parser            resp.Parser
	large             resp.Cutter // finds the end of a request that is too large to hold
	inLarge, unparsed bool        // such a request is under way; the requests are none that anybody can read
	cutter            resp.Cutter
	raw               bool // the upstream sends other bytes than replies: see watchRequest
}

// ending is how a connection ends.
type ending uint8

const (
	fin   ending = iota // as close(2) does
	reset               // by a TCP reset
)

const (
	// longestFront is how much of a request the proxy holds to read it whole. A longer one goes past in pieces.
	longestFront = 16 << 10

	// No length is too large for the proxy: the upstream has its own limits.
	anyBulk = 1 << 48
	anyArgs = 1 << 31
)

// join connects a new client with its upstream. The client's requests wait in the kernel meanwhile.
func (p *Proxy) join(u *upstream, client int) {
	c := &pair{p: p, up: u, client: client, parser: resp.Parser{Limits: resp.Limits{MaxBulk: anyBulk, MaxArgs: anyArgs}}}
	server, err := startConnect(u.family, u.at)
	if err != nil {
		u.fails(fmt.Sprintf("cannot be reached: %v", err))
		closeSocket(client, reset)
		return
	}
	c.server = server
	c.requests = way{c: c, from: client, to: server}
	c.replies = way{c: c, from: server, to: client}
	u.pairs[c] = struct{}{}
	if err := p.loop.Watch(server, reactor.Writable, c.connected); err != nil {
		u.fails(fmt.Sprintf("cannot be reached: %v", err))
		c.end(reset)
	}
}

// connected runs when the connection to the upstream is there, or has failed.
func (c *pair) connected() {
	c.p.loop.Unwatch(c.server, reactor.Writable)
	err := socketError(c.server)
	if err == nil {
		err = c.requests.watch()
	}
	if err == nil {
		err = c.replies.watch()
	}
	if err != nil {
		c.up.fails(fmt.Sprintf("cannot be reached: %v", err))
		c.end(reset)
	}
}

// end ends both connections at the end of the pass.
func (c *pair) end(how ending) {
	if !c.ended {
		c.ended, c.ending = true, how
		c.p.loop.Unwatch(c.client, reactor.Readable|reactor.Writable)
		c.p.loop.Unwatch(c.server, reactor.Readable|reactor.Writable)
		c.p.closing = append(c.p.closing, c)
	}
}

// free closes the descriptors.
func (c *pair) free() {
	closeSocket(c.client, c.ending)
	closeSocket(c.server, fin)
	c.requests.release()
	c.replies.release()
	delete(c.up.pairs, c)
}

// cutRequests finds the requests in buf, of which the first done bytes are known. It returns how many are known then.
// Bytes behind them are the front of a request: the parser gets them again.
func (c *pair) cutRequests(buf []byte, done int) int {
	for !c.unparsed && done < len(buf) {
		if c.inLarge {
			n, kind, err := c.large.Cut(buf[done:])
			done += n
			c.inLarge, c.unparsed = kind == 0, err != nil
			continue
		}
		c.p.batch.Reset()
		n, err := c.parser.Parse(buf[done:], &c.p.batch)
		for i := range c.p.batch.Len() {
			c.watchRequest(c.p.batch.Args(i))
		}
		done += n
		switch {
		case err != nil:
			c.unparsed = true // the upstream says so to the client
		case len(buf)-done <= longestFront:
			return done
		default:
			c.inLarge, c.large, c.parser = true, resp.Cutter{}, resp.Parser{Limits: c.parser.Limits}
		}
	}
	return len(buf)
}

// watchRequest looks at a request. After PSYNC and SYNC, a server sends a file and then commands, and no replies.
func (c *pair) watchRequest(args [][]byte) {
	if ascii.EqualFold(args[0], "psync") || ascii.EqualFold(args[0], "sync") {
		c.raw = true
	}
}

// cutReplies checks that buf has replies. It returns how many bytes the client may get.
func (c *pair) cutReplies(buf []byte) (n int, err error) {
	for !c.raw && n < len(buf) {
		took, kind, err := c.cutter.Cut(buf[n:])
		n += took
		if err != nil {
			return n, err
		}
		if kind != 0 && !c.answered {
			c.answered = true
			c.up.works()
		}
	}
	return len(buf), nil
}
