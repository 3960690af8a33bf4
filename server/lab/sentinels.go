package lab

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// TellSentinels is what the lab tells the Sentinels of the process. Package server/sentinel sets the functions. This
// node calls them, and they call then in one of its passes, once all Sentinels have done their part.
type TellSentinels struct {
	Promoted func(to *State, then func())                 // LAB FAILOVER has given its group a new master
	Reset    func(then func())                            // LAB RESET: they are what they were at the start
	Moved    func(from int64, together bool, then func()) // the clock of this server has leapt, from unix ms
	Down     func()                                       // this server ends, or is down from now on
	Describe func(then func([]func(w *resp.Writer)))      // for LAB TOPOLOGY: what writes each Sentinel
}

func tellsNone() TellSentinels {
	return TellSentinels{
		Down: func() {}, Promoted: func(_ *State, then func()) { then() }, Reset: func(then func()) { then() },
		Moved: func(_ int64, _ bool, then func()) { then() }, Describe: func(then func([]func(*resp.Writer))) { then(nil) },
	}
}

// servers returns the nodes of the process, and then its Sentinels.
func (l *State) servers() []*State { return append(l.All[:len(l.All):len(l.All)], l.Sentinels...) }

// Hears reports whether the network lets something through between this server and another one of the process.
func (l *State) Hears(other *State) bool {
	return !l.blackhole && !l.hides(l.linkName(other.Kind(), other.PeerPort))
}

// IsUp reports whether this server runs, and takesNew whether it accepts connections.
func (l *State) IsUp() (runs, takesNew bool) { return l.down == nil, !l.refuses() }

// WasUp reports whether this server ran some ms ago, by its clock, unless LAB CRASH came after that.
func (l *State) WasUp(ms int64) bool {
	up := l.Ex.Now.Wall - l.upSince
	return up < 0 || up >= ms*1e6 // below 0 the clock was set back
}

// CameUp returns how many ms ago this server came up, by its clock, but at most ms. It is -1 if that was so long before
// ms ago that it is no news.
func (l *State) CameUp(ms, news int64) int64 {
	if up := (l.Ex.Now.Wall - l.upSince) / 1e6; up-news <= ms {
		return max(min(up, ms), -1)
	}
	return -1
}

// Promote makes this node a master, between two commands.
func (l *State) Promote(then func()) {
	l.afterScript(func() {
		if l.Follow.Host != "" {
			l.promote()
		}
		then()
	})
}

// Turn makes this node follow another one, between two commands. It calls then once the link has come up or has failed.
func (l *State) Turn(to *State, then func()) {
	l.afterScript(func() {
		l.endTurn()
		l.follow(to)
		if l.cutsLink(to.PeerPort) || l.Follow.State() == "connected" {
			then()
			return
		}
		l.turned = then
		l.turnTimer = l.Loop.After(longestTurn, func() time.Duration {
			l.endTurn()
			return 0
		})
	})
}

// longestTurn is how long Turn waits for a link that neither comes up nor fails, in real time.
const longestTurn = time.Second

// endTurn tells who waits for the link to a new master.
func (l *State) endTurn() {
	if then := l.turned; then != nil {
		l.Loop.Cancel(l.turnTimer)
		l.turned = nil
		then()
	}
}

// IsControl reports whether a client has used LAB.
func IsControl(c *server.Client) bool { return Of(c).control }

// Isolate makes this server hear nothing of another one, or undoes that. LAB PARTITION LIST shows it.
func (l *State) Isolate(from *State, on bool) {
	for _, to := range []string{"master", "replica", "sentinel"} {
		name := l.linkName(to, from.PeerPort)
		l.partitions = slices.DeleteFunc(l.partitions, func(glob string) bool { return glob == name })
		if on {
			l.partitions = append(l.partitions, name)
		}
	}
	l.setAllMuted()
}

// moved counts the moves that all servers make together, and tells who has waited for this one.
func (l *State) moved(m *move) {
	if !m.together {
		return
	}
	awaited := l.awaited
	l.moves, l.awaited = l.moves+1, nil
	for _, fn := range awaited {
		fn()
	}
	if m.after != nil { // LAB RESET: who has refused a move counts as the others do again
		l.moves = 0
	}
}

// Moves returns how many moves of all clocks this one has made.
func (l *State) Moves() int64 { return l.moves }

// AfterMove calls fn once the clock of this server has made so many moves together with the others.
func (l *State) AfterMove(moves int64, fn func()) {
	if l.moves >= moves {
		fn()
		return
	}
	l.awaited = append(l.awaited, func() { l.AfterMove(moves, fn) })
}
