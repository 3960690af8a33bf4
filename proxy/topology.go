package proxy

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// A lock in a cluster, or behind Sentinels, is not the affair of one node: its slot moves, and a replica becomes a
// master. So LAB LOG WATCH and LAB RESET at one port are for all nodes, and a node that appears watches what the others
// watch. A replica writes no log: its keys change because its master has changed them.

// nodes returns the upstreams that share what they watch: all that have keys, or one upstream that stands for itself.
func (l *labState) nodes() (all []*upstream) {
	if l.p.places != nil {
		return l.p.everyone()
	}
	return []*upstream{l.asker.u}
}

// everyone returns the upstreams whose logs a verdict reads.
func (p *Proxy) everyone() (all []*upstream) {
	for _, u := range p.upstreams {
		if u.same == nil && !u.sentinel {
			all = append(all, u)
		}
	}
	return all
}

// each calls do for each upstream, and then once when all are done, with the first error.
func each(all []*upstream, do func(l *labState, then func(error)), then func(error)) {
	left := len(all)
	if left == 0 {
		then(nil)
	}
	var failed error
	for _, u := range all {
		do(&u.lab, func(err error) {
			failed = cmp.Or(failed, err)
			if left--; left == 0 {
				then(failed)
			}
		})
	}
}

// watchesUnseen begins to watch at a node that shows nothing now. What it has is unknown.
func (l *labState) watchesUnseen(w lab.Watch, why error) {
	l.ledger.complete = false
	l.log.Watch(w)
	l.p.log('#', "LAB LOG WATCH: the keys of %s are unknown: %v", l.asker.u.name, why)
}

// joins is for a node that appears: it watches what the others watch.
func (u *upstream) joins() {
	for _, other := range u.p.upstreams {
		if other == u || other.sentinel {
			continue
		}
		for _, w := range other.lab.log.Globs() {
			u.lab.log.Watch(w)
		}
	}
}

// leads notes whether the upstream is a replica. The log says when one has become a master.
func (l *labState) leads(s *sight, followed bool) {
	l.ledger.follows = s.follows
	if followed && !s.follows {
		l.addAt(max(s.at, l.ledger.now()), lab.Entry{Event: lab.EventPromoted, Outcome: lab.Executed})
	}
}

// unlooked is for a look that has failed. Among several nodes one that is down is no reason to judge none. What has
// happened to its keys is unknown then.
func (l *labState) unlooked(err error) error {
	if err == nil || l.p.places == nil {
		return err
	}
	if !l.ledger.follows {
		l.blurs(lab.Entry{Event: lab.EventChanged, Outcome: lab.Executed}, l.ledger.keys())
	}
	clear(l.ledger.known)
	l.ledger.complete = false
	return nil
}

// histories returns the logs of the upstreams, and which of them is that of l. A replica without entries has none.
func (p *Proxy) histories(l *labState) (all []lab.History, at int) {
	list := p.everyone()
	list = slices.DeleteFunc(list, func(u *upstream) bool {
		return &u.lab != l && u.lab.ledger.follows && len(u.lab.log.Newest(1)) == 0
	})
	for i, u := range list {
		h := u.lab.log.Export(i+1, len(list))
		h.Proxy, h.Cluster = true, p.places != nil // they do not vote
		all = append(all, h)
		if &u.lab == l {
			at = i
		}
	}
	return all, at
}

// topology asks for the nodes, so that those have a port that no client has met, and then each one for its role.
func (l *labState) topology(c *pair, d *due, _ [][]byte) []byte {
	if l.p.places == nil {
		l.roles(c, d)
		return nil
	}
	go func() { // names may have to be resolved, and connections made
		found, err := l.p.discover()
		l.p.loop.Post(func() {
			if err != nil {
				l.p.log('#', "%v", err)
			}
			for _, at := range found {
				l.p.places.find(at.host, at.port)
			}
			l.roles(c, d)
		})
	}()
	return nil
}

// standing is what LAB TOPOLOGY shows of an upstream.
type standing struct {
	u     *upstream
	role  resp.Value
	state string
}

func (l *labState) roles(c *pair, d *due) {
	all := make([]standing, len(l.p.upstreams))
	left := len(all)
	for i, u := range l.p.upstreams {
		all[i] = standing{u: u, state: "up"}
		u.lab.ask("ROLE")(func(v resp.Value, err error) {
			if all[i].role = v; err != nil {
				all[i].state = "down"
			}
			if left--; left == 0 {
				l.answer(c, d, func(w *resp.Writer) {
					w.Array(len(all))
					for _, each := range all {
						each.write(w, c)
					}
				})
			}
		})
	}
}

func (s *standing) write(w *resp.Writer, c *pair) {
	role := map[string]string{"master": "master", "slave": "replica", "sentinel": "sentinel"}[firstOf(s.role)]
	follows, same := 0, 0
	if e := s.role.Elems; role == "replica" && len(e) > 3 && c.p.places != nil {
		_, follows = c.place(e[1].Str, int(e[2].Int))
	}
	if s.u.same != nil {
		same = s.u.same.port
	}
	w.Map(6)
	w.IntField("port", int64(s.u.port))
	w.TextField("upstream", s.u.name)
	w.TextField("state", s.state)
	w.TextField("role", role)
	w.IntField("follows", int64(follows))
	w.IntField("same", int64(same))
}

func firstOf(v resp.Value) string {
	if len(v.Elems) == 0 {
		return ""
	}
	return v.Elems[0].Str
}
