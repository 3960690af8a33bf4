package lab

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/cluster"
)

// LAB TOPOLOGY shows the nodes of the process. Each node says of itself what it believes, in a pass of its own:
//
//	home                              each node
//	askNodes ── errand ─────────────> nothing: what its last pass has executed is written then
//	   │<── post ─────────────────────┘
//	   ├─────── errand ─────────────> state
//	   then(all) <── post ────────────┘

func topologyRows() []command.Row {
	return []command.Row{
		Row("topology", "",
			2, command.AllowBusy,
			"O(N) where N is the number of servers of the process, and of keys while a slot moves",
			"Shows the servers of the process: roles, offsets, links, and what each believes.", (*State).topology),
		Row("failover", "[TO port:integer] [LEAVE]",
			-2, 0,
			"O(N) where N is the number of nodes",
			"Makes a replica of the process the master of the other nodes.", (*State).failover),
	}
}

// nodeState is what a node says of itself.
type nodeState struct {
	s        *State
	ended    bool // after SHUTDOWN: nothing else is known
	isUp     bool // it was not ended by LAB CRASH DOWN
	isBusy   bool // a slow script runs
	isCut    bool // it is in a black hole
	isMaster bool
	follows  *State // nil for none, or for one that is not in the process
	host     string // likewise
	port     int
	link     string // what ROLE says of it
	hasData  bool   // of its master
	offset   int64
	priority int
	believes func(w *resp.Writer) // of a cluster: what writes its view; nil without a cluster
}

// eachNode calls errand at each of the nodes, and when all errands have ended then at home. An errand runs between
// commands, or between parts of a slow script. A node that has ended is left out.
func (l *State) eachNode(nodes []*State, errand func(i int, at *State, end func()), then func()) {
	missing := len(nodes)
	if missing == 0 {
		then()
	}
	for i, s := range nodes {
		v := &server.InternalRequest{}
		v.Errand = func(v *server.InternalRequest) {
			errand(i, s, func() { v.End(nil) })
		}
		v.Done = func([]byte) {
			l.Inbox.Post(func() {
				if missing--; missing == 0 {
					then()
				}
			})
		}
		v.SendTo(s.Server)
	}
}

// askNodes asks all nodes of the process.
func (l *State) askNodes(then func(all []nodeState)) {
	all := make([]nodeState, len(l.All))
	for i, s := range l.All {
		all[i] = nodeState{s: s, ended: true}
	}
	l.eachNode(l.All, func(_ int, _ *State, end func()) { end() }, func() {
		l.eachNode(l.All, func(i int, at *State, end func()) {
			all[i] = at.state()
			end()
		}, func() { then(all) })
	})
}

// afterScript calls fn between commands: now, or when the slow script that runs is over.
func (l *State) afterScript(fn func()) {
	if l.Ex.Scripts.Busy() != nil {
		l.Deferred = append(l.Deferred, fn)
		return
	}
	fn()
}

// state is called where commands are executed. What has arrived of the stream counts: it is executed now.
func (l *State) state() nodeState {
	f := &l.Follow
	n := nodeState{
		s: l, isUp: l.down == nil, isBusy: l.Ex.Scripts.Busy() != nil, isCut: l.blackhole,
		isMaster: l.Cfg.ReplicaOf == "", priority: l.Cfg.ReplicaPriority,
	}
	if l.cluster != nil {
		n.believes = l.cluster.Describe()
	}
	switch {
	case n.isMaster:
		n.offset = l.Replicas.Stream.Offset
		return n
	case f.Host == "": // it is down, and comes back as a replica
		return n
	}
	if !n.isBusy && !l.IsLoading() && !l.cutsLink(f.Port) {
		f.Drain()
	}
	n.host, n.port, n.follows = f.Host, f.Port, l.neighbour(f.Host, f.Port)
	n.link, n.hasData, n.offset = f.State(), f.Known && f.Sync == nil, l.Replicas.Stream.Offset
	return n
}

// name is how replies call a node.
func (n *nodeState) name() string {
	switch {
	case n.ended:
		return "ended"
	case !n.isUp:
		return "down"
	case n.isCut:
		return "blackhole"
	}
	return "up"
}

// askWatched asks the Sentinels, too. Each tells how it is shown.
func (l *State) askWatched(then func(all []nodeState, sentinels []func(*resp.Writer))) {
	l.askNodes(func(all []nodeState) {
		l.Tell.Describe(func(sentinels []func(*resp.Writer)) { then(all, sentinels) })
	})
}

func (l *State) topology(c *command.Call) error {
	by, request := l.Running, c.Sess.Commands
	l.askWatched(func(all []nodeState, sentinels []func(*resp.Writer)) {
		if by.Sess.Hold != command.Blocked || by.Sess.Commands != request || by.Closed {
			return
		}
		l.Ex.Answer(&by.Sess, func(w *resp.Writer) {
			w.Array(len(all) + len(sentinels))
			for _, n := range all {
				n.write(w)
			}
			for _, write := range sentinels {
				write(w)
			}
		})
	})
	c.Await((*resp.Writer).NullArray)
	return nil
}

func (n *nodeState) write(w *resp.Writer) {
	role := "replica"
	if n.isMaster {
		role = "master"
	}
	if n.ended {
		role = ""
	}
	fields := 8
	if n.believes != nil {
		fields += cluster.DescribedFields
	}
	w.Map(fields)
	w.IntField("node", int64(n.s.Number))
	w.IntField("port", int64(n.s.PeerPort))
	w.IntField("master", int64(n.s.Group))
	w.TextField("state", n.name())
	w.TextField("role", role)
	w.IntField("follows", int64(n.port))
	w.TextField("link", n.link)
	w.IntField("offset", n.offset)
	if n.believes != nil {
		n.believes(w)
	}
}
