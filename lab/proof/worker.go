package proof

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// A name is one worker's, as far as the log shows, if other names try for the same lock, if its connections follow one
// another, and if it never goes back to a token that it used before. A name that several workers share soon shows
// otherwise.

// naming is what the log shows of the use of a name.
type naming struct {
	connections map[int][]int64        // by node
	newest      map[holders.Key]string // token
	older       map[word]bool
	mixed       bool // several clients certainly use it
}

// meets finds the names that one worker of a group uses. entries are those of all nodes, in their order.
func meets(entries []lab.Placed, provers []*prover) {
	type named struct {
		*group
		name string
	}
	type place struct {
		*group
		holders.Key
	}
	all := map[named]*naming{}
	rivals := map[place]map[string]bool{} // names of those that have tried for a lock
	for _, at := range entries {
		p := provers[at.History]
		e := &p.history.Entries[at.Index]
		if e.Client == 0 || e.Name == "" || len(e.Cmd) == 0 {
			continue
		}
		n := all[named{p.group, e.Name}]
		if n == nil {
			n = &naming{connections: map[int][]int64{}, newest: map[holders.Key]string{}, older: map[word]bool{}}
			all[named{p.group, e.Name}] = n
		}
		n.uses(p.node, e.Client)
		if e.By != "" && e.By != exec { // a script may hand the lock to the token of another worker
			continue
		}
		k := holders.Key{DB: e.DB, Name: e.Key}
		for _, text := range e.Cmd[1:] {
			if w := (word{k, text}); slices.Contains(p.takers[w], e.Name) {
				n.shows(w)
			}
		}
		if p.taking[word{k, p.request(at.Index).way()}] {
			l := place{p.group, k}
			if rivals[l] == nil {
				rivals[l] = map[string]bool{}
			}
			rivals[l][e.Name] = true
		}
	}
	for l, names := range rivals {
		for name := range names {
			if len(names) > 1 && !all[named{l.group, name}].mixed {
				l.sole[name] = true
			}
		}
	}
}

// ways notes how each lock was taken, in the words of way.
func (p *prover) ways() {
	for i := range p.history.Entries {
		for _, c := range p.history.Entries[i].Changes {
			if r := p.request(i); c.Before == nil && c.Cause == lab.ByCommand {
				way := word{holders.Key{DB: c.DB, Name: c.Key}, r.way()}
				p.taking[way], p.told[said{way, r.outer().Reply}] = true, true
			}
		}
	}
}

// way names how a request may take a lock: its command, or its script.
func (r *request) way() string {
	name := lower(r.Cmd)
	if name == "set" && r.has(3, "get") && !r.has(3, "nx") {
		name = "set get"
	}
	return cmp.Or(r.script(), name)
}

// refused reports whether a client that takes locks in a way that shows the old value has read a token there, or has no
// reply that shows it: another one has the lock, although its own token is there now.
func (p *prover) refused(r *request, l *lock, old part) bool {
	way := r.way()
	reads := way == "getset" || way == "set get" && !r.has(3, "xx")
	knows := !r.lost() || r.Name != "" // else what it finds later, over another connection, is not known to be its own
	return reads && knows && p.taking[word{l.Key, way}] && !r.isScript() && r.Reply == old.token &&
		!holders.IsNumber(old.token)
}

func (n *naming) uses(node int, client int64) {
	switch i := slices.Index(n.connections[node], client); {
	case i < 0:
		n.connections[node] = append(n.connections[node], client)
	case i < len(n.connections[node])-1:
		n.mixed = true
	}
}

func (n *naming) shows(w word) {
	last := n.newest[w.Key]
	if last == w.text {
		return
	}
	n.mixed = n.mixed || n.older[w]
	n.older[word{w.Key, last}] = true
	n.newest[w.Key] = w.text
}
