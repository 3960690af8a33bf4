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

// Log returns the history so far: every rule that fired, and every command on a watched key, also
// inside scripts and transactions.
func (s *Server) Log() []lab.Entry {
	s.t.Helper()
	var h lab.History
	if err := json.Unmarshal([]byte(s.History()), &h); err != nil {
		s.t.Fatalf("%sthe history: %v", s.name, err)
	}
	return h.Entries
}

// History returns the log as JSON, for "miniredisd verdict".
func (s *Server) History() string {
	s.t.Helper()
	return s.lab("LOG", "EXPORT").Str
}

// History returns the histories of all masters as one JSON array.
func (m Masters) History() string {
	var each []string
	for _, s := range m {
		s.t.Helper()
		each = append(each, s.History())
	}
	return "[" + strings.Join(each, ",\n") + "]"
}

// ResetLog empties the history.
func (s *Server) ResetLog() {
	s.t.Helper()
	s.lab("LOG", "RESET")
}

// Calls returns the entries of a command on keys that match glob, if it was executed, by clients
// and by scripts. cmd may be in upper or lower case and has no subcommand.
func (s *Server) Calls(cmd, glob string) []lab.Entry {
	s.t.Helper()
	return slices.DeleteFunc(s.Log(), func(e lab.Entry) bool {
		return !executed(e.Outcome) || len(e.Cmd) == 0 || !strings.EqualFold(e.Cmd[0], cmd) ||
			!store.Match([]byte(glob), []byte(e.Key), false)
	})
}

// executed reports whether the server executed a command, even if its client never learned that.
func executed(o lab.Outcome) bool {
	switch o {
	case lab.Executed, lab.Failed, lab.ReplyLost, lab.ReplyLate, lab.ReplyCut:
		return true
	}
	return false
}

// AssertCalled fails the test unless a command was executed n times on keys that match glob:
// AssertCalled(1, "EVALSHA", "lock:*"). A request counts if its reply was lost, but not if it was
// dropped before.
func (s *Server) AssertCalled(n int, cmd, glob string) {
	s.t.Helper()
	if calls := s.Calls(cmd, glob); len(calls) != n {
		s.t.Errorf("%s%s was executed %d times on %s, not %d times:\n%s",
			s.name, strings.ToUpper(cmd), len(calls), glob, n, table(calls))
	}
}

// printHistory prints the history of a failed test.
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

// table formats entries, with times relative to the first one. The request is the last column,
// because a whole script is long.
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
	_ = w.Flush() // never fails for a Builder
	return b.String()
}

// WatchAs also watches the keys that match one of the globs, and says what they are, in the words of LAB LOG WATCH:
// "MUTEX", "SEMAPHORE 3".
func WatchAs(shape string, globs ...string) Option {
	return func(o *options) {
		for _, glob := range globs {
			o.shaped = append(o.shaped, append([]string{"LOG", "WATCH", glob, "AS"}, strings.Fields(shape)...))
		}
	}
}
