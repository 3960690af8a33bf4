package adversary

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// beliefs is what the workers of a history believe. It knows nothing about commands.
type beliefs struct {
	now  int64 // ms that have passed for the workers
	held []belief
	two  bool // two workers have held one lock at one time
}

// belief is a worker that holds a lock, or has held it.
type belief struct {
	worker, key string
	shared      bool
	until       int64 // the last ms; -1 means for ever
	over        bool  // it has given the lock up
}

func (b belief) holds(now int64) bool { return !b.over && (b.until < 0 || now <= b.until) }

// holds reports whether a worker believes now that it holds a lock of database 0.
func (b beliefs) holds(worker, lock string) bool {
	return slices.ContainsFunc(b.held, func(h belief) bool {
		return h.worker == worker && h.key == "0/"+lock && h.holds(b.now)
	})
}

// believe plays "hold a 30000", "share a lock:2 30000", "hold a forever", "gone a" and "nobody reason".
func (p *player) believe(verb string, words []string) {
	if verb == "nobody" { // a grant that no worker believes in
		require.NotEmpty(p.t, words, "%s: say why", p.at.at)
		return
	}
	b := belief{worker: words[0], key: "lock:1", shared: verb == "share"}
	db, at := 0, p.masters
	if p.history.onOne || p.history.replicas > 0 {
		at = at[:1]
	}
	words = words[1:]
	for n := len(words) - 1; n >= 0 && strings.Contains(words[n], "="); n-- {
		switch option, value, _ := strings.Cut(words[n], "="); option {
		case "db":
			db = p.number(value)
		case "at":
			at = p.masters[p.number(value)-1:][:1]
		}
		words = words[:n]
	}
	if len(words) > 0 && strings.HasPrefix(words[0], "lock:") {
		b.key, words = words[0], words[1:]
	}
	name := b.key
	b.key = strconv.Itoa(db) + "/" + name // a key of another database is another lock
	mine := func(o belief) bool { return o.worker == b.worker && o.key == b.key && o.holds(p.beliefs.now) }
	if verb == "gone" {
		i := slices.IndexFunc(p.beliefs.held, mine)
		require.GreaterOrEqual(p.t, i, 0, "%s: %s does not hold %s any more", p.at.at, b.worker, b.key)
		p.beliefs.held[i].over = true
		return
	}
	lease := int64(-1)
	if words[0] != "forever" {
		lease = int64(p.number(words[0]))
		b.until = p.beliefs.now + lease
	} else {
		b.until = -1
	}
	p.checkLease(at, db, name, lease)
	for _, o := range p.beliefs.held {
		if o.worker != b.worker && o.key == b.key && o.holds(p.beliefs.now) && !(o.shared && b.shared) {
			p.beliefs.two = true
		}
	}
	p.beliefs.held = append(slices.DeleteFunc(p.beliefs.held, mine), b)
}

// checkLease compares what a worker believes with the keys of masters: a majority of them has the key with
// exactly this lease.
func (p *player) checkLease(masters miniredistest.Masters, db int, key string, lease int64) {
	agree := 0
	var found []int64
	for _, m := range masters {
		ttl := p.do(m.DB(db), "PTTL", key).Int
		found = append(found, ttl)
		if ttl == lease {
			agree++
		}
	}
	require.Greater(p.t, 2*agree, len(masters), "%s: %s: the leases on the masters are %v", p.at.at, p.at.raw, found)
}

// truth returns "two" if two workers have held one lock at one time.
func (p *player) truth() string {
	if p.beliefs.two {
		return "two"
	}
	return "one"
}

// A worker that gets a lock believes in it, or the history says why not. The votes of other masters may stand
// between.
func TestABeliefFollowsEveryGrant(t *testing.T) {
	grants := 0
	took := regexp.MustCompile(`(?i)^(\w+)(@\S+)?: (SET lock:.* NX\b.* -> OK|SETNX lock:.* -> 1|` +
		`EVAL(SHA)? @take(-if-absent|-or-renew)? .* -> OK|EVAL @hash-take .* -> \(nil\))$`)
	for _, h := range readAll(t) {
		for i, l := range h.lines {
			took := took.FindStringSubmatch(l.raw)
			if took == nil {
				continue
			}
			grants++
			next := "the end"
			if i+1 < len(h.lines) {
				next = h.lines[i+1].raw
			}
			belief := regexp.MustCompile(`^(hold|share|nobody|lose ` + took[1] + `|` + took[1] + `@)`)
			require.Regexp(t, belief, next, "%s: %s: who believes in it?", l.at, l.raw)
		}
	}
	require.Greater(t, grants, fewest)
}
