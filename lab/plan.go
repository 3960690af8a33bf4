package lab

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Plan holds the rules, in the order in which they were added.
type Plan struct {
	Rules []*Rule

	seed  uint64
	match func(pattern string, s []byte) bool

	requests, pushes, scripts, ordered int // rules on requests, on messages, with SCRIPT and with ORDER
	bytes                              int // of all rules
}

// ruleMem is the size of a rule in bytes, without its texts.
const ruleMem = int(unsafe.Sizeof(Rule{})) + int(unsafe.Sizeof(rand.Rand{}))

func (r *Rule) mem() int {
	return ruleMem + len(r.Name) + len(r.Cmd) + len(r.Key) + len(r.Script) + len(r.Client) + len(r.Text)
}

// Mem returns about how many bytes the rules take.
func (p *Plan) Mem() int { return p.bytes }

// NewPlan returns an empty plan. match reports whether s matches a glob.
func NewPlan(seed uint64, match func(pattern string, s []byte) bool) *Plan {
	return &Plan{seed: seed, match: match}
}

// Request is a request or a message, as rules see it.
type Request struct {
	Client  int64
	Name    string // of the client
	Control bool   // the client has sent LAB: it is never held
	Calls   []Call
}

// Call is one command of a request. A transaction has several. For a message the command is its
// kind, and the only key is its channel.
type Call struct {
	Cmd       string // "set", "client|kill"
	Keys      [][]byte
	SHA, Body string // of a script; for a function its name and the text of its library

	Args    [][]byte // all words, if a rule has an Order
	Unknown bool     // the server has no script of that SHA1
}

// OnRequests reports whether any rule acts on requests. If not, the server need not describe them.
func (p *Plan) OnRequests() bool { return p.requests > 0 }

// OnPushes reports whether any rule acts on messages.
func (p *Plan) OnPushes() bool { return p.pushes > 0 }

// OnScripts reports whether any rule has a SCRIPT condition, or has to tell requests apart that run no script.
func (p *Plan) OnScripts() bool { return p.scripts > 0 || p.ordered > 0 }

// OnOrder reports whether any rule has an ORDER condition.
func (p *Plan) OnOrder() bool { return p.ordered > 0 }

// Add appends a rule. The error is the reply of LAB FAULT ADD.
func (p *Plan) Add(r *Rule) error {
	if p.Find(r.Name) != nil {
		return fmt.Errorf("ERR LAB FAULT ADD: the rule %s already exists", quote(r.Name))
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.Name))
	r.dice = rand.New(rand.NewPCG(p.seed, h.Sum64()))
	p.Rules = append(p.Rules, r)
	p.recount()
	return nil
}

// Find returns the rule of that name, or nil.
func (p *Plan) Find(name string) *Rule {
	for _, r := range p.Rules {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Del removes the rule of that name and returns it, or nil.
func (p *Plan) Del(name string) *Rule {
	r := p.Find(name)
	p.Rules = slices.DeleteFunc(p.Rules, func(other *Rule) bool { return other == r })
	p.recount()
	return r
}

// Clear removes all rules.
func (p *Plan) Clear() {
	p.Rules = nil
	p.recount()
}

func (p *Plan) recount() {
	p.requests, p.pushes, p.scripts, p.ordered = 0, 0, 0, 0
	p.bytes = 0
	for _, r := range p.Rules {
		p.bytes += r.mem()
		if r.Action.OnPush() {
			p.pushes++
		} else {
			p.requests++
		}
		if r.Script != "" {
			p.scripts++
		}
		if r.Order > 0 {
			p.ordered++
		}
	}
}

// Request returns the rule that fires for a request, or nil. If its reply has a Pace, the rule is a copy that has it.
func (p *Plan) Request(q *Request) *Rule { return p.fire(q, false) }

// Push is Request for a message. Its client is the receiver.
func (p *Plan) Push(q *Request) *Rule { return p.fire(q, true) }

func (p *Plan) fire(q *Request, push bool) (first *Rule) {
	var line *Rule
	var pace Pace
	for _, r := range p.Rules {
		if r.Action.OnPush() != push || !p.matches(r, q) {
			continue
		}
		if r.Action == Hold && q.Control {
			r.Spared = q.Client
			continue
		}
		fires := r.turn()
		switch {
		case fires && r.Action.OnLine():
			r.Fired++
			pace.add(r)
			line = cmp.Or(line, r)
		case fires && first == nil:
			r.Fired++
			first = r
		}
	}
	if first = cmp.Or(first, line); first != nil && first.Action == DelayReply {
		pace.Start += time.Duration(first.Millis) * time.Millisecond
	}
	if pace != (Pace{}) {
		paced := *first
		paced.Pace, first = pace, &paced
	}
	return first
}

// turn counts a match and reports whether r would fire for it.
func (r *Rule) turn() bool {
	r.Matched++
	if r.Matched < r.Nth || r.Times > 0 && r.Fired >= r.Times {
		return false
	}
	return r.Prob >= 1 || r.dice.Float64() < r.Prob
}

func (p *Plan) matches(r *Rule, q *Request) bool {
	switch {
	case r.ClientID != 0 && r.ClientID != q.Client,
		r.Client != "" && !p.match(r.Client, []byte(q.Name)):
		return false
	}
	if !slices.ContainsFunc(q.Calls, func(c Call) bool { return p.matchesCall(r, &c) }) {
		return false
	}
	return r.Order == 0 || r.inOrder(q)
}

// inOrder counts the client of a request that matches, and reports whether it is the one of the rule. A script
// that the server does not know does not count: its client sends the text next, which is the same step.
func (r *Rule) inOrder(q *Request) bool {
	if q.Calls[0].Unknown {
		return false
	}
	return int64(r.census.Number(q.Client, q.Name, q.words())) == r.Order
}

// words returns the arguments of a request that are no keys, printable.
func (q *Request) words() (words []string) {
	for _, c := range q.Calls {
		first := 1
		if c.SHA != "" {
			first = 2 // all clients name the same script
		}
		for _, arg := range c.Args[min(first, len(c.Args)):] {
			if len(arg) <= longestArg && !slices.ContainsFunc(c.Keys, func(key []byte) bool { return bytes.Equal(key, arg) }) {
				words = append(words, Printable(string(arg)))
			}
		}
	}
	return words
}

func (p *Plan) matchesCall(r *Rule, c *Call) bool {
	switch {
	case r.Cmd != "" && r.Cmd != c.Cmd && !strings.HasPrefix(c.Cmd, r.Cmd+"|"),
		r.Script != "" && !r.isScript(c):
		return false
	}
	return r.Key == "" || slices.ContainsFunc(c.Keys, func(key []byte) bool { return p.match(r.Key, key) })
}

func (r *Rule) isScript(c *Call) bool {
	return c.SHA != "" && (strings.EqualFold(r.Script, c.SHA) || strings.Contains(c.Body, r.Script))
}
