package server

import (
	"bytes"
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

func mastersRows() []command.Row {
	return []command.Row{
		LabRow("all", "verb:string [argument:string ...]",
			-2, command.AllowBusy,
			"Depends on the verb.",
			"Executes a verb on every master of the process.", (*LabState).relayToAll),
		LabRow("master", "master:integer verb:string [argument:string ...]",
			-2, command.AllowBusy,
			"Depends on the verb.",
			"Executes a verb on one master of the process.", (*LabState).relayToMaster),
	}
}

// relay is a verb that masters execute for a client of home, which is one of them. Only that client
// waits, so two masters can ask each other at the same time.
//
//	by: LAB ALL CLOCK ...      home                 master 2             master 3
//	   │ Await                  │ internal requests, one to home itself
//	   │                        ├── sendTo ───────────>│                    │
//	   │                        ├── sendTo ────────────────────────────────>│
//	   │                        │<── post(arrived) ────┘                    │
//	   │<── Answer, the last ───┤<── post(arrived) ─────────────────────────┘
type relay struct {
	home     *LabState
	by       *Client
	requests []*InternalRequest
	replies  [][]byte
	missing  int
	finish   func() // called once all replies are there
	closes   bool   // the client is closed after the reply
}

func (l *LabState) relayToAll(c *command.Call) error {
	if len(c.Args) == 2 {
		return labError("all", "verb is missing")
	}
	return l.relay(c, "all", l.All, c.Args[2:])
}

func (l *LabState) relayToMaster(c *command.Call) error {
	if len(c.Args) < 4 {
		return labError("master", "%s is missing", [2]string{"master", "verb"}[len(c.Args)-2])
	}
	n, ok := ascii.ParseInt(c.Args[2])
	switch {
	case !ok:
		return labError("master", "expects the number of a master, not '%s'", printable(c.Args[2]))
	case n < 1 || n > int64(len(l.All)):
		return labError("master", "there is no master %d, only 1 to %d", n, len(l.All))
	}
	return l.relay(c, "master", l.All[n-1:n], c.Args[3:])
}

// relay sends verb to the masters. This server checks the caller's permission, because the others do
// not know the caller.
func (l *LabState) relay(c *command.Call, how string, to []*LabState, verb [][]byte) error {
	if is(verb[0], "all") || is(verb[0], "master") || is(verb[0], "verdict") {
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
	r.send(c, to, func() *InternalRequest {
		v := &InternalRequest{
			Args: slices.Clone(args), note: &labRequest{together: all, toAll: all && r.by.internal == nil},
		}
		v.Sess.Proto = c.Sess.Proto
		return v
	})
	return nil
}

// send sends a request to each master. The client waits.
func (r *relay) send(c *command.Call, to []*LabState, request func() *InternalRequest) {
	r.missing, r.replies = len(to), make([][]byte, len(to))
	r.begin(c)
	for i, m := range to {
		v := request()
		v.Done = func(reply []byte) {
			r.home.Inbox.post(func() { r.arrived(i, reply) })
		}
		if m == r.home {
			note := NoteOf(v)
			note.Own = r
			v.note = &note
		}
		r.requests = append(r.requests, v)
		v.sendTo(m.Server)
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
func NoteOf(v *InternalRequest) labRequest {
	if v == nil || v.note == nil {
		return labRequest{}
	}
	return *v.note.(*labRequest)
}

// begin lets the client wait for the answer of r.
func (r *relay) begin(c *command.Call) {
	LabOf(r.by).relay = r
	c.Await((*resp.Writer).NullArray)
}

// arrived handles the reply of one master. CLIENT UNBLOCK may have ended the client's wait before, or
// the client may have gone.
func (r *relay) arrived(i int, reply []byte) {
	if LabOf(r.by).relay != r {
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
	if LabOf(r.by).relay != r {
		return
	}
	LabOf(r.by).relay = nil
	r.home.Ex.Answer(&r.by.Sess, write)
	if r.closes && r.by.internal == nil {
		r.by.Sess.CloseAfterReply = true
	}
}

// callOff tells the masters that the client no longer waits.
func (r *relay) callOff() {
	LabOf(r.by).relay = nil
	for _, v := range r.requests {
		v.callOff()
	}
}

// caller returns the connection of this server that the verb under way came over. It is nil for a
// request of the program around, of another master's client, or of a client that has gone.
func (l *LabState) caller() *Client {
	if l.Running == nil || l.Running.internal == nil {
		return l.Running
	}
	if r := NoteOf(l.Running.internal).Own; r != nil && LabOf(r.by).relay == r && r.by.internal == nil {
		return r.by
	}
	return nil
}

// closeCaller closes the caller's connection after its reply.
func (l *LabState) closeCaller() {
	switch c := l.caller(); {
	case c == nil:
	case c == l.Running:
		c.Sess.CloseAfterReply = true
	default:
		LabOf(c).relay.closes = true
	}
}
