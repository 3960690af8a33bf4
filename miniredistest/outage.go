package miniredistest

import (
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// Loss is what a crash loses: all keys, scripts and functions, or nothing, as with a
// persistence that is perfect.
type Loss string

// What Crash may lose.
const (
	LoseKeys Loss = "ALL"
	KeepKeys Loss = "NOTHING"
)

// Crash ends every connection by a reset and starts the server again, on the same port and
// after down of its own time: until then connections are refused.
func (s *Server) Crash(down time.Duration, loss Loss) {
	s.t.Helper()
	args := []string{"CRASH", "LOSE", string(loss)}
	if down > 0 {
		args = append(args, "DOWN", millis(down))
	}
	s.lab(args...)
}

// Listen has new connections accepted, or refused.
func (s *Server) Listen(on bool) {
	s.t.Helper()
	s.lab("LISTEN", onOff(on))
}

// Blackhole has the server read and write nothing, while connections stay open.
func (s *Server) Blackhole(on bool) {
	s.t.Helper()
	s.lab("BLACKHOLE", onOff(on))
}

// Partition is Blackhole for clients whose name matches glob. It is about those as well
// that connect later.
func (s *Server) Partition(glob string, on bool) {
	s.t.Helper()
	s.lab("PARTITION", "CLIENT", glob, onOff(on))
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// Snapshot keeps all keys with their TTLs, scripts and functions under a name.
func (s *Server) Snapshot(name string) {
	s.t.Helper()
	s.lab("SNAPSHOT", "SAVE", name)
}

// Restore puts back what Snapshot has kept, as often as needed.
func (s *Server) Restore(name string) {
	s.t.Helper()
	s.lab("SNAPSHOT", "RESTORE", name)
}

// Finding is something that users of a lock have done wrong.
type Finding struct {
	Pattern  string // which mistake
	Key      string
	DB       int
	Client   int64
	Name     string // of the client
	Count    int
	Commands []string // that show it, with their times
	Why, Fix string
}

// Doctor tells what the clients have done wrong with their locks so far.
func (s *Server) Doctor() []Finding {
	s.t.Helper()
	var all []Finding
	for _, f := range s.lab("DOCTOR").Elems {
		finding := Finding{
			Pattern: field(f, "pattern").Str, Key: field(f, "key").Str, DB: int(field(f, "db").Int), Client: field(f, "client").Int, Name: field(f, "name").Str,
			Count: int(field(f, "count").Int), Why: field(f, "why").Str, Fix: field(f, "fix").Str,
		}
		for _, c := range field(f, "commands").Elems {
			finding.Commands = append(finding.Commands, c.Str)
		}
		all = append(all, finding)
	}
	return all
}

// Doctor is that of every master. What concerns several, such as two holders of one lock, is
// told by the one that saw it last.
func (m Masters) Doctor() (all []Finding) {
	for _, s := range m {
		s.t.Helper()
		all = append(all, s.Doctor()...)
	}
	return all
}

// AssertNoFindings fails the test if the doctor has found something.
func (s *Server) AssertNoFindings() {
	s.t.Helper()
	for _, f := range s.Doctor() {
		s.t.Errorf("%s%s of key %s by %s (client %d): %s. %s.\n%s", s.name, f.Pattern, f.Key, f.Name, f.Client, f.Why, f.Fix, strings.Join(f.Commands, "\n"))
	}
}

// AssertNoFindings is that of every master.
func (m Masters) AssertNoFindings() {
	for _, s := range m {
		s.t.Helper()
		s.AssertNoFindings()
	}
}

// field is the value of a map, zero where there is none.
func field(m resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(m.Elems); i += 2 {
		if m.Elems[i].Str == name {
			return m.Elems[i+1]
		}
	}
	return resp.Value{}
}
