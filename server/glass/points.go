package glass

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	serverlab "github.com/miniredisd/miniredisd/server/lab"
)

// The events that main shows. All functions here run only in passes that record details.

// woke shows what the wait has found.
func (v *State) woke(slept int64) {
	v.findByFD()
	why, list := v.ready()
	if looked := v.Loop.Looked(); looked != len(v.fired) {
		list += " looked=" + strconv.Itoa(looked)
	}
	v.finished, v.streamed = v.pace(), v.Replicas.Stream.Offset
	v.Trace.Event(trace.Event{
		Point: trace.Woke, A: int64(len(v.fired)), B: max(v.Now-slept, 0) / 1000, Text: why + list,
	}, nil)
}

// ready keeps the array of the last wait. It returns why the wait is over, and the array as text: " 7r 9rw".
func (v *State) ready() (why, list string) {
	v.fired, v.at, why = v.fired[:0], -1, "timer"
	var text []byte
	v.Loop.Fired(func(fd int, mask reactor.Mask) {
		c, kind := v.handlerOf(fd, mask)
		ready := glass.Ready{FD: fd, Mask: letters(mask)}
		if c != nil {
			ready.Client = c.Sess.ID
		}
		v.fired = append(v.fired, ready)
		if kind == "wake" && why == "timer" {
			why = "posted"
		} else if kind != "wake" {
			why = "event"
		}
		text = append(strconv.AppendInt(append(text, ' '), int64(fd), 10), ready.Mask...)
	})
	return why, string(text)
}

func letters(mask reactor.Mask) string {
	text := ""
	for i, letter := range []string{"r", "w", "h"} {
		if mask&(1<<i) != 0 {
			text += letter
		}
	}
	return text
}

// handlerOf returns the client that a descriptor belongs to, if any, and the name of its handler.
func (v *State) handlerOf(fd int, mask reactor.Mask) (*server.Client, string) {
	if l := v.Follow.Link; l != nil && l.FD == fd {
		if l.Talk == nil && l.Shaking == nil {
			return nil, "connected"
		}
		return l.Client, "link"
	}
	if c := v.clientOf(fd); c != nil {
		if mask&reactor.Writable != 0 && mask&(reactor.Readable|reactor.HangUp) == 0 {
			return c, "reply"
		}
		return c, "read"
	}
	if slices.ContainsFunc(v.Listeners.All, func(l *server.Listener) bool { return l.FD == fd }) {
		return nil, "accept"
	}
	return nil, "wake"
}

// findByFD notes which client each descriptor belongs to, so that a pass of n clients takes time O(n).
func (v *State) findByFD() {
	clear(v.byFD)
	for _, c := range v.Clients.Order {
		if c.FD >= len(v.byFD) {
			v.byFD = append(v.byFD, make([]*server.Client, c.FD+1-len(v.byFD))...)
		}
		v.byFD[c.FD] = c
	}
}

// clientOf returns the client of a descriptor, nil for none. A slow script accepts and closes clients in
// the middle of a pass.
func (v *State) clientOf(fd int) *server.Client {
	if fd < len(v.byFD) {
		if c := v.byFD[fd]; c != nil && !c.Closed {
			return c
		}
	}
	if at := slices.IndexFunc(v.Clients.Order, func(c *server.Client) bool { return c.FD == fd }); at >= 0 {
		return v.Clients.Order[at]
	}
	return nil
}

func (v *State) showHandler(i, fd int, mask reactor.Mask) {
	v.at = i
	e := trace.Event{Point: trace.Handler, A: int64(i), B: int64(fd)}
	c, kind := v.handlerOf(fd, mask)
	if c != nil {
		e.Client = c.Sess.ID
	}
	e.Text = kind
	v.Trace.Event(e, nil)
}

func (v *State) accepted(c *server.Client) {
	if !v.Trace.Detailed() {
		return
	}
	e := trace.Event{
		Point: trace.Accepted, Client: c.Sess.ID, Dur: v.Trace.Took(), A: int64(c.FD), Text: c.Sess.Addr,
	}
	if l := v.Follow.Link; l != nil && l.FD == c.FD {
		e.B = trace.AcceptedLink
	}
	v.Trace.Event(e, nil)
}

