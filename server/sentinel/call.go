package sentinel

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/sentinel"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/lab"
)

// answer is what came of a call. Its zero value is a connection that was refused.
type answer struct {
	reached bool
	silent  bool
	pong    string
	info    string
	isVote  bool
	isDown  bool
	leader  string
	epoch   int64
}

// make makes a call. The answer comes in a later pass, also if there is nobody.
func (st *State) make(c sentinel.Call) {
	at := st.serverAt(c.Addr)
	if at == nil || !st.Hears(at) || !st.isUp() {
		if at == nil {
			st.brain.Refused(c)
		}
		return
	}
	var a answer
	connects, ago := c.To.Flags&sentinel.Disconnected != 0, max(st.left(), 0)
	v := &server.InternalRequest{}
	v.Errand = func(v *server.InternalRequest) {
		switch runs, takesNew := at.IsUp(); {
		case !runs || connects && !takesNew || !at.WasUp(ago):
			v.End(nil)
		case !at.Hears(st.State):
			a.silent = true
			v.End(nil)
		case c.To.Kind == sentinel.Other:
			a.fromSentinel(c, server.PartOf[*State](at.Server))
			v.End(nil)
		default:
			st.ask(v, at, c, &a)
		}
	}
	st.open++
	brain := st.brain
	v.Done = func([]byte) {
		st.Inbox.Post(func() {
			if st.brain != brain { // LAB RESET came meanwhile
				a = answer{silent: true}
			}
			st.heard(c, &a)
		})
	}
	v.SendTo(at.Server)
}

func (st *State) isUp() bool {
	runs, _ := st.IsUp()
	return runs
}

// serverAt returns the server of this process with an address, nil for none.
func (st *State) serverAt(addr sentinel.Addr) *lab.State {
	if addr.Host != server.PeerHost {
		return nil
	}
	for _, l := range append(st.All[:len(st.All):len(st.All)], st.Sentinels...) {
		if l.PeerPort == addr.Port {
			return l
		}
	}
	return nil
}

// ask executes what a call asks for. It runs at a node.
func (st *State) ask(v *server.InternalRequest, at *lab.State, c sentinel.Call, a *answer) {
	a.reached = true
	text := func(args ...string) string {
		if a.silent {
			return ""
		}
		reply := v.Execute(args...)
		a.silent = reply == nil // CLIENT PAUSE
		return string(reply)
	}
	if c.Kill {
		text("SCRIPT", "KILL")
	}
	if c.Ping {
		a.pong = strings.TrimSpace(strings.TrimLeft(text("PING"), "+-"))
	}
	if c.Info {
		a.info = bulk(text("INFO"))
	}
	if c.Hello != "" && strings.HasPrefix(text("PUBLISH", "__sentinel__:hello", c.Hello), ":") {
		st.spread(at, c.Hello)
	}
	if c.Follow == nil || a.silent {
		v.End(nil)
		return
	}
	changed := func() {
		dropClients(at)
		v.End(nil)
	}
	switch master := st.serverAt(*c.Follow); {
	case master == at: // as REPLICAOF refuses it
		v.End(nil)
	case master != nil:
		at.Turn(master, changed)
	default:
		at.Promote(changed)
	}
}

// bulk returns the text of a bulk string, "" for anything else.
func bulk(reply string) string {
	if !strings.HasPrefix(reply, "$") {
		return ""
	}
	_, text, _ := strings.Cut(reply, "\r\n")
	return text
}

// dropClients closes the clients of a node whose role has changed, so that they ask for the master again (sentinel.c:
// sentinelSendSlaveOf, CLIENT KILL TYPE normal and pubsub). It spares those of the lab.
func dropClients(at *lab.State) {
	for _, c := range at.Clients.ByAge() {
		if !c.Sess.Replica && !c.Sess.Master && !lab.IsControl(c) {
			at.CloseClient(c)
		}
	}
}

// spread hands a hello to the other Sentinels, which listen at a node. It runs there.
func (st *State) spread(at *lab.State, hello string) {
	for _, other := range st.all {
		if other != st && at.Hears(other.State) {
			other.Inbox.Post(func() { other.hear(at, hello) })
		}
	}
}

