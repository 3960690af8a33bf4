package glass

import "slices"

// mostLines is where a recording ends by itself. A stop counts as a line for each client and key in it.
const mostLines = 1 << 16

// tape is the recording under way, and the last one. It belongs to Watch.mu.
type tape struct {
	on     bool
	passes int // to go, negative for no limit
	size   int // lines of last, as mostLines counts them
	last   *Recording
	saved  []Saved
}

// RecordStart begins a recording. It ends after that many passes that are not idle, after mostLines, or
// with RecordStop. 0 means any number of passes.
func (w *Watch) RecordStart(passes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if passes == 0 {
		passes = -1
	}
	w.tape.on, w.tape.passes, w.tape.size, w.tape.last = true, passes, 0, &Recording{Hello: w.hello()}
	w.setLive()
}

// RecordStop ends the recording.
func (w *Watch) RecordStop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tape.on = false
	w.setLive()
}

// Recording returns a copy of the recording under way or the last one, or nil before the first.
func (w *Watch) Recording() *Recording {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tape.last == nil {
		return nil
	}
	return &Recording{w.tape.last.Hello, slices.Clone(w.tape.last.Lines)}
}

// add appends an event and reports whether the recording goes on. Its time counts from born.
func (t *tape) add(e Event, born int64) bool {
	if e.Point == Woke {
		if t.passes == 0 {
			t.on = false
			return false
		}
		t.passes--
	}
	e.At -= born
	return t.line(Message{Kind: KindEvent, Events: []Event{e}}, 1)
}

func (t *tape) stop(s *Stop, born int64) bool {
	own := *s
	own.Event.At -= born
	return t.line(Message{Kind: KindStop, Stop: &own}, 1+len(s.Snapshot.Clients)+len(s.Snapshot.Keys))
}

func (t *tape) line(m Message, size int) bool {
	t.last.Lines = append(t.last.Lines, m)
	t.size += size
	t.on = t.size < mostLines
	return t.on
}
