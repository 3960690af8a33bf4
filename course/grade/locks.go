package grade

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

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

// strike adds a rule for the nth request of an owner that follows, just before an order. held says whether somebody
// holds the lock until then: an order that is obeyed before it comes would not be struck. The function that strike
// returns is for an order that the rule has not struck. It wants the owner's own connections to have done all of it:
// others may have renewed a lock so often.
func (s *story) strike(rule, owner string, nth int, action string, held bool) (done func(renewals int)) {
	s.lab("FAULT ADD " + rule + " CLIENT " + owner + " NTH " + strconv.Itoa(nth) + " ACTION " + action)
	last := int64(0)
	for _, e := range s.commands("") {
		last = e.Seq
	}
	s.want((s.token() != "") == held, say{
		"The lock was taken or released before the order for it came.", "还没有收到命令，锁就已经被加上或释放了。"})
	return func(renewals int) {
		own, others := 0, 0
		for _, e := range s.commands("") {
			switch {
			case e.Seq <= last:
			case e.Name == owner:
				own++
			default:
				others++
			}
		}
		s.want(nth > 1 && own > 0 && others <= renewals, unnamed(owner))
	}
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

// ask executes a command that needs a connection, over the grader's own one to the first master.
func (s *story) ask(words ...string) resp.Value {
	v, err := s.servers.Ask(s.run.AnswerLimit, words...)
	s.check(err)
	return v
}

// unnamed is why a program loses whose connections do not have the names of their owners.
func unnamed(owner string) say {
	return say{
		"Not every request for " + owner + " came over a connection with the name " + owner +
			". Name each connection after its owner: CLIENT SETNAME " + owner + ".",
		"为 " + owner + " 发出的请求，并非都来自名为 " + owner + " 的连接。请用 CLIENT SETNAME " + owner + " 给连接命名。"}
}
