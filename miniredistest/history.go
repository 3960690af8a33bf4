package miniredistest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/store"
)

// Log is the history so far: every rule that has fired, and every command on a watched key,
// those in scripts and transactions too.
func (s *Server) Log() []lab.Entry {
	s.t.Helper()
	var h lab.History
	if err := json.Unmarshal([]byte(s.History()), &h); err != nil {
		s.t.Fatalf("%sthe history: %v", s.name, err)
	}
	return h.Entries
}

// History is Log as JSON, as "bench verdict" reads it.
func (s *Server) History() string {
	s.t.Helper()
	return s.lab("LOG", "EXPORT").Str
}

// History is that of all masters as one JSON array.
func (m Masters) History() string {
	var each []string
	for _, s := range m {
		s.t.Helper()
		each = append(each, s.History())
	}
	return "[" + strings.Join(each, ",\n") + "]"
}

// ResetLog forgets the history so far.
func (s *Server) ResetLog() {
	s.t.Helper()
	s.lab("LOG", "RESET")
}

// Calls returns the entries of a command that was executed, by clients and by scripts, on a
// key that matches glob. Neither case nor the subcommand of cmd matters.
func (s *Server) Calls(cmd, glob string) []lab.Entry {
	s.t.Helper()
	return slices.DeleteFunc(s.Log(), func(e lab.Entry) bool {
		ran := e.Outcome == lab.Executed || e.Outcome == lab.Failed || e.Outcome == lab.ReplyLost || e.Outcome == lab.ReplyLate || e.Outcome == lab.ReplyCut
		return !ran || len(e.Cmd) == 0 || !strings.EqualFold(e.Cmd[0], cmd) || !store.Match([]byte(glob), []byte(e.Key), false)
	})
}

// AssertCalled fails the test unless a command was executed n times on keys that match glob:
// AssertCalled(1, "EVALSHA", "lock:*"). Requests that were dropped before are not counted,
// those whose reply was lost are.
func (s *Server) AssertCalled(n int, cmd, glob string) {
	s.t.Helper()
	if calls := s.Calls(cmd, glob); len(calls) != n {
		s.t.Errorf("%s%s was executed %d times on %s, not %d times:\n%s", s.name, strings.ToUpper(cmd), len(calls), glob, n, table(calls))
	}
}

// printHistory is for the end of a test that has failed.
func (s *Server) printHistory() {
	s.t.Helper()
	v, err := s.Try("LAB", "LOG", "EXPORT")
	var h lab.History
	if err == nil {
		err = json.Unmarshal([]byte(v.Str), &h)
	}
	switch {
	case err != nil:
		s.t.Logf("%sno history: %v", s.name, err)
	case len(h.Entries) > 0:
		s.t.Logf("%shistory\n%s", s.name, table(h.Entries))
	}
}

// table is entries for people, with times from the first one on. The request comes last: a
// script in full would push whatever is behind it off the screen, in every line.
func table(entries []lab.Entry) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		who := e.Name
		if who == "" {
			who = fmt.Sprintf("client %d", e.Client)
		}
		if e.Client == 0 {
			who = "-"
		}
		event := e.Event
		if e.By != "" {
			event += " by " + e.By[:min(len(e.By), 8)]
		}
		what := lab.Line(e.Cmd)
		if what == "" {
			what = e.Key
		}
		if what != "" && e.Reply != "" {
			what += " -> "
		}
		since := time.Duration(e.Time-entries[0].Time) * time.Millisecond
		fmt.Fprintf(w, "%d\t+%v\t%s\t%s\t%s\t%s\n", e.Seq, since, who, event, e.Outcome, what+e.Reply)
	}
	_ = w.Flush() // a Builder takes everything
	return b.String()
}
