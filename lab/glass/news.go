package glass

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// Message is one message of a stream.
//
//	kind    of it                                        as JSON
//	ev      Events: one, or those of a whole pass        an array, or an array of arrays
//	stop    Stop                                         {"event": [...], "why": ..., "snapshot": {...}}
//	sum     Sum, while there are too many events         see Summary, and "pass_events"
//	gap     Lost: events that the reader was too slow for  {"lost": n}
//	state   State, after it changed                      see State
type Message struct {
	Kind   string
	Events []trace.Event
	Stop   *Stop
	Sum    *Summary
	Lost   int64
	State  *State

	born int64
}

// The kinds of messages.
const (
	KindEvent = "ev"
	KindStop  = "stop"
	KindSum   = "sum"
	KindGap   = "gap"
	KindState = "state"
)

// AppendJSON appends the message without its kind.
func (m *Message) AppendJSON(b []byte) []byte {
	switch m.Kind {
	case KindEvent:
		if len(m.Events) == 1 {
			return m.Events[0].AppendJSON(b, m.born)
		}
		return appendEvents(b, m.Events, m.born)
	case KindStop:
		b = m.Stop.Event.AppendJSON(append(b, `{"event":`...), m.born)
		b = trace.AppendText(append(b, `,"why":`...), m.Stop.Why)
		return append(appendJSON(append(b, `,"snapshot":`...), m.Stop.Snapshot), '}')
	case KindSum:
		b = appendJSON(b, m.Sum)
		b = append(b[:len(b)-1], `,"pass_events":`...)
		return append(appendEvents(b, m.Sum.events, m.born), '}')
	case KindGap:
		return append(strconv.AppendInt(append(b, `{"lost":`...), m.Lost, 10), '}')
	}
	return appendJSON(b, m.State)
}

func appendEvents(b []byte, events []trace.Event, born int64) []byte {
	b = append(b, '[')
	for i := range events {
		if i > 0 {
			b = append(b, ',')
		}
		b = events[i].AppendJSON(b, born)
	}
	return append(b, ']')
}

func appendJSON(b []byte, v any) []byte {
	text, _ := json.Marshal(v) // never fails for the types of this package
	return append(b, text...)
}

// Places in a subscription, events that a new one can still get, and the most events that wait. One pass
// of many pipelines has millions.
const (
	queueSize   = 256
	historySize = 4096
	mostBatch   = 4096  // of one message
	mostQueued  = 16384 // of all messages in a queue
)

// news is what readers get. It belongs to View.mu.
type news struct {
	readers []*Subscription
	joined  bool          // one of them has to get a summary
	batch   []trace.Event // of this pass, not sent yet: at most mostBatch
	history []trace.Event // the latest events
	ended   bool
}

// Subscription is one reader of the stream. Its queue has 256 places for 16,384 events: if it is full, the
// oldest message goes.
type Subscription struct {
	v      *View
	queue  []Message
	events int    // in queue
	state  *State // not sent yet; only the newest counts
	lost   int64
	closed bool
	ready  chan struct{} // has an element if there may be something in the queue
}

// Subscribe begins a stream with the event of that number, if it is not too old, or with the next event
// if from is 0. If the server is stopped, the stop comes first. Any goroutine may call it.
func (v *View) Subscribe(from int64) *Subscription {
	s := v.subscribe(from)
	v.attend()
	return s
}

// Greet lets all readers get a summary soon, which says what clients and keys there are: nobody was told of passes
// without a reader. It wakes the loop for that. Any goroutine may call it.
func (v *View) Greet() {
	v.mu.Lock()
	v.news.joined = true
	v.mu.Unlock()
	if v.Wake != nil {
		v.Wake()
	}
}

func (v *View) subscribe(from int64) *Subscription {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &Subscription{v: v, ready: make(chan struct{}, 1), closed: v.news.ended}
	if from > 0 {
		if h := v.news.history; len(h) > 0 && h[0].Seq > from {
			s.lost = h[0].Seq - from
		}
		at, _ := slices.BinarySearchFunc(v.news.history, from, func(e trace.Event, seq int64) int { return int(e.Seq - seq) })
		if missed := v.news.history[at:]; len(missed) > 0 {
			s.put(Message{Kind: KindEvent, Events: slices.Clone(missed), born: v.born})
		}
	}
	if v.gate.stopped && v.gate.stop.Snapshot != nil {
		s.put(Message{Kind: KindStop, Stop: v.gate.stop, born: v.born})
	}
	state := v.state()
	s.state = &state
	s.wake()
	v.news.readers = append(v.news.readers, s)
	v.setLive()
	return s
}

