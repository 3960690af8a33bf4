package lab

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/repl"
	"github.com/miniredisd/miniredisd/store"
)

// LAB REPLICATION stops the stream to replicas, or makes it late. The master does that: it hands over only a part of
// the stream, and does not hear what such a replica acknowledges.
//
//	stream   ├──────── handed over ────────┤ . . . . . . . . . . . ┤
//	                                 streamEnd                   Offset
//	HOLD     where the stream ended at the verb. Keys are not sent either: a replica that asks for them is refused
//	LAG ms   where the stream ended so many ms ago, by the clock of this master. Keys are sent so late, too
//
// A replica that gets the verb passes it on to its master. The master knows replicas by their ports, so a replica that
// comes back is still on hold.

func replicationRows() []command.Row {
	return []command.Row{
		wordsRow("replication", "(HOLD [port:integer]) | (RELEASE [port:integer]) | "+
			"(LAG milliseconds [port:integer]) | (STATUS [port:integer]) | (WAIT [timeout-milliseconds])",
			-2, "O(N) where N is the number of replicas",
			"Stops the stream to replicas, makes it late, lets it go on, or shows it.",
			labWord{"HOLD", 0, 1, command.AllowBusy, (*State).replicationHold},
			labWord{"RELEASE", 0, 1, command.AllowBusy, (*State).replicationRelease},
			labWord{"LAG", 1, 2, command.AllowBusy, (*State).replicationLag},
			labWord{"STATUS", 0, 1, command.AllowBusy, (*State).replicationStatus},
			labWord{"WAIT", 0, 1, 0, (*State).replicationWait}),
	}
}

// brake is what LAB REPLICATION has said of the stream to a replica.
type brake struct {
	held bool
	lag  time.Duration // 0 for on time
}

// String is the brake as STATUS and the log have it.
func (b brake) String() string {
	switch {
	case b.held:
		return "held"
	case b.lag > 0:
		return "late " + strconv.FormatInt(b.lag.Milliseconds(), 10) + " ms"
	}
	return "released"
}

// brakes are those of all replicas. The zero brakes let every stream go.
type brakes struct {
	all  brake
	of   map[int64]brake // by port, instead of all
	ends []streamEnd     // of the stream while one is late, the oldest first
	due  int64           // what came before the ends: everybody gets that
}

// streamEnd says where the stream ended at a time.
type streamEnd struct{ at, end int64 } // at in ns, by Clock.Timeline

const errHeld store.Error = "NOMASTERLINK LAB REPLICATION HOLD has stopped the stream to this replica"

func (l *State) replicationHold(c *command.Call, args [][]byte) error {
	return l.brake(c, args, brake{held: true})
}

func (l *State) replicationRelease(c *command.Call, args [][]byte) error {
	return l.brake(c, args, brake{})
}

func (l *State) replicationLag(c *command.Call, args [][]byte) error {
	ms, err := labNumber("replication lag", "milliseconds", args, 0, 0)
	if err != nil {
		return err
	}
	return l.brake(c, args[1:], brake{lag: time.Duration(ms) * time.Millisecond})
}

// brake sets the brake of one replica or of all.
func (l *State) brake(c *command.Call, args [][]byte, b brake) error {
	port, relayed, err := l.streamPort(c, args)
	if err != nil || relayed {
		return err
	}
	for _, other := range l.Replicas.All {
		if port == 0 || portOf(other) == port {
			Of(other).gate = min(l.Replicas.Stream.Offset, l.streamEnd(other))
		}
	}
	if l.brakes.ends == nil {
		l.brakes.due = l.Replicas.Stream.Offset
	}
	if port == 0 {
		l.brakes.all, l.brakes.of = b, nil
	} else {
		if l.brakes.of == nil {
			l.brakes.of = map[int64]brake{}
		}
		l.brakes.of[port] = b
	}
	for _, other := range l.Replicas.All {
		getsKeys := repl.ReplicaOf(other).State != repl.Online || other.Withheld
		switch now := l.brakeOf(other); {
		case port != 0 && portOf(other) != port || !getsKeys:
		case now.held:
			l.CloseClient(other) // it comes again, and is refused
		case other.Withheld:
			l.sendKeys(other, now.lag)
		}
	}
	l.noteLink(b.String(), int(port))
	c.OK()
	return nil
}

// streamPort reads the port of a replica, 0 for all. A replica that is not told whom to stop passes the verb on to its
// master: then relayed is true.
func (l *State) streamPort(c *command.Call, args [][]byte) (port int64, relayed bool, err error) {
	if len(args) > 0 {
		port, ok := ascii.ParseInt(args[0])
		if !ok || port < 1 || port > server.MaxPort {
			return 0, false, labError("replication", "port expects the port of a replica, not '%s'", printable(args[0]))
		}
		if !l.knowsReplica(port) {
			return 0, false, labError("replication", "no replica of this server listens on port %d", port)
		}
		return port, false, nil
	}
	if l.Follow.Host == "" {
		return 0, false, nil
	}
	master := l.neighbour(l.Follow.Host, l.Follow.Port)
	if master == nil {
		return 0, false, labError("replication", "the master %s:%d is none of this process: send this to it",
			l.Follow.Host, l.Follow.Port)
	}
	request := [][]byte{[]byte("LAB"), []byte("REPLICATION")}
	for _, arg := range c.Args[2:] {
		request = append(request, append([]byte(nil), arg...))
	}
	request = append(request, strconv.AppendInt(nil, int64(l.PeerPort), 10))
	r := &relay{home: l, by: l.Running}
	r.finish = func() { r.answerReplies(false) }
	r.send(c, []*State{master}, func() *server.InternalRequest {
		v := &server.InternalRequest{Args: request}
		v.Sess.Proto = c.Sess.Proto
		return v
	})
	return 0, true, nil
}

