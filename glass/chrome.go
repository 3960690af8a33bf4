package glass

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
)

// WriteJSON writes the trace in Chrome's trace event format, times in microseconds:
//
//	M    names of the rows
//	X    a span of a thread
//	C    how many clients wait to be read or written in a pass
//	b e  a request, from the first byte read to the last byte written
//	s f  an arrow, where a client goes from one thread to another
func (w *Watch) WriteJSON(to io.Writer) error {
	out := writer{w: bufio.NewWriterSize(to, 1<<16), pid: os.Getpid()}
	out.head("process_name", 0).text("name", "miniredisd").end()
	for i, t := range w.threads {
		out.head("thread_name", t.id).text("name", t.name).end()
		out.head("thread_sort_index", t.id).num("sort_index", int64(i)).end()
	}
	all := w.collect()
	for i := range all {
		out.span(&all[i])
		if e := &all[i]; e.on == w.threads[0] {
			out.depth(e)
		}
	}
	requests := lives(all)
	for _, l := range requests {
		out.life(l)
	}
	w.handOffs(&out, all, requests)
	return out.close()
}

// writer formats events, one a line.
type writer struct {
	w     *bufio.Writer
	buf   []byte
	pid   int
	some  bool // this is not the first event
	args  bool // the event has an argument already
	flows int64
}

// begin writes the fields that all events have: type, category, name, process, thread and time.
func (out *writer) begin(ph, cat, name string, at int64, tid int) *writer {
	out.buf = append(out.buf[:0], ",\n"...)
	if !out.some {
		out.buf = append(out.buf[:0], "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"...)
	}
	out.some, out.args = true, false
	out.buf = append(out.buf, `{"ph":"`...)
	out.buf = append(out.buf, ph...)
	out.buf = append(out.buf, `","cat":"`...)
	out.buf = append(out.buf, cat...)
	out.buf = append(out.buf, `","name":`...)
	out.buf = strconv.AppendQuoteToASCII(out.buf, name)
	out.buf = append(out.buf, `,"pid":`...)
	out.buf = strconv.AppendInt(out.buf, int64(out.pid), 10)
	out.buf = append(out.buf, `,"tid":`...)
	out.buf = strconv.AppendInt(out.buf, int64(tid), 10)
	return out.micros("ts", at)
}

func (out *writer) head(name string, tid int) *writer {
	return out.begin("M", "__metadata", name, 0, tid)
}

// micros writes nanoseconds as microseconds with three decimals, the unit of the format.
func (out *writer) micros(name string, ns int64) *writer {
	out.buf = fmt.Appendf(out.buf, `,"%s":%d.%03d`, name, ns/1000, ns%1000)
	return out
}

// raw writes a field that is not an argument.
func (out *writer) raw(name, value string) *writer {
	out.buf = append(out.buf, `,"`+name+`":"`+value+`"`...)
	return out
}

func (out *writer) arg(name string) {
	if out.args {
		out.buf = append(out.buf, ',')
	} else {
		out.buf = append(out.buf, `,"args":{`...)
	}
	out.args = true
	out.buf = append(out.buf, `"`+name+`":`...)
}

func (out *writer) num(name string, n int64) *writer {
	out.arg(name)
	out.buf = strconv.AppendInt(out.buf, n, 10)
	return out
}

func (out *writer) text(name, s string) *writer {
	out.arg(name)
	out.buf = strconv.AppendQuoteToASCII(out.buf, s)
	return out
}

// end completes the event. close returns a write error.
func (out *writer) end() {
	if out.args {
		out.buf = append(out.buf, '}')
	}
	_, _ = out.w.Write(append(out.buf, '}'))
}

func (out *writer) close() error {
	_, _ = out.w.WriteString("\n]}\n")
	return out.w.Flush()
}

func (out *writer) span(e *placed) {
	name := e.kind.String()
	if e.kind == Execute {
		name = e.name
	}
	out.begin("X", e.kind.String(), name, e.begin, e.on.id).micros("dur", e.end-e.begin)
	if e.client != 0 {
		out.num("client", e.client)
	}
	switch e.kind {
	case Read:
		out.num("bytes", int64(e.n))
	case Parse:
		out.num("requests", int64(e.n)).num("last", e.seq)
	case Execute:
		out.num("seq", e.seq)
	case Write:
		out.num("bytes", int64(e.n)).num("through", e.seq)
	case Reading, Writing:
		out.num("clients", int64(e.n))
	case Expire:
		out.num("keys", int64(e.n))
	}
	out.end()
}

// depth draws the number of waiting clients during a phase of main.
func (out *writer) depth(e *placed) {
	name := ""
	switch e.kind {
	case Reading:
		name = "pending reads"
	case Writing:
		name = "pending writes"
	default:
		return
	}
	out.begin("C", "queue", name, e.begin, e.on.id).num("clients", int64(e.n)).end()
	out.begin("C", "queue", name, e.end, e.on.id).num("clients", 0).end()
}

// life writes a request, unless a part of it is missing. All requests of a client have the same name, so
// that viewers show them in one row.
func (out *writer) life(l *life) {
	if l.written == nil {
		return
	}
	id := fmt.Sprintf("%d.%d", l.client, l.seq)
	name := fmt.Sprintf("client %d", l.client)
	out.begin("b", "request", name, l.born, l.parsed.on.id).raw("id", id).text("command", l.name).num("seq",
		l.seq).end()
	out.begin("e", "request", name, l.written.end, l.written.on.id).raw("id", id).end()
}

// flow draws an arrow.
func (out *writer) flow(name string, from, to *placed) {
	out.flows++
	id := strconv.FormatInt(out.flows, 10)
	out.begin("s", "hand-off", name, from.begin, from.on.id).raw("id", id).end()
	out.begin("f", "hand-off", name, to.begin, to.on.id).raw("id", id).raw("bp", "e").end()
}

// handOffs draws arrows between threads: from main's phase to a thread's share of it, from the first
// request that a thread has parsed to its execution on another, and from the last executed request to
// the thread that writes its reply.
func (w *Watch) handOffs(out *writer, all []placed, requests []*life) {
	main := w.threads[0]
	var phase [Wait + 1]*placed // the latest span of each kind on main
	for i := range all {
		switch e := &all[i]; {
		case e.on == main:
			phase[e.kind] = e
		case e.kind == Reading || e.kind == Writing:
			if from := phase[e.kind]; from != nil && e.begin <= from.end {
				out.flow("share", from, e)
			}
		}
	}
	last := map[*placed]*life{} // by write
	for _, l := range requests {
		if l.executed == nil {
			continue
		}
		if l.parsed.on != l.executed.on && l.seq == l.parsed.seq-int64(l.parsed.n)+1 {
			out.flow("parsed", l.parsed, l.executed)
		}
		if l.written != nil && l.written.on != l.executed.on {
			last[l.written] = l
		}
	}
	for _, l := range requests {
		if w := l.written; w != nil && last[w] == l {
			out.flow("executed", l.executed, w)
		}
	}
}