func (v *State) closed(c *server.Client) {
	if !v.Trace.Detailed() {
		return
	}
	why := "closed by the server"
	switch {
	case c.Lost:
		why = "writing failed"
	case c.ReadErr != 0:
		why = "reading failed: " + c.ReadErr.Error()
	case c.Wrong != "":
		why = c.Wrong.Error()
	case c.EOF:
		why = "the client has hung up"
	case c.Sess.CloseAfterReply && c.Ending != server.PlainEnd:
		why = "a rule of the lab ends the connection"
	case c.Sess.CloseAfterReply:
		why = "closed after the last reply"
	}
	v.Trace.Event(trace.Event{Point: trace.Closed, Client: c.Sess.ID, A: int64(c.FD), Text: why}, nil)
}

// appended shows what a pass has done to the append only file since began, if it has.
func (v *State) appended(before, after aof.State, failed error, began int64) {
	e := trace.Event{
		Point: trace.Appended, A: after.Size - before.Size, B: trace.AppendedOnly, Text: v.Cfg.AppendFsync,
		Dur: v.Trace.Mark() - began,
	}
	switch {
	case failed != nil && before.Buffered > 0:
		e.B, e.Text = trace.AppendedFailed, e.Text+" "+failed.Error()
	case after.Unsynced == 0 && after.Synced > before.Synced:
		e.B = trace.AppendedSynced
	case e.A == 0:
		return
	}
	v.Trace.Event(e, nil)
}

func (v *State) noteExpired(key string) {
	if v.Trace.Detailed() {
		v.due = append(v.due, strings.Clone(key))
	}
}

// expired shows the keys that have expired, or had to go. The store must not be in the middle of a change: a snapshot
// looks at all keys.
func (v *State) expired() {
	v.gone(&v.evicted, trace.GoneEvicted)
	v.gone(&v.due, trace.GoneExpired)
}

// gone shows keys, and forgets them.
func (v *State) gone(keys *[]string, why int64) {
	if len(*keys) == 0 {
		return
	}
	names := make([][]byte, len(*keys))
	for i, key := range *keys {
		names[i] = []byte(key)
	}
	*keys = (*keys)[:0]
	v.Trace.Event(trace.Event{
		Point: trace.Expired, A: int64(len(names)), B: why, Text: trace.Command(names), Args: names,
	}, nil)
}

// doShown is do. The executor shows what becomes of the request. doShown notes what it needs to know, and which
// keys the request has used.
func (v *State) doShown(
	do func(*command.Session, [][]byte, *resp.Writer), by *command.Session, args [][]byte, w *resp.Writer,
) {
	if !v.Ex.Trace.Detailed() {
		do(by, args, w)
		return
	}
	outer, outside := v.Ex.Show.Request, v.request // those of a slow script
	v.Ex.Show.Request = command.Request{Again: v.wasHeld(by), Began: v.Ex.Clock.Mono(), Refs: w.RefLen}
	v.request = uses{by: by, keys: v.subjects(by, v.Ex.Table.Lookup(args), args), dirty: v.KS.Stats.Dirty}
	do(by, args, w)
	v.settle()
	v.Ex.Show.Request, v.request = outer, outside
}

// uses is what the request under way uses.
type uses struct {
	by    *command.Session // nil for no request
	keys  []string
	dirty int64 // changes of the keyspace before
}

// settle notes what the request under way has done to keys so far. The executor calls it before it shows a reply.
func (v *State) settle() {
	if r := &v.request; r.by != nil {
		v.touch(r.by, r.keys, v.KS.Stats.Dirty != r.dirty)
	}
	v.expired()
}

// wasHeld reports whether a rule or CLIENT PAUSE has held this request back.
func (v *State) wasHeld(by *command.Session) bool {
	if by.Index < 0 {
		return false
	}
	f := serverlab.Of(v.Clients.Order[by.Index]).Fault
	return f != nil && f.Decided
}

// serveOthersShown is ServeOthers, with the points again and back around what the slow script lets others do.
func (v *State) serveOthersShown() (stop bool) {
	if !v.Trace.Detailed() {
		return v.others()
	}
	fired, at, taken, outer := v.fired, v.at, v.Ex.Show.Taken, v.slow
	v.fired, v.slow, v.found = nil, v.Running.Sess.ID, false
	stop = v.others()
	if v.found {
		v.Trace.Event(trace.Event{Point: trace.Back, Client: v.slow, A: v.Ex.Show.Taken - taken}, nil)
	}
	v.fired, v.at, v.slow = fired, at, outer
	return stop
}

