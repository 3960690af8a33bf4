package miniredistest

import (
	"strconv"
	"time"
)

// Rule is a rule in the making: what a request must have for something to happen to it. An
// action, such as DropReply, ends the sentence and puts it into force:
//
//	srv.Fault("lost").Cmd("SET").Key("lock:*").Nth(1).DropReply()
//
// A rule without conditions is about every request of every client. Of several rules whose
// turn it is, the one that was made first counts.
type Rule struct {
	of    []*Server
	name  string
	words []string
	acted bool
}

// Fault begins a rule. The name is what the history calls it.
func (s *Server) Fault(name string) *Rule { return begin([]*Server{s}, name) }

// Fault begins a rule of every master.
func (m Masters) Fault(name string) *Rule { return begin(m, name) }

func begin(of []*Server, name string) *Rule {
	r := &Rule{of: of, name: name}
	of[0].rules = append(of[0].rules, r)
	return r
}

// checkRules finds sentences without a verb.
func (s *Server) checkRules() {
	s.t.Helper()
	for _, r := range s.rules {
		if !r.acted {
			s.t.Errorf("Fault(%q) has no action, such as DropReply: nothing has come of it", r.name)
		}
	}
}

func (r *Rule) with(words ...string) *Rule {
	r.words = append(r.words, words...)
	return r
}

// Cmd is about a command: "SET", or with a subcommand "CLIENT|LIST".
func (r *Rule) Cmd(name string) *Rule { return r.with("CMD", name) }

// Key is about commands with a key, or a channel, that matches glob.
func (r *Rule) Key(glob string) *Rule { return r.with("KEY", glob) }

// Script is about scripts with that SHA1, or with that text in them.
func (r *Rule) Script(shaOrText string) *Rule { return r.with("SCRIPT", shaOrText) }

// Client is about clients whose name, as of CLIENT SETNAME, matches glob.
func (r *Rule) Client(glob string) *Rule { return r.with("CLIENT", glob) }

// ClientID is about one client.
func (r *Rule) ClientID(id int64) *Rule { return r.with("CLIENT", strconv.FormatInt(id, 10)) }

// Nth has the rule begin with the nth request that it matches, and fire once unless Times
// says otherwise.
func (r *Rule) Nth(n int) *Rule { return r.with("NTH", strconv.Itoa(n)) }

// Times has the rule fire n times.
func (r *Rule) Times(n int) *Rule { return r.with("TIMES", strconv.Itoa(n)) }

// Prob has the rule fire with probability p, by dice that the seed decides.
func (r *Rule) Prob(p float64) *Rule { return r.with("PROB", strconv.FormatFloat(p, 'f', -1, 64)) }

// DropBefore closes the connection in the place of executing the request.
func (r *Rule) DropBefore() *Fault { return r.act("DROP-BEFORE") }

// DropReply executes the request and closes the connection without the reply.
func (r *Rule) DropReply() *Fault { return r.act("DROP-REPLY") }

// ResetBefore is DropBefore by a TCP reset.
func (r *Rule) ResetBefore() *Fault { return r.act("RESET-BEFORE") }

// ResetAfter is DropReply by a TCP reset.
func (r *Rule) ResetAfter() *Fault { return r.act("RESET-AFTER") }

// Silent executes the request and never answers on that connection again, which stays open.
func (r *Rule) Silent() *Fault { return r.act("SILENT") }

// DelayExec executes the request after d of the server's time.
func (r *Rule) DelayExec(d time.Duration) *Fault { return r.act("DELAY-EXEC", millis(d)) }

// DelayReply executes the request, and answers it after d of the server's time.
func (r *Rule) DelayReply(d time.Duration) *Fault { return r.act("DELAY-REPLY", millis(d)) }

// Error answers with an error, such as "LOADING ...", in the place of executing the request.
func (r *Rule) Error(text string) *Fault { return r.act("ERROR", text) }

// ErrorAfter executes the request and answers with an error.
func (r *Rule) ErrorAfter(text string) *Fault { return r.act("ERROR-AFTER", text) }

// Cut executes the request, sends n bytes of the reply and closes the connection.
func (r *Rule) Cut(n int) *Fault { return r.act("CUT", strconv.Itoa(n)) }

// SkipPush loses a message of a channel. Client is about who would get it.
func (r *Rule) SkipPush() *Fault { return r.act("SKIP-PUSH") }

// DelayPush sends a message of a channel after d of the server's time.
func (r *Rule) DelayPush(d time.Duration) *Fault { return r.act("DELAY-PUSH", millis(d)) }

// Hold parks the client before its request is executed, until Release. Others go on.
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

// Fault is a rule in force.
type Fault struct {
	of   []*Server
	name string
}

// Fired is how often it has fired.
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

// Remove ends it, and lets go on whom it holds.
func (f *Fault) Remove() {
	for _, s := range f.of {
		s.t.Helper()
		s.lab("FAULT", "DEL", f.name)
	}
}

// Hold is a rule that holds clients.
type Hold struct{ Fault }

// Held is a client that is parked, and what it had asked for.
type Held struct {
	Client int64
	Name   string
	Cmd    string
	Key    string
}

// holdLimit turns a test in which nobody comes into one that fails.
const holdLimit = 20 * time.Second

// Wait returns when a client is held: at once if one is already. With several masters it is
// about the first.
func (h *Hold) Wait() Held {
	h.of[0].t.Helper()
	return h.WaitFor(1)
}

// WaitFor returns when n clients are held, with the last of them.
func (h *Hold) WaitFor(n int) Held {
	s := h.of[0]
	s.t.Helper()
	v := s.lab("HOLD", "WAIT", h.name, millis(holdLimit), strconv.Itoa(n))
	if v.Null {
		s.t.Fatalf("%sHold(%q).Wait: of %d clients to hold, not all have come within %v", s.name, h.name, n, holdLimit)
	}
	return Held{field(v, "client").Int, field(v, "name").Str, field(v, "cmd").Str, field(v, "key").Str}
}

// Release lets all go on that are held now, and returns how many these were.
func (h *Hold) Release() (released int) {
	for _, s := range h.of {
		s.t.Helper()
		released += int(s.lab("HOLD", "RELEASE", h.name).Int)
	}
	return released
}

// ReleaseOne lets the client go on that is held longest.
func (h *Hold) ReleaseOne() {
	s := h.of[0]
	s.t.Helper()
	if s.lab("HOLD", "RELEASE", h.name, "1").Int != 1 {
		s.t.Fatalf("%sHold(%q).ReleaseOne: nobody is held", s.name, h.name)
	}
}
