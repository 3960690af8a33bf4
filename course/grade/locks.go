package grade

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/resp"
)

// What the labs about lock clients share: one lock, its lease, and what a story wants of a program.

const lease = 10 * time.Second

// lockOf is the name of the lock, from the seed.
func lockOf(seed uint64) string {
	return "lock:order:" + strconv.Itoa(10+rand.New(rand.NewPCG(seed, 0)).IntN(90))
}

// open starts a program with two owners of the lock.
func (s *story) open() *program { return s.openFor(lease) }

// openFor is open with another lease.
func (s *story) openFor(lease time.Duration) *program {
	p := s.client()
	ms := strconv.FormatInt(lease.Milliseconds(), 10)
	p.order("open " + strings.Join(s.servers.Addrs, ",") + " " + s.lock + " " + ms)
	return p
}

// takes wants an owner to get the lock.
func (p *program) takes(owner string, when say) {
	word, why := p.order("take " + owner)
	p.s.want(word == "held", say{"%s: `take %s` answered `%s`, and should answer `held`.",
		"%s：`take %s` 的回答是 `%s`，应为 `held`。"}, when.in(p.s.run.Lang), owner, strings.TrimSpace(word+" "+why))
}

// isRefused wants an owner not to get the lock.
func (p *program) isRefused(owner string, when say) {
	word, _ := p.order("take " + owner)
	p.s.want(word == "refused", say{"%s: `take %s` answered `held`, and should answer `refused`.",
		"%s：`take %s` 的回答是 `held`，应为 `refused`。"}, when.in(p.s.run.Lang), owner)
}

// releases wants the release of an owner to succeed.
func (p *program) releases(owner string, when say) {
	word, why := p.order("release " + owner)
	p.s.want(word == "released", say{"%s: `release %s` answered `%s`, and should answer `released`.",
		"%s：`release %s` 的回答是 `%s`，应为 `released`。"}, when.in(p.s.run.Lang), owner, strings.TrimSpace(word+" "+why))
}

// noFinding wants the doctor not to have found a pattern.
func (s *story) noFinding(pattern doctor.Pattern, why say) {
	for _, f := range s.doctor() {
		s.want(f.Pattern != string(pattern), why)
	}
}

// token returns what the lock has in it: its string, or the fields of its hash.
func (s *story) token() string {
	switch s.do(1, "TYPE", s.lock).Str {
	case "string":
		return s.do(1, "GET", s.lock).Str
	case "hash":
		var fields []string
		for _, v := range s.do(1, "HKEYS", s.lock).Elems {
			fields = append(fields, v.Str)
		}
		return strings.Join(fields, " ")
	}
	return ""
}

// heldBefore waits until the rule holds a client, and returns true, or until the program is over with its
// order and sends no further request.
func (s *story) heldBefore(p *program, order, rule string, over func() bool) bool {
	for end := time.Now().Add(s.run.AnswerLimit); time.Now().Before(end); {
		if s.holds(rule) {
			return true
		}
		if over() {
			return s.holds(rule)
		}
	}
	p.hung(order, s.run.AnswerLimit)
	return false
}

// ask executes a command that needs a connection, over a new one to the first master.
func (s *story) ask(words ...string) resp.Value {
	c, err := respclient.Dial(s.servers.Addrs[0])
	s.check(err)
	defer c.Close()
	v, err := c.Do(words...)
	s.check(err)
	return v
}

// unnamed is why a program loses whose connections do not have the names of their owners.
func unnamed() say {
	return say{
		"No request came over a connection with the name a. Name each connection after its owner: CLIENT SETNAME a.",
		"没有请求来自名为 a 的连接。请用 CLIENT SETNAME a 给连接命名。"}
}
