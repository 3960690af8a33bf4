package trace

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// WriteJSON writes the trace in Chrome's trace event format, times in microseconds since the first span:
//
//	M    names of the rows
//	X    a span of a thread; or a request of a client, from its first byte read to its last byte written
//	C    how many clients a pass has read and written
//
// Two spans with the same bind_id are joined by an arrow: a client goes from one thread to another.
//
// Most of a line are the names of the format. So a line says nothing that follows from those before it:
// docs/trace-for-perfetto.md lists what is left out.
func (r *Recorder) WriteJSON(to io.Writer) error {
	all := r.collect()
	requests := lives(all)
	handOffs(r.threads[0], all, requests)
	out := newWriter(bufio.NewWriterSize(to, 1<<16), r.threads)
	if len(all) > 0 {
		out.since = all[0].begin
	}
	out.head(r.threads, all)
	for i := range all {
		if e := &all[i]; e.on == r.threads[0] {
			out.pending(e)
		}
		out.span(&all[i])
	}
	out.count()
	for _, l := range requests {
		out.life(l)
	}
	return out.close()
}

// upTo is what a reader of the file knows of a client so far.
type upTo struct {
	row      int   // of its requests, 0 for none yet
	parsed   int64 // the number of the last request that was parsed
	executed int64
	shown    int64 // the last request that has a span in the client's row
	end      int64 // of that span
	before   int64 // the end of the last one that ended earlier than that
}

// served is how many clients a pass has served.
type served struct{ reads, writes int32 }

// head writes the names of the rows, and the descriptor of each client.
func (out *writer) head(threads []*Thread, all []placed) {
	out.begin("M", "process_name", threadsOf, threadsOf).text("name", "miniredisd").num("pid", int64(os.Getpid())).
		num("begin", out.since).end()
	for i, t := range threads {
		out.begin("M", "thread_name", threadsOf, out.rows[t]).text("name", t.name)
		if t.id < unlocked {
			out.num("thread", int64(t.id))
		}
		out.end()
		out.begin("M", "thread_sort_index", threadsOf, out.rows[t]).num("sort_index", int64(i)).end()
	}
	out.begin("M", "process_name", clientsOf, clientsOf).text("name", "clients").end()
	for i := range all {
		if e := &all[i]; e.kind == Accept || e.kind == Read {
			out.row(e.client, fmt.Sprintf("client %d (fd %d)", e.client, e.seq))
		}
	}
}

// row names the row of a client that has none yet.
func (out *writer) row(client int64, name string) {
	if c := out.of(client); c.row == 0 {
		out.clientRows++
		c.row = firstClientRow + out.clientRows
		out.begin("M", "thread_name", clientsOf, c.row).text("name", name).end()
	}
}

func (out *writer) span(e *placed) {
	if (e.kind == Reading || e.kind == Writing) && e.n == 1 && e.bind == 0 {
		return // the spans of its only client say as much
	}
	name := e.kind.String()
	if e.kind == Execute {
		name = shownName(e.name)
	}
	out.begin("X", name, threadsOf, out.rows[e.on]).times(e.begin, e.end).arrow(e)
	if e.client != 0 && !out.follows(e) {
		out.num("client", e.client)
	}
	out.last[e.on] = e
	out.facts(e)
	if e.unfinished {
		out.num("unfinished", 1)
	}
	out.end()
}

// facts writes what is special to a kind.
func (out *writer) facts(e *placed) {
	c := out.of(e.client)
	switch e.kind {
	case Sleep:
		if e.name != "" {
			out.unless("ready", int64(e.n), 1).num("pass", e.seq)
		}
		if e.name != NoDeadline {
			out.text("until", e.name)
		}
	case Accept:
		out.num("fd", e.seq)
	case Read:
		out.moved(e.n)
	case Parse:
		out.unless("requests", int64(e.n), 1).unless("last", e.seq, c.parsed+int64(e.n))
		c.parsed = e.seq
	case Execute:
		out.unless("seq", e.seq, c.executed+1)
		c.executed = e.seq
		out.text("key", e.key)
	case Write:
		out.moved(e.n).unless("through", e.seq, c.executed)
	case Expire:
		out.num("keys", int64(e.n))
	}
}

