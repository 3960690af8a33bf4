package miniredistest

import (
	"strconv"
	"time"
)

// Rule is a rule that is not complete yet. Its methods add conditions. An action, such as
// DropReply, completes it:
//
//	srv.Fault("lost").Cmd("SET").Key("lock:*").Nth(1).DropReply()
//
// A rule without conditions matches every request of every client. If several rules would fire for
// one request, only the rule that was made first does.
type Rule struct {
	of    []*Server
	name  string
	words []string
	acted bool
}

// Fault begins a rule. The history shows it under its name.
func (s *Server) Fault(name string) *Rule { return begin([]*Server{s}, name) }

// Fault begins a rule on every master.
func (m Masters) Fault(name string) *Rule { return begin(m, name) }

func begin(of []*Server, name string) *Rule {
	r := &Rule{of: of, name: name}
	of[0].in.rules = append(of[0].in.rules, r)
	return r
}

// checkRules fails the test if a rule has no action.
func (s *Server) checkRules() {
	s.t.Helper()
	for _, r := range s.in.rules {
		if !r.acted {
			s.t.Errorf("Fault(%q) has no action, such as DropReply: it had no effect", r.name)
		}
	}
}

func (r *Rule) with(words ...string) *Rule {
	r.words = append(r.words, words...)
	return r
}

// Cmd matches a command: "SET", or with a subcommand "CLIENT|LIST".
func (r *Rule) Cmd(name string) *Rule { return r.with("CMD", name) }

// Key matches commands with a key or a channel that matches glob.
func (r *Rule) Key(glob string) *Rule { return r.with("KEY", glob) }

// Script matches scripts with this SHA1, or with this text in them.
func (r *Rule) Script(shaOrText string) *Rule { return r.with("SCRIPT", shaOrText) }

// Client matches clients whose name (CLIENT SETNAME) matches glob.
func (r *Rule) Client(glob string) *Rule { return r.with("CLIENT", glob) }

// ClientID matches one client.
func (r *Rule) ClientID(id int64) *Rule { return r.with("CLIENT", strconv.FormatInt(id, 10)) }

// Order matches the client that was the nth to match, from 1. A connection that continues for another one is the
// same client. Nth then counts the matches of this client.
func (r *Rule) Order(n int) *Rule { return r.with("ORDER", strconv.Itoa(n)) }

// Nth makes the rule fire for its nth match, from 1. It fires once unless Times says otherwise.
func (r *Rule) Nth(n int) *Rule { return r.with("NTH", strconv.Itoa(n)) }

// Times makes the rule fire n times.
func (r *Rule) Times(n int) *Rule { return r.with("TIMES", strconv.Itoa(n)) }

// Prob makes the rule fire with probability p. The seed decides the dice.
func (r *Rule) Prob(p float64) *Rule { return r.with("PROB", strconv.FormatFloat(p, 'f', -1, 64)) }

// DropBefore closes the connection instead of executing the request.
func (r *Rule) DropBefore() *Fault { return r.act("DROP-BEFORE") }

// DropReply executes the request and closes the connection without the reply.
func (r *Rule) DropReply() *Fault { return r.act("DROP-REPLY") }

// ResetBefore is DropBefore by a TCP reset.
func (r *Rule) ResetBefore() *Fault { return r.act("RESET-BEFORE") }

// ResetAfter is DropReply by a TCP reset.
func (r *Rule) ResetAfter() *Fault { return r.act("RESET-AFTER") }

// Silent executes the request and never replies on that connection again. The connection stays
// open.
func (r *Rule) Silent() *Fault { return r.act("SILENT") }

// DelayExec executes the request after d by the server's clock.
func (r *Rule) DelayExec(d time.Duration) *Fault { return r.act("DELAY-EXEC", millis(d)) }

// DelayReply executes the request, and replies after d by the server's clock.
func (r *Rule) DelayReply(d time.Duration) *Fault { return r.act("DELAY-REPLY", millis(d)) }

// Error replies with an error, such as "LOADING ...", instead of executing the request.
func (r *Rule) Error(text string) *Fault { return r.act("ERROR", text) }

