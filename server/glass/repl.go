package glass

import (
	"strconv"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/repl"
)

// What main shows of replication, on both sides of a link.

// replicated shows what the pass has added to the stream.
func (v *State) replicated() {
	st := &v.Replicas.Stream
	added := st.Offset - v.streamed
	v.streamed = st.Offset
	if !st.Active || added <= 0 {
		return
	}
	getters := 0
	for _, c := range v.Replicas.All {
		if repl.GetsStream(c) && v.Link.Refuses(c) == nil {
			getters++
		}
	}
	v.Trace.Event(trace.Event{
		Point: trace.Replicated, A: added, B: int64(getters), Text: strconv.FormatInt(st.Offset, 10),
	}, nil)
}

// getters returns how many replicas get the stream, and the least offset that one of them has acknowledged.
func (v *State) getters() (n int, acked int64) {
	acked = -1
	for _, c := range v.Replicas.All {
		if repl.GetsStream(c) {
			if n++; n == 1 || repl.ReplicaOf(c).Acked < acked {
				acked = repl.ReplicaOf(c).Acked
			}
		}
	}
	return n, acked
}

// fed shows bytes for a replica.
func (v *State) fed(c *server.Client, what int64, b []byte) {
	e := trace.Event{Point: trace.Fed, Client: c.Sess.ID, A: int64(len(b)), B: what}
	if what != trace.FedKeys {
		e.Text = trace.Shown(b)
	}
	v.Trace.Event(e, nil)
}

// linkRead shows bytes that the master has sent.
func (v *State) linkRead(b []byte) {
	e := trace.Event{Point: trace.LinkRead, A: int64(len(b)), B: trace.FedAnswer}
	switch c := v.Follow.Link.Client; {
	case c != nil:
		e.Client, e.B = c.Sess.ID, trace.FedStream
	case v.Follow.Sync != nil:
		e.B = trace.FedKeys
	}
	if e.B != trace.FedKeys || !v.Follow.Sync.Begun {
		e.Text = trace.Shown(b)
	}
	v.Trace.Event(e, nil)
}

// linkTold shows bytes that this replica has sent to its master.
func (v *State) linkTold(b []byte) {
	e := trace.Event{Point: trace.LinkTold, A: int64(len(b)), B: -1, Text: trace.Shown(b)}
	if c := v.Follow.Link.Client; c != nil {
		e.Client, e.B = c.Sess.ID, v.Replicas.Stream.Offset
	}
	v.Trace.Event(e, nil)
}

// obeyShown is doShown for what the master has sent.
func (v *State) obeyShown(master *command.Session, args [][]byte) (reply []byte) {
	v.doShown(func(by *command.Session, args [][]byte, _ *resp.Writer) { reply = v.Ex.Obey(by, args) }, master, args,
		&v.nowhere)
	return reply
}

// stream is the replication stream in a snapshot, nil if there is none.
func (v *State) stream() *glass.Stream {
	st, f := &v.Replicas.Stream, &v.Follow
	s := &glass.Stream{Role: "master", Offset: st.Offset, Kept: st.Kept()}
	s.Replicas, s.Acked = v.getters()
	switch {
	case f.Host != "":
		s.Role, s.Link = "replica", f.State()
	case !st.Active:
		return nil
	}
	return s
}

func (v *State) roleOf(c *server.Client) string {
	switch {
	case c.Sess.Replica:
		return "replica"
	case c.Sess.Master:
		return "master"
	}
	return ""
}
