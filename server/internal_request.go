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

// InternalRequest is a request that came over no connection: from another master, over HTTP, or from the
// program around the server. The executor sees a client like any other. Its session may do anything
// and may have to wait. It is in no list of clients. It has a negative ID and no place: Session.Index
// is -1.
//
//	any goroutine                    this server's
//	SendTo ─── Post ───────────────> serve ──────────> executor
//	                                     │ at once, or after a wait
//	done(reply) <────────────────────────┘
type InternalRequest struct {
	Client                          // without a socket
	at     *Server                  // that executes it
	Args   [][]byte                 // of the request
	Errand func(v *InternalRequest) // instead of a request: what another server does here. It calls end
	Done   func(reply []byte)       // called once, by this server's goroutine or by SendTo
	Note   any                      // what its sender knows of it, or nil
}

// inbox is where internal requests arrive. What stands behind mu belongs to no goroutine.
type inbox struct {
	s       *Server
	Posted  []func() // from other goroutines, to be called where commands are executed
	answers []func() // to be called at the end of the pass

	mu      sync.Mutex
	lastID  int64
	waiting map[int64]*InternalRequest // without a reply
	ended   chan struct{}              // closed when the server has ended
}

// errDropped is the reply to a request whose connection would be closed.
const errDropped store.Error = "ERR The server has dropped this request, its log says why"

const errDBIndex store.Error = "ERR DB index is out of range"

// SendTo hands a request to s, which executes it in its next pass. Any goroutine may call it.
func (v *InternalRequest) SendTo(s *Server) {
	v.at, v.FD, v.Internal = s, -1, v
	v.Sess.Index, v.Sess.Addr, v.Sess.Local, v.Sess.Authenticated = -1, "lab", true, true
	if take := s.Hooks.Take; take != nil && !s.Inbox.HasEnded() && take(v) {
		return
	}
	s.Inbox.mu.Lock()
	if s.Inbox.HasEnded() {
		s.Inbox.mu.Unlock()
		v.Done(s.Inbox.lastAnswer())
		return
	}
	s.Inbox.lastID--
	v.Sess.ID = s.Inbox.lastID
	s.Inbox.waiting[v.Sess.ID] = v
	s.Inbox.mu.Unlock()
	s.Inbox.Post(v.serve)
}

// lastAnswer is the reply of a server that has ended.
func (in *inbox) lastAnswer() []byte {
	return ErrorReply(errorf("ERR LAB: %s %d has ended", in.s.Kind(), in.s.Number))
}

// Kind is what s was at the start.
func (s *Server) Kind() string {
	if s.Cfg.IsSentinel(s.Number) {
		return "sentinel"
	}
	if s.Group != s.Number {
		return "replica"
	}
	return "master"
}

// ErrorReply returns the reply for an error.
func ErrorReply(err error) []byte {
	var w resp.Writer
	w.Error(err.Error())
	return w.Buf
}

// serve executes an internal request.
func (v *InternalRequest) serve() {
	if v.Closed {
		return
	}
	if v.Errand != nil {
		v.Errand(v)
		return
	}
	if err := v.refusal(); err != nil {
		v.End(ErrorReply(err))
		return
	}
	v.at.Running = &v.Client
	v.execute()
	v.at.Running = nil
	if v.Sess.Hold == command.NotHeld && !v.Closed {
		v.End(v.Out.Buf)
	}
}

// Execute executes a request as a part of an errand, and returns the reply. The reply is nil if the request has to
// wait: then the errand has to end. A command that needs a connection is executed, too.
func (v *InternalRequest) Execute(args ...string) (reply []byte) {
	v.Args, v.Out.Buf = v.Args[:0], v.Out.Buf[:0]
	for _, arg := range args {
		v.Args = append(v.Args, []byte(arg))
	}
	running := v.at.Running
	v.at.Running = &v.Client
	v.execute()
	v.at.Running = running
	if v.Sess.Hold != command.NotHeld {
		return nil
	}
	return v.Out.Buf
}

func (v *InternalRequest) execute() {
	defer v.at.RecoverCommand(&v.Client)
	v.at.Hooks.DoInternal(&v.Sess, v.Args, &v.Out)
}

