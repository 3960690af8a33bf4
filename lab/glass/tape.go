package glass

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// mostLines is where a recording ends by itself. A stop counts as a line for each client and key in it.
const mostLines = 1 << 16

// tape is the recording under way, and the last one. It belongs to View.mu.
type tape struct {
	on     bool
	passes int // to go, negative for no limit
	size   int // lines of last, as mostLines counts them
	last   *Recording
	saved  []Saved
}

// RecordStart begins a recording. It ends after that many passes that are not idle, after mostLines, or
// with RecordStop. 0 means any number of passes.
func (v *View) RecordStart(passes int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if passes == 0 {
		passes = -1
	}
	v.tape.on, v.tape.passes, v.tape.size, v.tape.last = true, passes, 0, &Recording{Hello: v.hello()}
	v.setLive()
}

// RecordStop ends the recording.
func (v *View) RecordStop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tape.on = false
	v.setLive()
}

// Recording returns a copy of the recording under way or the last one, or nil before the first.
func (v *View) Recording() *Recording {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tape.last == nil {
		return nil
	}
	return &Recording{v.tape.last.Hello, slices.Clone(v.tape.last.Lines)}
}

// add appends an event and reports whether the recording continues. Its time counts from born.
func (t *tape) add(e trace.Event, born int64) bool {
	if e.Point == trace.Woke {
		if t.passes == 0 {
			t.on = false
			return false
		}
		t.passes--
	}
	e.At -= born
	return t.line(Message{Kind: KindEvent, Events: []trace.Event{e}}, 1)
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
