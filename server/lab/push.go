package lab

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/server"
)

// lateSize is about what it costs, in bytes, to keep back one reply or message.
const lateSize = 256

// keepBack counts a reply or message that c gets later. n is its size, or 0 if it is already in c's
// output.
func keepBack(c *server.Client, n int) {
	c.Delayed.Messages++
	c.Delayed.Bytes += n + lateSize
}

// letGo takes back what keepBack has counted.
func letGo(c *server.Client, n int) {
	c.Delayed.Messages--
	c.Delayed.Bytes -= n + lateSize
}

// Outgoing reports whether a message goes to a client now. A rule may skip or delay it.
func (l *State) Outgoing(to *command.Session, message []byte) bool {
	if to.Index < 0 {
		return true
	}
	if f := Of(l.Clients.Order[to.Index]).Fault; f != nil && f.silent {
		return false
	}
	if !l.plan.OnPushes() {
		return true
	}
	q := &lab.Request{Client: to.ID, Name: to.Name, Calls: pushCalls(message)}
	r := l.plan.Push(q)
	if r == nil {
		return true
	}
	l.Shown.Struck(to.ID, r, trace.Shown(message))
	e := l.newEntry(to, r.Name)
	e.Key, e.Reply = l.logKey(q.Calls), lab.Reply(message)
	e.Outcome, e.DB = lab.PushSkipped, 0 // channels belong to no database
	if len(q.Calls) > 0 {
		e.Cmd = []string{q.Calls[0].Cmd}
	}
	switch r.Action {
	case lab.DelayPush:
		e.Outcome = lab.PushLate
		l.pushLater(l.Clients.Of(to), slices.Clone(message), time.Duration(r.Millis)*time.Millisecond)
	case lab.NotePush:
		e.Outcome = lab.Executed
	}
	l.history.Add(e)
	return r.Action == lab.NotePush
}

// pushLater sends a message to c when d has passed. Other messages may overtake it.
func (l *State) pushLater(c *server.Client, message []byte, d time.Duration) {
	f, push := faulty(c), &keptBack{}
	if f.pushes == nil {
		f.pushes = map[*keptBack]struct{}{}
	}
	f.pushes[push] = struct{}{}
	keepBack(c, len(message))
	push.timer = l.After(d, func() {
		delete(f.pushes, push)
		letGo(c, len(message))
		if !f.silent {
			l.PushMessage(c, message)
		}
	})
	if c.OutputMem() > l.Ex.OutputTrigger {
		l.Clients.OverOutputLimit(c)
	}
}

// pushCalls describes a message in the terms of rules. A RESP2 client hears of invalid keys by a
// message of a channel. Rules for both kinds match it.
func pushCalls(message []byte) []lab.Call {
	words := lab.PushWords(message)
	if len(words) < 2 {
		return nil
	}
	kind, keys := string(words[0]), words[1:]
	switch {
	case kind == "pmessage":
		keys = words[2:3]
	case kind != "invalidate" && len(words) > 2:
		keys = words[1:2]
	}
	calls := []lab.Call{{Cmd: kind, Keys: keys}}
	if kind == "message" && string(words[1]) == "__redis__:invalidate" {
		calls = append(calls, lab.Call{Cmd: "invalidate", Keys: words[2:]})
	}
	return calls
}
