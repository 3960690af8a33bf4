package miniredistest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// Loss says what a crash loses: all keys, scripts and functions, or only scripts, as with perfect
// persistence. With Disk it can also be what was not fsynced.
type Loss string

// The losses of Crash.
const (
	LoseKeys     Loss = "ALL"
	KeepKeys     Loss = "NOTHING"
	LoseUnsynced Loss = "UNSYNCED" // needs Disk
)

// Crash ends every connection by a reset and starts the server again on the same port. Connections
// are refused for down by the server's clock.
func (s *Server) Crash(down time.Duration, loss Loss) {
	s.t.Helper()
	args := []string{"CRASH", "LOSE", string(loss)}
	if down > 0 {
		args = append(args, "DOWN", millis(down))
	}
	s.lab(args...)
}

// Listen makes the server accept or refuse new connections.
func (s *Server) Listen(on bool) {
	s.t.Helper()
	s.lab("LISTEN", onOff(on))
}

// Blackhole makes the server read and write nothing. Connections stay open.
func (s *Server) Blackhole(on bool) {
	s.t.Helper()
	s.lab("BLACKHOLE", onOff(on))
}

// Partition is Blackhole for clients whose name matches glob, also for clients that connect later.
func (s *Server) Partition(glob string, on bool) {
	s.t.Helper()
	s.lab("PARTITION", "CLIENT", glob, onOff(on))
}

// Push sends a push message of the test's own to a client, given by its id, or to those whose name matches. They
// speak RESP3. A word is a string or an int. Push returns how many clients got it.
//
//	srv.Push("worker-*", "MOVING", 1, 15, "127.0.0.1:6380")
func (s *Server) Push(client, kind string, words ...any) int {
	s.t.Helper()
	request := []string{"PUSH", client, kind}
	for _, word := range words {
		switch word := word.(type) {
		case int:
			request = append(request, ":"+strconv.Itoa(word))
		default:
			request = append(request, fmt.Sprint(word))
		}
	}
	return int(s.lab(request...).Int)
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// Snapshot saves all keys with their TTLs, all scripts and all functions under a name.
func (s *Server) Snapshot(name string) {
	s.t.Helper()
	s.lab("SNAPSHOT", "SAVE", name)
}

// Restore puts back a Snapshot. It may be called any number of times.
func (s *Server) Restore(name string) {
	s.t.Helper()
	s.lab("SNAPSHOT", "RESTORE", name)
}

// Finding is a mistake in the use of a lock.
type Finding struct {
	Pattern  string // the kind of mistake
	Key      string
	DB       int
	Client   int64
	Name     string // of the client
	Count    int
	Commands []string // the commands that show it, with their times
	Why, Fix string
}

// Doctor returns the mistakes that the doctor has found so far.
func (s *Server) Doctor() []Finding {
	s.t.Helper()
	var all []Finding
	for _, f := range s.lab("DOCTOR").Elems {
		finding := Finding{
			Pattern: field(f, "pattern").Str, Key: field(f, "key").Str, DB: int(field(f, "db").Int),
			Client: field(f, "client").Int, Name: field(f, "name").Str, Count: int(field(f, "count").Int),
			Why: field(f, "why").Str, Fix: field(f, "fix").Str,
		}
		for _, c := range field(f, "commands").Elems {
			finding.Commands = append(finding.Commands, c.Str)
		}
		all = append(all, finding)
	}
	return all
}

// Doctor returns the findings of every master. A finding about several masters, such as two holders
// of one lock, is with the master that completed it.
func (m Masters) Doctor() (all []Finding) {
	for _, s := range m {
		s.t.Helper()
		all = append(all, s.Doctor()...)
	}
	return all
}

// AssertNoFindings fails the test if the doctor has found a mistake.
func (s *Server) AssertNoFindings() {
	s.t.Helper()
	for _, f := range s.Doctor() {
		s.t.Errorf("%s%s of key %s by %s (client %d): %s. %s.\n%s",
			s.name, f.Pattern, f.Key, f.Name, f.Client, f.Why, f.Fix, strings.Join(f.Commands, "\n"))
	}
}

// AssertNoFindings calls AssertNoFindings of every master.
func (m Masters) AssertNoFindings() {
	for _, s := range m {
		s.t.Helper()
		s.AssertNoFindings()
	}
}

// field returns a value of a map, or the zero Value.
func field(m resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(m.Elems); i += 2 {
		if m.Elems[i].Str == name {
			return m.Elems[i+1]
		}
	}
	return resp.Value{}
}
