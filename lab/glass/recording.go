package glass

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/miniredisd/miniredisd/internal/trace"
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
	mostFileBytes = 16 << 20
	mostBytes     = 64 << 20 // of its lines
	mostLineBytes = 1 << 20
)

// ReadRecording reads a .loop.gz. An error names the line.
func ReadRecording(r io.Reader) (*Recording, error) {
	rec := &Recording{}
	hello, err := readRecording(r, func(m Message) { rec.Lines = append(rec.Lines, m) })
	if err != nil {
		return nil, err
	}
	rec.Hello = hello
	return rec, nil
}

// CheckRecording reads a .loop.gz as ReadRecording does, and returns its bytes. It reads no further than a
// mistake.
func CheckRecording(r io.Reader) ([]byte, error) {
	var file bytes.Buffer
	if _, err := readRecording(io.TeeReader(r, &file), func(Message) {}); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// readRecording calls line with each line of a .loop.gz behind the header.
func readRecording(r io.Reader, line func(Message)) (hello Hello, err error) {
	file := &io.LimitedReader{R: r, N: mostFileBytes}
	packed := bufio.NewReader(file)
	z, err := gzip.NewReader(packed)
	if err != nil {
		return hello, fmt.Errorf("not a recording: %w", err)
	}
	z.Multistream(false) // a recording is one, and an endless row of empty ones takes time
	text := &io.LimitedReader{R: z, N: mostBytes}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, mostLineBytes)
	last := int64(0)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			if err := json.Unmarshal(lines.Bytes(), &hello); err != nil || hello.V != 1 {
				return hello, errors.New("line 1: not the header of a recording")
			}
			continue
		}
		m, seq, err := readLine(lines.Bytes())
		switch {
		case text.N == 0 || file.N == 0:
			return hello, errTooLong()
		case n > mostLines+1:
			return hello, fmt.Errorf("not a recording: more than %d events and stops", mostLines)
		case err != nil:
			return hello, fmt.Errorf("line %d: %w", n, err)
		case seq < last || seq == last && m.Kind == KindEvent:
			return hello, fmt.Errorf("line %d: event %d comes after event %d", n, seq, last)
		}
		last = seq
		line(m)
	}
	switch err := lines.Err(); {
	case text.N == 0 || file.N == 0:
		return hello, errTooLong()
	case err != nil:
		return hello, err
	case hello.V == 0:
		return hello, errors.New("the recording is empty")
	}
	if _, err := packed.ReadByte(); err != io.EOF {
		return hello, errors.New("not a recording: something follows its end")
	}
	return hello, nil
}

func errTooLong() error {
	return fmt.Errorf("not a recording: more than %d MB, or %d MB without gzip", mostFileBytes>>20, mostBytes>>20)
}

func readLine(line []byte) (m Message, seq int64, err error) {
	if len(line) > 0 && line[0] == '[' {
		var e trace.Event
		if err := e.UnmarshalJSON(line); err != nil {
			return m, 0, err
		}
		return Message{Kind: KindEvent, Events: []trace.Event{e}}, e.Seq, nil
	}
	var l struct {
		Stop *struct {
			Event    *trace.Event
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
