package trace

import (
	"bufio"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// The rows of the file. The numbers are the file's own, because short ones make it small. A row of a
// client has a number above all those of threads, because Perfetto knows a thread by its number alone.
const (
	threadsOf      = 1 // the process of main and its threads; main's row has the same number
	clientsOf      = 2 // the process whose threads are clients
	firstThreadRow = 10
	firstClientRow = 1000
)

// writer formats events, one a line.
type writer struct {
	w          *bufio.Writer
	buf        []byte
	since      int64 // the begin of the first span
	rows       map[*Thread]int
	last       map[*Thread]*placed // the latest span of each row
	clients    map[int64]*upTo
	clientRows int
	serves     served // by the pass that main is in
	servesAt   int64  // when it began to
	drawn      served
	some       bool // this is not the first event
	args       bool // the event has an argument already
}

func newWriter(w *bufio.Writer, threads []*Thread) *writer {
	out := &writer{w: w, rows: map[*Thread]int{}, last: map[*Thread]*placed{}, clients: map[int64]*upTo{}}
	for i, t := range threads {
		out.rows[t] = threadsOf
		if i > 0 {
			out.rows[t] = firstThreadRow + i
		}
	}
	return out
}

// of returns what the file has said of a client.
func (out *writer) of(client int64) *upTo {
	c := out.clients[client]
	if c == nil {
		c = &upTo{}
		out.clients[client] = c
	}
	return c
}

// begin writes the type, the name and the row of an event. A row that has the number of its process is the
// default of the format.
func (out *writer) begin(ph, name string, process, row int) *writer {
	out.buf = append(out.buf[:0], ",\n"...)
	if !out.some {
		out.buf = append(out.buf[:0], "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"...)
	}
	out.some, out.args = true, false
	out.buf = append(out.buf, `{"ph":"`...)
	out.buf = append(out.buf, ph...)
	out.buf = append(out.buf, `","name":`...)
	out.quote(name)
	out.buf = append(out.buf, `,"pid":`...)
	out.buf = strconv.AppendInt(out.buf, int64(process), 10)
	if row != process {
		out.buf = append(out.buf, `,"tid":`...)
		out.buf = strconv.AppendInt(out.buf, int64(row), 10)
	}
	return out
}

// micros writes nanoseconds as microseconds, the unit of the format.
func (out *writer) micros(name string, ns int64) *writer {
	out.buf = append(out.buf, `,"`...)
	out.buf = append(out.buf, name...)
	out.buf = append(out.buf, `":`...)
	out.buf = strconv.AppendInt(out.buf, ns/1000, 10)
	if rest := ns % 1000; rest != 0 {
		digits := [4]byte{'.', byte('0' + rest/100), byte('0' + rest/10%10), byte('0' + rest%10)}
		n := len(digits)
		for digits[n-1] == '0' {
			n--
		}
		out.buf = append(out.buf, digits[:n]...)
	}
	return out
}

func (out *writer) times(begin, end int64) *writer {
	return out.micros("ts", begin-out.since).micros("dur", end-begin)
}

// arrow says which arrow begins or ends at a span.
func (out *writer) arrow(e *placed) *writer {
	if e.bind == 0 {
		return out
	}
	out.buf = append(out.buf, `,"bind_id":`...)
	out.buf = strconv.AppendInt(out.buf, e.bind, 10)
	if e.arrives {
		out.buf = append(out.buf, `,"flow_in":true`...)
	}
	if e.leaves {
		out.buf = append(out.buf, `,"flow_out":true`...)
	}
	return out
}

func (out *writer) arg(name string) {
	if out.args {
		out.buf = append(out.buf, ',')
	} else {
		out.buf = append(out.buf, `,"args":{`...)
	}
	out.args = true
	out.buf = append(out.buf, '"')
	out.buf = append(out.buf, name...)
	out.buf = append(out.buf, `":`...)
}

func (out *writer) num(name string, n int64) *writer {
	out.arg(name)
	out.buf = strconv.AppendInt(out.buf, n, 10)
	return out
}

// unless writes a number that the reader cannot expect.
func (out *writer) unless(name string, n, expected int64) *writer {
	if n == expected {
		return out
	}
	return out.num(name, n)
}

// text writes a text that is not empty.
func (out *writer) text(name, s string) *writer {
	if s == "" {
		return out
	}
	out.arg(name)
	out.quote(s)
	return out
}

// quote appends a string of JSON. Bytes that are no UTF-8 look as in redis-cli.
func (out *writer) quote(s string) {
	if !utf8.ValidString(s) {
		s = string(AppendEscaped(nil, []byte(s)))
	}
	quoted, _ := json.Marshal(s) // fails for no string
	out.buf = append(out.buf, quoted...)
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