// hear takes a hello that was published at a node.
func (st *State) hear(at *lab.State, hello string) {
	if st.paused || !st.isUp() || !st.Hears(at) {
		return
	}
	st.brain.Heard(hello)
	st.flush()
}

// fromSentinel is the answer of another Sentinel. It runs there.
func (a *answer) fromSentinel(c sentinel.Call, other *State) {
	if a.silent = other.paused; a.silent {
		return
	}
	a.reached, a.pong = true, "PONG"
	if c.Hello != "" {
		other.brain.Heard(c.Hello)
	}
	if c.Down != nil {
		a.isVote = true
		a.isDown, a.leader, a.epoch = other.brain.IsDown(*c.Down)
	}
	other.flush()
}

// heard takes the answer to a call, and continues once all have come.
func (st *State) heard(c sentinel.Call, a *answer) {
	st.open--
	switch {
	case st.paused || a.silent && !a.reached:
	case !a.reached:
		st.brain.Refused(c)
	default:
		if c.Ping && a.pong != "" {
			st.brain.Ponged(c, a.pong)
		}
		if a.info != "" {
			st.brain.Informed(c, strings.TrimSuffix(a.info, "\r\n"))
		}
		if a.isVote {
			leader := a.leader
			if leader == "" {
				leader = "*"
			}
			st.brain.Replied(c, a.isDown, leader, a.epoch)
		}
	}
	st.flush()
	quiet := st.quiet
	if st.open > 0 {
		return
	}
	st.quiet = nil
	for _, fn := range quiet {
		fn()
	}
	st.hasten()
	st.look()
}

// whenQuiet calls fn once no call is without an answer.
func (st *State) whenQuiet(fn func()) {
	if st.open == 0 {
		fn()
		return
	}
	st.quiet = append(st.quiet, fn)
}

// eachSentinel calls errand at all Sentinels, and then calls then at home. One that has ended is left out.
func eachSentinel(home *lab.State, all []*State, errand func(i int, st *State, end func()), then func()) {
	missing := len(all)
	for i, st := range all {
		v := &server.InternalRequest{Errand: func(v *server.InternalRequest) { errand(i, st, func() { v.End(nil) }) }}
		v.Done = func([]byte) {
			home.Inbox.Post(func() {
				if missing--; missing == 0 {
					then()
				}
			})
		}
		v.SendTo(st.Server)
	}
}

// tellDown tells all Sentinels that their connections to a server have closed. They do not wait for the next PING.
func tellDown(at *lab.State, all []*State) {
	addr := addrOf(at)
	for _, st := range all {
		st.Inbox.Post(func() { st.cut(addr) })
	}
}

// cut handles connections that have closed. A Sentinel tries to connect again within a tenth of a second (sentinel.c:
// sentinelReconnectInstance), each at another moment. While the clock stands, that is when it goes on.
func (st *State) cut(addr sentinel.Addr) {
	if st.paused || !st.isUp() {
		return
	}
	st.brain.Cut(addr)
	if !st.ticked {
		st.next = max(min(st.next, st.now()+1+st.phase()), st.brain.Now()+1)
		st.look()
	}
}

// tellAll is how a server tells all Sentinels something.
func tellAll(home *lab.State, all []*State) lab.TellSentinels {
	each := func(fn func(st *State)) func(then func()) {
		return func(then func()) {
			eachSentinel(home, all, func(_ int, st *State, end func()) {
				fn(st)
				end()
			}, then)
		}
	}
	return lab.TellSentinels{
		Promoted: func(to *lab.State, then func()) { each(func(st *State) { st.learn(to) })(then) },
		Reset:    each(func(st *State) { st.reset() }),
		Down:     func() { tellDown(home, all) },
		Moved:    func(_ int64, _ bool, then func()) { then() },
		Describe: func(then func([]func(*resp.Writer))) {
			shown := make([]func(*resp.Writer), len(all))
			eachSentinel(home, all, func(i int, st *State, end func()) {
				shown[i] = st.describe()
				end()
			}, func() { then(slices.DeleteFunc(shown, func(w func(*resp.Writer)) bool { return w == nil })) })
		},
	}
}