// ErrorAfter executes the request and replies with an error.
func (r *Rule) ErrorAfter(text string) *Fault { return r.act("ERROR-AFTER", text) }

// Cut executes the request, sends n bytes of the reply and closes the connection.
func (r *Rule) Cut(n int) *Fault { return r.act("CUT", strconv.Itoa(n)) }

// Bandwidth executes the request, and sends n bytes of the reply in a second of the server's clock.
func (r *Rule) Bandwidth(n int) *Fault { return r.act("BANDWIDTH", strconv.Itoa(n)) }

// Jitter executes the request, and replies after up to d by the server's clock. The seed decides.
func (r *Rule) Jitter(d time.Duration) *Fault { return r.act("JITTER", millis(d)) }

// Slice executes the request, and sends the reply in pieces of n bytes.
func (r *Rule) Slice(n int) *Fault { return r.act("SLICE", strconv.Itoa(n)) }

// SkipPush loses a message of a channel. For it, Client matches the receiver.
func (r *Rule) SkipPush() *Fault { return r.act("SKIP-PUSH") }

// DelayPush sends a message of a channel after d by the server's clock.
func (r *Rule) DelayPush(d time.Duration) *Fault { return r.act("DELAY-PUSH", millis(d)) }

// Hold stops the client before the server executes its request, until Release. Other clients go on.
func (r *Rule) Hold() *Hold { return &Hold{*r.act("HOLD")} }

func (r *Rule) act(action ...string) *Fault {
	r.acted = true
	words := append([]string{"FAULT", "ADD", r.name}, r.words...)
	words = append(append(words, "ACTION"), action...)
	for _, s := range r.of {
		s.t.Helper()
		s.lab(words...)
	}
	return &Fault{of: r.of, name: r.name}
}

// Fault is a complete rule.
type Fault struct {
	of   []*Server
	name string
}

// Fired returns how often the rule has fired, on all its servers.
func (f *Fault) Fired() (n int) {
	f.of[0].t.Helper()
	for _, s := range f.of {
		for _, rule := range s.lab("FAULT", "LIST").Elems {
			if field(rule, "name").Str == f.name {
				n += int(field(rule, "fired").Int)
			}
		}
	}
	return n
}

// Remove removes the rule and releases the clients that it holds.
func (f *Fault) Remove() {
	for _, s := range f.of {
		s.t.Helper()
		s.lab("FAULT", "DEL", f.name)
	}
}

// Hold is a rule that holds clients.
type Hold struct{ Fault }

// Held is a held client and its request.
type Held struct {
	Client int64
	Name   string
	Cmd    string
	Key    string
}

// holdLimit is the real time after which Wait fails the test.
const holdLimit = 20 * time.Second

// Wait waits until the rule holds a client, and returns it. With several masters it waits on the
// first one.
func (h *Hold) Wait() Held {
	h.of[0].t.Helper()
	return h.WaitFor(1)
}

// WaitFor waits until the rule holds n clients, and returns the last of them.
func (h *Hold) WaitFor(n int) Held {
	s := h.of[0]
	s.t.Helper()
	v := s.lab("HOLD", "WAIT", h.name, millis(holdLimit), strconv.Itoa(n))
	if v.Null {
		s.t.Fatalf("%sHold(%q).Wait: fewer than %d clients were held within %v", s.name, h.name, n, holdLimit)
	}
	return Held{field(v, "client").Int, field(v, "name").Str, field(v, "cmd").Str, field(v, "key").Str}
}

// Release releases all clients that the rule holds now, and returns their number.
func (h *Hold) Release() (released int) {
	for _, s := range h.of {
		s.t.Helper()
		released += int(s.lab("HOLD", "RELEASE", h.name).Int)
	}
	return released
}

// ReleaseOne releases the client that the rule has held longest.
func (h *Hold) ReleaseOne() {
	s := h.of[0]
	s.t.Helper()
	if s.lab("HOLD", "RELEASE", h.name, "1").Int != 1 {
		s.t.Fatalf("%sHold(%q).ReleaseOne: no client is held", s.name, h.name)
	}
}