// refusal is the error of a command that needs a connection.
func (v *InternalRequest) refusal() error {
	if len(v.Args) == 0 {
		return ErrSyntax
	}
	cmd := v.at.Ex.Table.Lookup(v.Args)
	if cmd == nil || !cmd.NeedsConnection() { // the executor refuses an unknown command
		return nil
	}
	return errorf("ERR %s needs a connection", strings.ToUpper(cmd.Name))
}

// End hands the reply over at the end of the pass, unless the request has ended already.
func (v *InternalRequest) End(reply []byte) {
	s := v.at
	s.Ex.Gone(&v.Sess)
	s.Inbox.mu.Lock()
	inside := s.Inbox.waiting[v.Sess.ID] == v
	delete(s.Inbox.waiting, v.Sess.ID)
	s.Inbox.mu.Unlock()
	v.Closed = true
	if inside {
		s.Inbox.answers = append(s.Inbox.answers, func() { v.Done(reply) })
	}
}

// answer hands replies over, at the end of a pass. By then everything that a request has caused
// is written, as it is for a client.
func (in *inbox) answer() {
	for _, answer := range in.answers {
		answer()
	}
	clear(in.answers)
	in.answers = in.answers[:0]
}

// CallOff ends a request whose reply is no longer wanted. The reply may still come. Any goroutine may
// call it.
func (v *InternalRequest) CallOff() { v.at.Inbox.Post(func() { v.End(nil) }) }

// Post makes the next pass call fn, before it executes commands. Any goroutine may call it.
func (in *inbox) Post(fn func()) {
	in.s.Loop.Post(func() { in.Posted = append(in.Posted, fn) })
}

func (s *Server) executeInternal() {
	for len(s.Inbox.Posted) > 0 && !s.Ex.Cut {
		fn := s.Inbox.Posted[0]
		s.Inbox.Posted = s.Inbox.Posted[1:]
		fn()
	}
}

// close answers all requests that wait or still come. The loop has ended.
func (in *inbox) close() {
	in.answer()
	in.mu.Lock()
	left := in.waiting
	in.waiting = nil
	close(in.ended)
	in.mu.Unlock()
	for _, v := range left {
		v.Done(in.lastAnswer())
	}
}

// Of returns the client of a session.
func (cs *clients) Of(sess *command.Session) *Client {
	if sess.Index >= 0 {
		return cs.Order[sess.Index]
	}
	return cs.WithID(sess.ID)
}

// WithID returns the client or internal request with that ID, nil if it has gone.
func (cs *clients) WithID(id int64) *Client {
	if id >= 0 {
		return cs.ByID[id]
	}
	cs.s.Inbox.mu.Lock()
	defer cs.s.Inbox.mu.Unlock()
	if v := cs.s.Inbox.waiting[id]; v != nil {
		return &v.Client
	}
	return nil
}

// Ended is closed when Run is over.
func (s *Server) Ended() <-chan struct{} { return s.Inbox.ended }

// HasEnded reports whether the server takes no more requests. Any goroutine may call it.
func (in *inbox) HasEnded() bool {
	select {
	case <-in.ended:
		return true
	default:
		return false
	}
}

// Do executes a request as if a client had sent it, and waits for the reply. The request is a LAB verb
// or a command that needs no connection. Rules of the lab do not apply to it. Any goroutine may call Do
// except the one in Run. Nothing is executed before Run. An error reply is returned as an error.
func (s *Server) Do(ctx context.Context, args ...string) (resp.Value, error) {
	return s.DoIn(ctx, 0, args...)
}

// DoIn is Do in a database.
func (s *Server) DoIn(ctx context.Context, db int, args ...string) (resp.Value, error) {
	if db < 0 || db >= s.Cfg.Databases {
		return resp.Value{}, errDBIndex
	}
	reply := make(chan []byte, 1)
	v := &InternalRequest{Done: func(b []byte) { reply <- b }}
	v.Sess.Proto, v.Sess.DB = 3, db
	for _, arg := range args {
		v.Args = append(v.Args, []byte(arg))
	}
	v.SendTo(s)
	select {
	case b := <-reply:
		value, err := resp.ReadReply(bufio.NewReaderSize(bytes.NewReader(b), min(len(b), 4096)))
		if err == nil && value.Kind == '-' {
			err = store.Error(value.Str)
		}
		return value, err
	case <-ctx.Done():
		v.CallOff()
		return resp.Value{}, ctx.Err()
	}
}