// knowsReplica reports whether a replica with this port is here, or belongs to the process.
func (l *State) knowsReplica(port int64) bool {
	for _, c := range l.Replicas.All {
		if portOf(c) == port {
			return true
		}
	}
	for _, s := range l.nodes() {
		if int64(s.PeerPort) == port && s != l {
			return true
		}
	}
	return false
}

// portOf is the port by which LAB REPLICATION knows a replica.
func portOf(c *server.Client) int64 {
	if repl.PeerOf(c) != nil {
		return int64(repl.PeerOf(c).PeerPort)
	}
	return repl.ReplicaOf(c).Port
}

func (l *State) brakeOf(c *server.Client) brake {
	if b, own := l.brakes.of[portOf(c)]; own {
		return b
	}
	return l.brakes.all
}

// holdsStream reports whether nothing goes to a replica, and nothing of it is heard.
func (l *State) holdsStream(c *server.Client) bool { return l.brakeOf(c).held }

// streamEnd is the last byte of the stream that a replica gets now.
func (l *State) streamEnd(c *server.Client) int64 {
	b := l.brakeOf(c)
	switch {
	case b.held:
		return Of(c).gate
	case b.lag == 0:
		return math.MaxInt64
	}
	end, until := l.brakes.due, l.Replicas.Now()-int64(b.lag)
	for _, m := range l.brakes.ends {
		if m.at > until {
			break
		}
		end = m.end
	}
	return end
}

// delayKeys makes a replica that asks for all keys get them as late as the stream.
func (l *State) delayKeys(c *server.Client) {
	if lag := l.brakeOf(c).lag; lag > 0 {
		l.sendKeys(c, lag)
	}
}

// sendKeys lets the keys for a replica go after some time. They are those of the moment when it asked.
func (l *State) sendKeys(c *server.Client, lag time.Duration) {
	if lag == 0 {
		c.Withheld, repl.ReplicaOf(c).Heard = false, l.Replicas.Now()
		l.WantWrite(c)
		return
	}
	due := l.Replicas.Now() + int64(lag)
	c.Withheld, Of(c).keysAt = true, due
	l.At(due, func() {
		if c.Withheld && Of(c).keysAt == due && !c.Closed {
			l.sendKeys(c, 0)
		}
	})
}

// releaseAll lets every stream go.
func (l *State) releaseAll() {
	l.brakes = brakes{}
	for _, c := range l.Replicas.All {
		if c.Withheld {
			l.sendKeys(c, 0)
		}
	}
}

// longest is the longest lag of a replica.
func (b *brakes) longest() (lag time.Duration) {
	lag = b.all.lag
	for _, one := range b.of {
		lag = max(lag, one.lag)
	}
	return lag
}

// noteEnd notes where the stream ends at the end of this pass, while a stream is late. An end stands for a millisecond.
func (l *State) noteEnd() {
	if l.brakes.ends == nil && l.brakes.longest() == 0 {
		return
	}
	b, lag := &l.brakes, l.brakes.longest()
	now := (l.Replicas.Now() + 999_999) / 1e6 * 1e6
	old := 0
	for old < len(b.ends) && b.ends[old].at+int64(lag) < now {
		b.due = b.ends[old].end
		old++
	}
	b.ends = b.ends[old:]
	last := b.due
	if len(b.ends) > 0 {
		last = b.ends[len(b.ends)-1].end
	}
	switch end := l.Replicas.Stream.Offset; {
	case lag == 0:
		b.ends = nil
	case end == last:
	case len(b.ends) > 0 && b.ends[len(b.ends)-1].at == now:
		b.ends[len(b.ends)-1].end = end
	default:
		b.ends = append(b.ends, streamEnd{now, end})
		l.wakeFor(now)
	}
}

// wakeFor makes a pass when the bytes up to an end are due.
func (l *State) wakeFor(at int64) {
	wake := func() {}
	l.At(at+int64(l.brakes.all.lag), wake)
	for _, b := range l.brakes.of {
		if b.lag > 0 {
			l.At(at+int64(b.lag), wake)
		}
	}
}

// replicationStatus shows each stream: what was handed over, and what is acknowledged.
func (l *State) replicationStatus(c *command.Call, args [][]byte) error {
	port, relayed, err := l.streamPort(c, args)
	if err != nil || relayed {
		return err
	}
	var shown []*server.Client
	for _, other := range l.Replicas.All {
		if port == 0 || portOf(other) == port {
			shown = append(shown, other)
		}
	}
	slices.SortFunc(shown, func(a, b *server.Client) int { return int(portOf(a) - portOf(b)) })
	c.Array(len(shown))
	for _, other := range shown {
		sent := int64(0)
		if repl.ReplicaOf(other).Follows {
			sent = repl.ReplicaOf(other).Cursor.From() - 1
		}
		c.Map(6)
		c.IntField("port", portOf(other))
		c.TextField("state", repl.ReplicaOf(other).State.String())
		c.TextField("stream", l.brakeOf(other).String())
		c.IntField("offset", l.Replicas.Stream.Offset)
		c.IntField("sent", sent)
		c.IntField("acked", repl.ReplicaOf(other).Acked)
	}
	return nil
}