// follows reports whether e is the parse of what the span before it in its row has read.
func (out *writer) follows(e *placed) bool {
	before := out.last[e.on]
	return e.kind == Parse && before != nil && before.kind == Read && before.client == e.client
}

// shownName is the name of a command as Redis's documentation writes it. So it is never that of a kind. A
// request that did not run keeps its small letters: queued or refused.
func shownName(command string) string {
	if command == "queued" || command == "refused" {
		return command
	}
	return strings.ToUpper(command)
}

// moved writes what a read or a write returned: bytes, or a negative errno.
func (out *writer) moved(n int32) *writer {
	switch {
	case syscall.Errno(-n) == syscall.EAGAIN:
		return out.text("error", "EAGAIN")
	case n < 0:
		return out.text("error", syscall.Errno(-n).Error())
	}
	return out.num("bytes", int64(n))
}

// pending collects the numbers of a pass of main.
func (out *writer) pending(e *placed) {
	switch e.kind {
	case Sleep:
		out.count()
		out.serves = served{}
		return
	case Reading:
		out.serves.reads = e.n
	case Writing:
		out.serves.writes = e.n
	default:
		return
	}
	if out.serves.reads == 0 || e.kind == Reading {
		out.servesAt = e.begin
	}
}

// count draws the numbers of a pass that has served anybody, if they are not those of the pass before.
func (out *writer) count() {
	if out.serves == (served{}) || out.serves == out.drawn {
		return
	}
	out.drawn = out.serves
	out.begin("C", "pending", threadsOf, threadsOf).micros("ts", out.servesAt-out.since).
		num("reads", int64(out.serves.reads)).num("writes", int64(out.serves.writes)).end()
}

// life writes a request, unless a part of it is missing. Spans of a row must not overlap by halves. So one
// that was read while the request before it was still served begins at the end of that, and says how much
// earlier it was there.
func (out *writer) life(l *life) {
	if l.written == nil {
		return
	}
	out.row(l.client, fmt.Sprintf("client %d", l.client)) // of which the trace has no read
	c := out.of(l.client)
	begin, end := l.born, max(l.written.end, c.end)
	if end > c.end {
		c.before = c.end
	}
	c.end = end
	begin = max(begin, c.before)
	out.begin("X", shownName(l.name), clientsOf, c.row).times(begin, end).unless("seq", l.seq, c.shown+1).
		unless("behind", begin-l.born, 0).end()
	c.shown = l.seq
}

// handOffs joins spans of different threads: main's phase and a thread's share of it, the parsing of requests
// and the first of them that is executed, the last executed request and the write of its reply.
func handOffs(main *Thread, all []placed, requests []*life) {
	arrows := int64(0)
	join := func(from, to *placed) {
		if from.bind == 0 {
			arrows++
			from.bind = arrows
		}
		from.leaves, to.arrives, to.bind = true, true, from.bind
	}
	var phase [Kinds]*placed // the latest span of each kind on main
	for i := range all {
		switch e := &all[i]; {
		case e.on == main:
			phase[e.kind] = e
		case e.kind == Reading || e.kind == Writing:
			if from := phase[e.kind]; from != nil && e.begin <= from.end {
				join(from, e)
			}
		}
	}
	last := map[*placed]*life{} // by write
	for _, l := range requests {
		if l.executed == nil {
			continue
		}
		if l.parsed.on != l.executed.on && l.seq == l.parsed.seq-int64(l.parsed.n)+1 {
			join(l.parsed, l.executed)
		}
		if l.written != nil && l.written.on != l.executed.on {
			last[l.written] = l
		}
	}
	for _, l := range requests {
		if v := l.written; v != nil && last[v] == l {
			join(l.executed, v)
		}
	}
}
