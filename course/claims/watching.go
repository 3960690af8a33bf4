package claims

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
)

// How a story uses the gate of package glass: the server makes a snapshot at every event, and stops where
// clients have to send together.

// begin starts the recording. Everything before it, such as the names of the clients, is left out. Each
// event then comes with a snapshot.
func (s *story) begin() { s.together(func() {}) }

// together calls send while the watched server stands at the end of a pass. So the requests of all clients
// that send are in the next array. The first call begins the recording.
func (s *story) together(send func()) {
	s.still(func() {
		if !s.recording {
			s.recording = true
			s.servers.Record(s.watched, s.bare)
		}
		send()
	})
}

// still calls do while the watched server stands in a pass that serves no client.
func (s *story) still(do func()) {
	passed := make(chan error, 1)
	s.stopped(glass.Breakpoint{Name: "still", At: trace.Replied, Cmd: "dbsize"}, func() {
		go func() { passed <- s.pass() }() // it returns when the server continues
	}, do)
	if s.err == nil {
		s.check(<-passed)
	}
}

// pass makes the watched server pass through its loop, without a connection.
func (s *story) pass() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := s.servers.Do(ctx, s.watched, "DBSIZE")
	return err
}

// stopped makes the watched server stop at a breakpoint, by what cause sends, and calls do meanwhile.
func (s *story) stopped(at glass.Breakpoint, cause, do func()) {
	if s.err != nil {
		return
	}
	w := s.servers.Glass(s.watched)
	stops := w.Subscribe(0)
	defer stops.Close()
	s.check(w.Break(at))
	cause()
	_, err := waitForStop(stops, at.Name)
	s.check(err)
	do()
	for _, c := range s.clients {
		c.arrive()
	}
	s.check(w.BreakDel(at.Name))
	w.Continue()
}

// waitForStop waits until the server stands at the breakpoint, and returns the event there.
func waitForStop(stops *glass.Subscription, name string) (trace.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		m, err := stops.Next(ctx)
		if err != nil {
			return trace.Event{}, fmt.Errorf("waiting for the stop %q: %w", name, err)
		}
		if m.Kind == glass.KindStop && m.Stop.Why == "break "+name {
			return m.Stop.Event, nil
		}
	}
}

// perform plays an act on new servers and returns what it left behind.
func perform(a act, more []string) (*Record, error) {
	s, err := newStory(append(append([]string{}, a.config...), more...))
	if err != nil {
		return nil, err
	}
	a.play(s)
	var recording *glass.Recording
	s.still(func() { recording = s.servers.EndRecording(s.watched) })
	s.record.Findings = s.findings()
	if err := s.close(); err != nil {
		return nil, err
	}
	if recording == nil {
		return nil, errors.New("the story has no recording")
	}
	err = s.record.keep(recording)
	s.record.dropLastPass() // which is that of still
	return &s.record, err
}

// keep takes over the lines of a recording.
func (r *Record) keep(recording *glass.Recording) error {
	var text bytes.Buffer
	if err := recording.WriteLines(&text); err != nil {
		return err
	}
	return r.read(strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n"))
}
