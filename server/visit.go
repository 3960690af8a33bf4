package server

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// visit is a request that came over no connection: from another master, over HTTP, or from
// the program that the server is a part of. For the executor it is a client like others,
// with a session of its own that may do anything, and it can be kept waiting like others.
// It is in no list of clients, has a negative ID and no place (Session.Index is -1).
//
//	any goroutine                    this server's
//	receive ── Post ───────────────> serveVisit ──> executor
//	                                     │ at once, or when it has waited
//	done(reply) <────────────────────────┘
type visit struct {
	client                      // which has no socket
	args     [][]byte           // of the request
	done     func(reply []byte) // called once, by this server's goroutine or by receive
	own      *relay             // that it is a part of, where a client of this same server waits for it
	together bool               // the same is asked of all masters
	toAll    bool               // by LAB ALL of a connection, the same is asked of all masters
}

// door is where visits come in. It belongs to no goroutine.
type door struct {
	mu     sync.Mutex
	lastID int64
	inside map[int64]*visit // not answered yet
	ended  chan struct{}    // closed when the server has ended
}

// errVisitOver is for a visit that ends as a connection would that is closed.
const errVisitOver store.Error = "ERR The server has dropped this request, its log says why"

// receive has s execute a request, now or in the next pass. Any goroutine may call it.
func (s *Server) receive(v *visit) {
	v.FD, v.visit = -1, v
	v.sess.Index, v.sess.Addr, v.sess.Local, v.sess.Authenticated = -1, "lab", true, true
	s.door.mu.Lock()
	if s.hasEnded() {
		s.door.mu.Unlock()
		v.done(s.lastAnswer())
		return
	}
	s.door.lastID--
	v.sess.ID = s.door.lastID
	s.door.inside[v.sess.ID] = v
	s.door.mu.Unlock()
	s.post(func() { s.serveVisit(v) })
}

// lastAnswer is the reply of a server that executes nothing any more.
func (s *Server) lastAnswer() []byte {
	return errorReply(errorf("ERR LAB: master %d has ended", s.number))
}

func errorReply(err error) []byte {
	var w resp.Writer
	w.Error(err.Error())
	return w.Buf
}

func (s *Server) serveVisit(v *visit) {
	if v.closed {
		return
	}
	if err := s.refuseVisit(v.args); err != nil {
		s.endVisit(v, errorReply(err))
		return
	}
	v.Out.Proto = v.sess.Proto
	s.running = &v.client
	s.executeVisit(v)
	s.running = nil
	if v.sess.Hold == command.NotHeld && !v.closed {
		s.endVisit(v, v.Out.Buf)
	}
}

func (s *Server) executeVisit(v *visit) {
	defer s.recoverCommand(&v.client)
	s.ex.Do(&v.sess, v.args, &v.Out)
}

// refuseVisit refuses what is about the connection it comes over.
func (s *Server) refuseVisit(args [][]byte) error {
	if len(args) == 0 {
		return errSyntax
	}
	cmd := s.ex.Table.Lookup(args)
	if cmd == nil || cmd.Group == labGroup || !cmd.NeedsConnection() { // the executor refuses an unknown command
		return nil
	}
	return errorf("ERR %s needs a connection", strings.ToUpper(cmd.Name))
}

// endVisit has the reply handed over, unless the visit has ended already.
func (s *Server) endVisit(v *visit, reply []byte) {
	s.ex.Gone(&v.sess)
	s.door.mu.Lock()
	inside := s.door.inside[v.sess.ID] == v
	delete(s.door.inside, v.sess.ID)
	s.door.mu.Unlock()
	v.closed = true
	if inside {
		s.answers = append(s.answers, func() { v.done(reply) })
	}
}

// answerVisits ends a pass: as for clients, what a request has caused is on the wire, or has
// happened to connections, when its answer comes.
func (s *Server) answerVisits() {
	for _, answer := range s.answers {
		answer()
	}
	clear(s.answers)
	s.answers = s.answers[:0]
}

// callOff ends a visit whose reply nobody wants any more, though it may still come. Any
// goroutine may call it.
func (s *Server) callOff(v *visit) { s.post(func() { s.endVisit(v, nil) }) }

// post has fn called where the next pass executes commands. Any goroutine may call it.
func (s *Server) post(fn func()) {
	s.loop.Post(func() { s.posted = append(s.posted, fn) })
}

func (s *Server) executePosted() {
	for len(s.posted) > 0 {
		fn := s.posted[0]
		s.posted = s.posted[1:]
		fn()
	}
}

// closeDoor answers all who are inside or will come: the loop runs no more.
func (s *Server) closeDoor() {
	s.answerVisits()
	s.door.mu.Lock()
	left := s.door.inside
	s.door.inside = nil
	close(s.door.ended)
	s.door.mu.Unlock()
	for _, v := range left {
		v.done(s.lastAnswer())
	}
}

// clientOf is the client whose session that is.
func (s *Server) clientOf(sess *command.Session) *client {
	if sess.Index >= 0 {
		return s.order[sess.Index]
	}
	return s.withID(sess.ID)
}

// withID is the client with that ID, a visit or not: nil when it has gone.
func (s *Server) withID(id int64) *client {
	if id >= 0 {
		return s.clients[id]
	}
	s.door.mu.Lock()
	defer s.door.mu.Unlock()
	if v := s.door.inside[id]; v != nil {
		return &v.client
	}
	return nil
}

// Do is Server.Do of master n, counted from 1, or for 0 of one that has not ended.
func (m Masters) Do(ctx context.Context, n int, args ...string) (resp.Value, error) {
	if n > 0 {
		return m[n-1].Do(ctx, args...)
	}
	runs := m[0]
	for _, s := range m {
		if !s.hasEnded() {
			runs = s
			break
		}
	}
	return runs.Do(ctx, args...)
}

// Ended is closed when Run is over.
func (s *Server) Ended() <-chan struct{} { return s.door.ended }

func (s *Server) hasEnded() bool {
	select {
	case <-s.door.ended:
		return true
	default:
		return false
	}
}

// Do executes a request as if a client had sent it, and waits for the reply: a LAB verb, or
// a command that is not about connections, on which no rule of the lab has effect. It may be
// called by any goroutine but the one in Run, once New has returned; nothing is executed
// before Run. An error reply is returned as an error.
func (s *Server) Do(ctx context.Context, args ...string) (resp.Value, error) {
	if err := refuseBubble(); err != nil {
		return resp.Value{}, err
	}
	reply := make(chan []byte, 1)
	v := &visit{done: func(b []byte) { reply <- b }}
	v.sess.Proto = 3
	for _, arg := range args {
		v.args = append(v.args, []byte(arg))
	}
	s.receive(v)
	select {
	case b := <-reply:
		value, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(b)))
		if err == nil && value.Kind == '-' {
			err = store.Error(value.Str)
		}
		return value, err
	case <-ctx.Done():
		s.callOff(v)
		return resp.Value{}, ctx.Err()
	}
}
