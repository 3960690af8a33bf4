package adversary

import (
	"fmt"
	"strings"
)

// String says in words what the program does.
func (p program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: the clients take {k} = lock:1 by %s", p.seed, p.way.name)
	if p.way.limit > 0 {
		fmt.Fprintf(&b, ", for %d holders", p.way.limit)
	}
	fmt.Fprintf(&b, "; names: %s; tokens: %s; watched: %s\n", p.names, p.tokens, p.watched)
	if p.way.setup != "" {
		fmt.Fprintf(&b, "  before: %s\n", p.way.setup)
	}
	fmt.Fprintf(&b, "  take: %s\n", strings.Join(p.way.take, "; "))
	for i, c := range p.clients {
		fmt.Fprintf(&b, "  %s starts at %v, %d times: asks up to %d times, %v apart, with a lease of %v; works for %v; ",
			word(i), c.start, c.rounds, c.tries, c.think, c.lease, c.work)
		if c.renew != nil {
			fmt.Fprintf(&b, "renews each %v by %s; ", c.every, c.renew.name)
		}
		fmt.Fprintf(&b, "releases by %s; waits %v for a reply, else it %s", c.release.name, c.timeout, c.unheard)
		if c.slow > 0 {
			fmt.Fprintf(&b, "; waits %v between two steps", c.slow)
		}
		if c.again {
			b.WriteString("; releases once more")
		}
		if c.sha {
			b.WriteString("; calls scripts by their SHA1")
		}
		if c.dies > 0 {
			fmt.Fprintf(&b, "; dies with lock %d, and its connection ends: %v", c.dies, c.closes)
		}
		if p.replicas > 0 {
			fmt.Fprintf(&b, "; %s, waits for %d of %d replicas, reads from a replica: %v", c.finds, c.waits, p.replicas, c.looks)
		}
		if p.cluster {
			fmt.Fprintf(&b, "; %s", c.finds)
		}
		if c.skew != 0 {
			fmt.Fprintf(&b, "; its clock is wrong by %v", c.skew)
		}
		for _, t := range c.troubles {
			fmt.Fprintf(&b, "; request %d: ", t.nth)
			if t.pause > 0 {
				fmt.Fprintf(&b, "a pause of %v before it", t.pause)
			}
			b.WriteString(t.action)
		}
		b.WriteByte('\n')
	}
	for _, e := range p.events {
		fmt.Fprintf(&b, "  at %v: %s\n", e.at, strings.Join(e.do, "; "))
	}
	return b.String()
}

// word names a client.
func word(i int) string { return string(rune('a' + i)) }