// Close ends the stream. Next then returns io.EOF.
func (s *Subscription) Close() {
	v := s.v
	v.mu.Lock()
	defer v.mu.Unlock()
	s.end()
	v.news.readers = slices.DeleteFunc(v.news.readers, func(r *Subscription) bool { return r == s })
	v.setLive()
	v.cond.Broadcast() // a stop may be over its limit
}

func (s *Subscription) end() {
	s.closed = true
	s.wake()
}

// End ends all streams: the server has ended.
func (v *View) End() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news.ended = true
	for _, s := range v.news.readers {
		s.end()
	}
}

// Next waits for a message. It returns io.EOF at the end of the stream. Only one goroutine may call it.
func (s *Subscription) Next(ctx context.Context) (Message, error) {
	for {
		if m, ok, end := s.take(); ok {
			return m, nil
		} else if end {
			return Message{}, io.EOF
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return Message{}, ctx.Err()
		}
	}
}

func (s *Subscription) take() (m Message, ok, end bool) {
	s.v.mu.Lock()
	defer s.v.mu.Unlock()
	switch {
	case s.lost > 0:
		m = Message{Kind: KindGap, Lost: s.lost}
		s.lost = 0
		return m, true, false
	case len(s.queue) > 0:
		return s.oldest(), true, false
	case s.state != nil:
		m = Message{Kind: KindState, State: s.state}
		s.state = nil
		return m, true, false
	}
	return m, false, s.closed
}

// put adds a message.
func (s *Subscription) put(m Message) {
	s.queue = append(s.queue, m)
	s.events += len(m.Events)
	for len(s.queue) > queueSize || s.events > mostQueued {
		s.lost += int64(max(len(s.oldest().Events), 1))
	}
	s.wake()
}

// oldest takes the oldest message out of the queue.
func (s *Subscription) oldest() Message {
	m := s.queue[0]
	s.queue[0] = Message{}
	s.queue = s.queue[1:]
	s.events -= len(m.Events)
	return m
}

func (s *Subscription) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

func (v *View) publish(m Message) {
	m.born = v.born
	for _, s := range v.news.readers {
		s.put(m)
	}
}

// tell hands an event to the recording and to the readers. While nobody steps, readers get the events of
// a pass at its end.
func (v *View) tell(e *trace.Event) {
	n, told := &v.news, *e
	told.Args, told.Name = nil, ""
	if v.tape.on && !v.tape.add(told, v.born) {
		v.setLive()
	}
	if len(n.history) == historySize {
		n.history = append(n.history[:0], n.history[historySize/2:]...)
	}
	n.history = append(n.history, told)
	switch {
	case len(n.readers) == 0:
	case v.gate.steps() || v.gate.slow > 0:
		v.flush()
		v.publish(Message{Kind: KindEvent, Events: []trace.Event{told}})
	case v.sums.pass == passCounted:
	case len(n.batch) < mostBatch:
		n.batch = append(n.batch, told)
	case v.sums.pass == passTold: // a sample needs no more
		v.flush()
		n.batch = append(n.batch, told)
	}
}

// tellStop hands over a stop, behind the events before it.
func (v *View) tellStop(stop *Stop) {
	stop.Event.Args, stop.Event.Name = nil, ""
	v.flush()
	v.publish(Message{Kind: KindStop, Stop: stop})
	if v.tape.on && !v.tape.stop(stop, v.born) {
		v.setLive()
	}
	v.tellState()
}

func (v *View) tellState() {
	if len(v.news.readers) == 0 {
		return
	}
	state := v.state()
	for _, s := range v.news.readers {
		s.state = &state
		s.wake()
	}
}

// flush sends the events that wait for the end of the pass.
func (v *View) flush() {
	if n := &v.news; len(n.batch) > 0 {
		v.sums.spend(len(n.batch))
		v.publish(Message{Kind: KindEvent, Events: n.batch})
		n.batch = nil
	}
}
