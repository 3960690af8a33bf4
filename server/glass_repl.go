package server

import (
	"strconv"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/resp"
)

// What main shows of replication, on both sides of a link.

// replicated shows what the pass has added to the stream.
func (v *GlassState) replicated() {
	st := &v.Replicas.stream
	added := st.Offset - v.streamed
	v.streamed = st.Offset
	if !st.Active || added <= 0 {
		return
	}
	getters := 0
	for _, c := range v.Replicas.all {
		if getsStream(c) && v.link.refuses(c) == nil {
			getters++
		}
	}
	v.trace.Event(trace.Event{
		Point: trace.Replicated, A: added, B: int64(getters), Text: strconv.FormatInt(st.Offset, 10),
	}, nil)
}

// getters returns how many replicas get the stream, and the least offset that one of them has acknowledged.
func (v *GlassState) getters() (n int, acked int64) {
	acked = -1
	for _, c := range v.Replicas.all {
		if getsStream(c) {
			if n++; n == 1 || replicaOf(c).acked < acked {
				acked = replicaOf(c).acked
			}
		}
	}
	return n, acked
}

// fed shows bytes for a replica.
func (v *GlassState) fed(c *client, what int64, b []byte) {
	e := trace.Event{Point: trace.Fed, Client: c.sess.ID, A: int64(len(b)), B: what}
	if what != trace.FedKeys {
		e.Text = trace.Shown(b)
	}
	v.trace.Event(e, nil)
}

// linkRead shows bytes that the master has sent.
func (v *GlassState) linkRead(b []byte) {
	e := trace.Event{Point: trace.LinkRead, A: int64(len(b)), B: trace.FedAnswer}
	switch c := v.Follow.link.client; {
	case c != nil:
		e.Client, e.B = c.sess.ID, trace.FedStream
	case v.Follow.sync != nil:
		e.B = trace.FedKeys
	}
	if e.B != trace.FedKeys || !v.Follow.sync.begun {
		e.Text = trace.Shown(b)
	}
	v.trace.Event(e, nil)
}

// linkTold shows bytes that this replica has sent to its master.
func (v *GlassState) linkTold(b []byte) {
	e := trace.Event{Point: trace.LinkTold, A: int64(len(b)), B: -1, Text: trace.Shown(b)}
	if c := v.Follow.link.client; c != nil {
		e.Client, e.B = c.sess.ID, v.Replicas.stream.Offset
	}
	v.trace.Event(e, nil)
}

// obeyShown is doShown for what the master has sent.
func (v *GlassState) obeyShown(master *command.Session, args [][]byte) (reply []byte) {
	v.doShown(func(by *command.Session, args [][]byte, _ *resp.Writer) { reply = v.Ex.Obey(by, args) }, master, args,
		&v.nowhere)
	return reply
}

// stream is the replication stream in a snapshot, nil if there is none.
func (v *GlassState) stream() *glass.Stream {
	st, f := &v.Replicas.stream, &v.Follow
	s := &glass.Stream{Role: "master", Offset: st.Offset, Kept: st.Kept()}
	s.Replicas, s.Acked = v.getters()
	switch {
	case f.host != "":
		s.Role, s.Link = "replica", f.state()
	case !st.Active:
		return nil
	}
	return s
}

func (v *GlassState) roleOf(c *client) string {
	switch {
	case c.sess.Replica:
		return "replica"
	case c.sess.Master:
		return "master"
	}
	return ""
}
