package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Event is a point that the server met, as a recording has it. Package watch has the table of points.
type Event struct {
	Seq, Pass int64
	Point     string // one letter, such as "x" for execute
	Thread    int    // 0 is main, I/O threads count from 1, -1 is the executor of --exec queue
	Client    int64
	At, Took  float64 // us
	A, B      int64
	Text      string

	clock   int64           // of a stop: the lab's time in unix ms
	waiting map[int64]int64 // of a stop: the bytes in the socket of each client
}

// UnmarshalJSON reads [seq, pass, point, thread, client, us, dur, a, b, text].
func (e *Event) UnmarshalJSON(b []byte) error {
	fields := []any{&e.Seq, &e.Pass, &e.Point, &e.Thread, &e.Client, &e.At, &e.Took, &e.A, &e.B, &e.Text}
	return json.Unmarshal(b, &fields)
}

// Record is what one act of a story left behind: the events of one server, and what the lab knows.
type Record struct {
	Lines    []json.RawMessage // of the recording
	Events   []Event
	Clients  map[string]int64 // id by name
	Findings []string         // of the doctor: "two-holders lock:a"

	CPU       float64 // us of the process for a request, where a story measures it
	Forbidden string  // why the kernel does not let the story be played
}

// read reads the lines of a recording: its header, events, and stops.
//
// Before a stop stands its event: that line is left out.
func (r *Record) read(lines []string) error {
	for _, line := range lines {
		var e Event
		switch {
		case strings.HasPrefix(line, "["):
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				return fmt.Errorf("event %s: %w", line, err)
			}
		case strings.HasPrefix(line, `{"stop"`):
			var s stop
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				return fmt.Errorf("stop %s: %w", line, err)
			}
			e = s.event()
		default: // the header
			r.Lines = append(r.Lines, json.RawMessage(line))
			continue
		}
		if n := len(r.Events); n > 0 && r.Events[n-1].Seq == e.Seq {
			r.drop()
		}
		r.Events, r.Lines = append(r.Events, e), append(r.Lines, json.RawMessage(line))
	}
	if len(r.Events) == 0 {
		return errors.New("the recording has no events")
	}
	return nil
}

// dropLastPass removes the events of the last pass.
func (r *Record) dropLastPass() {
	for n := len(r.Events) - 1; n > 0 && r.Events[n].Pass == r.Events[n-1].Pass; n-- {
		r.drop()
	}
	r.drop()
}

func (r *Record) drop() {
	if n := len(r.Events); n > 0 {
		r.Events, r.Lines = r.Events[:n-1], r.Lines[:len(r.Lines)-1]
	}
}

// stop is the part of a snapshot that the claims look at.
type stop struct {
	Stop struct {
		Event    Event
		Snapshot struct {
			Clock   int64
			Clients []struct {
				ID    int64
				RecvQ int64
			}
		}
	}
}

func (s stop) event() Event {
	e := s.Stop.Event
	e.clock, e.waiting = s.Stop.Snapshot.Clock, map[int64]int64{}
	for _, c := range s.Stop.Snapshot.Clients {
		e.waiting[c.ID] = c.RecvQ
	}
	return e
}

// is reports whether the event is at one of the points, given as letters.
func (e Event) is(points string) bool { return strings.Contains(points, e.Point) }

// all returns the events that meet every condition.
func (r *Record) all(conditions ...func(Event) bool) (found []Event) {
	for _, e := range r.Events {
		ok := true
		for _, meets := range conditions {
			ok = ok && meets(e)
		}
		if ok {
			found = append(found, e)
		}
	}
	return found
}

func at(points string) func(Event) bool { return func(e Event) bool { return e.is(points) } }

// by selects events of a client of the story.
func (r *Record) by(name string) func(Event) bool {
	id := r.Clients[name]
	return func(e Event) bool { return e.Client == id }
}

// between selects events after one event and before another. An event that is missing bounds nothing.
func between(from, to Event) func(Event) bool {
	return func(e Event) bool { return e.Seq > from.Seq && (to.Seq == 0 || e.Seq < to.Seq) }
}

// begins selects events whose text begins with one of the texts.
func begins(texts ...string) func(Event) bool {
	return func(e Event) bool {
		for _, t := range texts {
			if strings.HasPrefix(e.Text, t) {
				return true
			}
		}
		return false
	}
}

// commands returns the commands that a client sent and the server executed, with such a beginning. A
// command that a rule holds counts when it continues.
func (r *Record) commands(name, text string) (sent []Event) {
	for _, x := range r.all(at("x"), r.by(name), begins(text)) {
		if x.B != inExec && x.B != inScript && r.reply(x).B != held {
			sent = append(sent, x)
		}
	}
	return sent
}

const (
	// Field b of an executed command: who called it.
	inExec   = 1
	inScript = 2

	held = 4 // field b of a reply: a rule holds the command
)

// command is the nth of the commands, from 0. A missing one is the zero Event.
func (r *Record) command(name, text string, n int) Event {
	all := r.commands(name, text)
	if n >= len(all) {
		return Event{}
	}
	return all[n]
}

// reply returns the reply to a command: the next one for its client at the same depth. Commands of
// scripts and transactions have replies of their own inside.
func (r *Record) reply(x Event) Event {
	depth := 0
	for _, e := range r.Events {
		switch {
		case x.Seq == 0 || e.Seq <= x.Seq || e.Client != x.Client:
		case e.Point == "x":
			depth++
		case e.Point == "y" && depth > 0:
			depth--
		case e.Point == "y":
			return e
		}
	}
	return Event{}
}

// granted reports whether the reply is that of a lock that was free.
func granted(reply Event) bool { return reply.Seq != 0 && strings.HasPrefix(reply.Text, "+OK") }

// seqs returns the numbers of events, for the evidence. It leaves out missing ones.
func seqs(events ...Event) (numbers []int64) {
	for _, e := range events {
		if e.Seq != 0 {
			numbers = append(numbers, e.Seq)
		}
	}
	return numbers
}
