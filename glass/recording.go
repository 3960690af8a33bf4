package glass

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Recording is a stream that was kept: the header, then events and stops in order of their numbers. A
// file .loop.gz has it as lines of JSON, gzipped.
type Recording struct {
	Hello Hello
	Lines []Message // of the kinds ev, with one event, and stop
}

// Write writes the recording as .loop.gz.
func (r *Recording) Write(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := r.WriteLines(z); err != nil {
		return err
	}
	return z.Close()
}

// WriteLines writes the lines without gzip.
func (r *Recording) WriteLines(w io.Writer) error {
	out := bufio.NewWriter(w)
	b := append(appendJSON(nil, r.Hello), '\n')
	_, _ = out.Write(b)
	for i := range r.Lines {
		_, _ = out.Write(append(r.Lines[i].appendLine(b[:0]), '\n')) // Flush returns the error
	}
	return out.Flush()
}

// appendLine appends a line: an event as it is, a stop as {"stop": ...}.
func (m *Message) appendLine(b []byte) []byte {
	if m.Kind != KindStop {
		return m.AppendJSON(b)
	}
	return append(m.AppendJSON(append(b, `{"stop":`...)), '}')
}

// The largest recording that ReadRecording reads.
const (
	mostBytes     = 64 << 20
	mostLineBytes = 1 << 20
)

// ReadRecording reads a .loop.gz. An error names the line.
func ReadRecording(r io.Reader) (*Recording, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("not a recording: %w", err)
	}
	lines := bufio.NewScanner(io.LimitReader(z, mostBytes))
	lines.Buffer(nil, mostLineBytes)
	rec, last := &Recording{}, int64(0)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			if err := json.Unmarshal(lines.Bytes(), &rec.Hello); err != nil || rec.Hello.V != 1 {
				return nil, errors.New("line 1: not the header of a recording")
			}
			continue
		}
		m, seq, err := readLine(lines.Bytes())
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n, err)
		case seq < last || seq == last && m.Kind == KindEvent:
			return nil, fmt.Errorf("line %d: event %d comes after event %d", n, seq, last)
		}
		last = seq
		rec.Lines = append(rec.Lines, m)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if rec.Hello.V == 0 {
		return nil, errors.New("the recording is empty")
	}
	return rec, nil
}

func readLine(line []byte) (m Message, seq int64, err error) {
	if len(line) > 0 && line[0] == '[' {
		var e Event
		if err := e.UnmarshalJSON(line); err != nil {
			return m, 0, err
		}
		return Message{Kind: KindEvent, Events: []Event{e}}, e.Seq, nil
	}
	var l struct {
		Stop *struct {
			Event    *Event
			Why      string
			Snapshot *Snapshot
		}
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return m, 0, err
	}
	if l.Stop == nil || l.Stop.Event == nil || l.Stop.Snapshot == nil {
		return m, 0, errors.New("neither an event nor a stop")
	}
	stop := &Stop{Event: *l.Stop.Event, Why: l.Stop.Why, Snapshot: l.Stop.Snapshot}
	return Message{Kind: KindStop, Stop: stop}, stop.Event.Seq, nil
}

// UnmarshalJSON reads an event as append writes it. Its time counts from the begin of the recording.
func (e *Event) UnmarshalJSON(data []byte) error {
	var point string
	var us int64
	var dur float64
	fields := []any{&e.Seq, &e.Pass, &point, &e.Thread, &e.Client, &us, &dur, &e.A, &e.B, &e.Text}
	want := len(fields)
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("not an event: %w", err)
	}
	if len(fields) != want {
		return fmt.Errorf("not an event: it has %d fields instead of %d", len(fields), want)
	}
	if _, known := points()[point]; !known {
		return fmt.Errorf("not an event: %q is not a point", point)
	}
	const longest = 1 << 53
	if e.Seq < 1 || us < 0 || us > longest || dur < 0 || dur > longest {
		return errors.New("not an event: a number is out of range")
	}
	e.Point, e.At, e.Dur = Point(point[0]), us*1000, int64(dur*1000+0.5)
	return nil
}