// foundMore shows what a second look at the sockets has found in the middle of a pass.
func (v *State) foundMore() {
	if !v.Trace.Detailed() {
		return
	}
	why, list := v.ready()
	if len(v.fired) == 0 || why == "posted" && v.slow == 0 {
		return
	}
	e := trace.Event{Point: trace.LooksAgain, Client: v.slow, A: int64(len(v.fired)), Text: list}
	if v.Pool.Alone {
		e.B, v.found = trace.BySlowScript, true
	}
	v.Trace.Event(e, nil)
}

// struck shows that a rule of the lab does something: see LabHooks.
func (v *State) struck(client int64, r *lab.Rule, what string) {
	if !v.Trace.Detailed() {
		return
	}
	v.Trace.Event(trace.Event{
		Point: trace.Struck, Client: client, A: int64(r.Millis), Text: r.Name + " " + r.Action.String() + " " + what,
	}, nil)
}

// message shows bytes for a client that the server has put into its output, and not the executor.
func (v *State) message(c *server.Client, bytes []byte) {
	if v.Trace.Detailed() {
		v.Trace.Event(trace.Event{
			Point: trace.Messaged, Client: c.Sess.ID, A: int64(len(bytes)), B: trace.MessageNow, Text: trace.Shown(bytes),
		}, nil)
	}
}

// onlyLooks reports whether a command of the lab asks what there is, and changes nothing that a client would see.
func onlyLooks(cmd *command.Command, args [][]byte) bool { return looks(cmd.Name, args) }

// looks is onlyLooks for a name. args[1] is the verb.
func looks(name string, args [][]byte) bool {
	switch name {
	case "lab|doctor", "lab|log", "lab|verdict", "lab|step", "lab|record", "lab|topology":
		return true
	case "lab|all":
		return len(args) > 2 && looks("lab|"+strings.ToLower(string(args[2])), args[1:])
	case "lab|master":
		return len(args) > 3 && looks("lab|"+strings.ToLower(string(args[3])), args[2:])
	case "lab|clock":
		return len(args) == 2
	case "lab|fault", "lab|partition", "lab|snapshot":
		return len(args) == 3 && strings.EqualFold(string(args[2]), "LIST")
	case "lab|hold":
		return len(args) > 2 && !strings.EqualFold(string(args[2]), "RELEASE")
	}
	return false
}

func (v *State) pace() pace {
	return pace{
		reads: v.Stats.Reads, writes: v.Stats.Writes, taken: v.Ex.Show.Taken, inside: v.Ex.Show.Inside,
		waited: v.Ex.Show.Waited, executing: v.Stats.Executing, reading: v.Trace.Spent(trace.Reading),
		writing: v.Trace.Spent(trace.Writing),
		slots:   v.KS.Stats.WheelSlots, timers: v.KS.Stats.WheelTimers,
	}
}

// sleeps shows the end of a pass.
func (v *State) sleeps(d time.Duration) {
	was, is := v.finished, v.pace()
	if is.reads < was.reads { // a crash of the lab has counted anew
		was = pace{}
	}
	calls := v.Loop.Calls()
	timeout := int64(-1)
	if d >= 0 {
		timeout = int64((d + time.Millisecond - 1) / time.Millisecond)
	}
	v.Trace.Event(trace.Event{
		Point: trace.Asleep, Dur: max(v.Asleep-v.Now, 0), A: timeout, B: is.taken - was.taken,
		Text: fmt.Sprintf("reads=%d writes=%d read_us=%d execute_us=%d write_us=%d looked=%d "+
			"inside=%d waited=%d slots=%d timers=%d calls=%d", is.reads-was.reads, is.writes-was.writes,
			(is.reading-was.reading)/1000, (is.executing-was.executing)/1000, (is.writing-was.writing)/1000,
			v.Loop.Looked(), is.inside-was.inside, is.waited-was.waited, is.slots-was.slots, is.timers-was.timers,
			calls-v.calls),
	}, nil)
	v.calls = calls
}
