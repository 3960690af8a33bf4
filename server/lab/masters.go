package lab

import (
	"bytes"
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

func mastersRows() []command.Row {
	return []command.Row{
		Row("all", "verb:string [argument:string ...]",
			-2, command.AllowBusy,
			"Depends on the verb.",
			"Executes a verb on every master of the process.", (*State).relayToAll),
		Row("master", "master:integer verb:string [argument:string ...]",
			-2, command.AllowBusy,
			"Depends on the verb.",
			"Executes a verb on one master of the process.", (*State).relayToMaster),
	}
}

// relay is a verb that masters execute for a client of home, which is one of them. Only that client
// waits, so two masters can ask each other at the same time.
//
//	by: LAB ALL CLOCK ...      home                 master 2             master 3
//	   │ Await                  │ internal requests, one to home itself
//	   │                        ├── SendTo ───────────>│                    │
//	   │                        ├── SendTo ────────────────────────────────>│
//	   │                        │<── post(arrived) ────┘                    │
//	   │<── Answer, the last ───┤<── post(arrived) ─────────────────────────┘
type relay struct {
	home     *State
	by       *server.Client
	requests []*server.InternalRequest
	replies  [][]byte
	missing  int
	finish   func() // called once all replies are there
	closes   bool   // the client is closed after the reply
}

func (l *State) relayToAll(c *command.Call) error {
	if len(c.Args) == 2 {
		return labError("all", "verb is missing")
	}
	to := l.All
	if verb := c.Args[2]; ascii.EqualFold(verb, "clock") || ascii.EqualFold(verb, "reset") {
		to = l.servers() // other verbs mean keys, clients and links: a Sentinel gets them by LAB MASTER
	}
	return l.relay(c, "all", to, c.Args[2:])
}

func (l *State) relayToMaster(c *command.Call) error {
	if len(c.Args) < 4 {
		return labError("master", "%s is missing", [2]string{"master", "verb"}[len(c.Args)-2])
	}
	n, ok := ascii.ParseInt(c.Args[2])
	all := l.servers()
	switch {
	case !ok:
		return labError("master", "expects the number of a master, not '%s'", printable(c.Args[2]))
	case n < 1 || n > int64(len(all)):
		return labError("master", "there is no master %d, only 1 to %d", n, len(all))
	}
	return l.relay(c, "master", all[n-1:n], c.Args[3:])
}

// relay sends verb to the masters. This server checks the caller's permission, because the others do
// not know the caller.
func (l *State) relay(c *command.Call, how string, to []*State, verb [][]byte) error {
	if ascii.EqualFold(verb[0], "all") || ascii.EqualFold(verb[0], "master") || ascii.EqualFold(verb[0], "verdict") {
		return labError(how, "expects a verb for a single master, not '%s'", printable(verb[0]))
	}
	args := [][]byte{[]byte("LAB")}
	for _, arg := range verb {
		args = append(args, bytes.Clone(arg))
	}
	if err := c.Ex.Check(c.Sess, args); err != nil {
		return err
	}
	all := how == "all"
	r := &relay{home: l, by: l.Running}
	r.finish = func() { r.answerReplies(all) }
	r.send(c, to, func() *server.InternalRequest {
		v := &server.InternalRequest{
			Args: slices.Clone(args), Note: &labRequest{together: all, toAll: all && r.by.Internal == nil},
		}
		v.Sess.Proto = c.Sess.Proto
		return v
	})
	return nil
}

// send sends a request to each master. The client waits.
func (r *relay) send(c *command.Call, to []*State, request func() *server.InternalRequest) {
	r.missing, r.replies = len(to), make([][]byte, len(to))
	r.begin(c)
	for i, m := range to {
		v := request()
		v.Done = func(reply []byte) {
			r.home.Inbox.Post(func() { r.arrived(i, reply) })
		}
		if m == r.home {
			note := NoteOf(v)
			note.Own = r
			v.Note = &note
		}
		r.requests = append(r.requests, v)
		v.SendTo(m.Server)
	}
}

// labRequest is what the lab knows of an internal request.
type labRequest struct {
	Own      *relay       // set if a client of this same server waits for the relay it is part of
	together bool         // all masters get the same request
	toAll    bool         // the same, and it came by LAB ALL of a connection
	history  *lab.History // where LAB LOG EXPORT puts the log, instead of a text in the reply; or nil
}

// NoteOf returns what the lab knows of an internal request, nil for none.
func NoteOf(v *server.InternalRequest) labRequest {
	if v == nil || v.Note == nil {
		return labRequest{}
	}
	return *v.Note.(*labRequest)
}

// begin lets the client wait for the answer of r.
func (r *relay) begin(c *command.Call) {
	Of(r.by).relay = r
	c.Await((*resp.Writer).NullArray)
}

// arrived handles the reply of one master. CLIENT UNBLOCK may have ended the client's wait before, or
// the client may have gone.
func (r *relay) arrived(i int, reply []byte) {
	if Of(r.by).relay != r {
		return
	}
	r.replies[i] = reply
	if r.missing--; r.missing == 0 {
		r.finish()
	}
}

// answerReplies answers with an array of the replies, or with the only one of them.
func (r *relay) answerReplies(array bool) {
	r.answer(func(w *resp.Writer) {
		if array {
			w.Array(len(r.replies))
		}
		for _, reply := range r.replies {
			w.Raw(reply)
		}
	})
}

// answer ends the wait of the client, unless it has ended already.
func (r *relay) answer(write func(*resp.Writer)) {
	if Of(r.by).relay != r {
		return
	}
	Of(r.by).relay = nil
	r.home.Ex.Answer(&r.by.Sess, write)
	if r.closes && r.by.Internal == nil {
		r.by.Sess.CloseAfterReply = true
	}
}

// callOff tells the masters that the client no longer waits.
func (r *relay) callOff() {
	Of(r.by).relay = nil
	for _, v := range r.requests {
		v.CallOff()
	}
}

// caller returns the connection of this server that the verb under way came over. It is nil for a
// request of the program around, of another master's client, or of a client that has gone.
func (l *State) caller() *server.Client {
	if l.Running == nil || l.Running.Internal == nil {
		return l.Running
	}
	if r := NoteOf(l.Running.Internal).Own; r != nil && Of(r.by).relay == r && r.by.Internal == nil {
		return r.by
	}
	return nil
}

// closeCaller closes the caller's connection after its reply.
func (l *State) closeCaller() {
	switch c := l.caller(); {
	case c == nil:
	case c == l.Running:
		c.Sess.CloseAfterReply = true
	default:
		Of(c).relay.closes = true
	}
}
