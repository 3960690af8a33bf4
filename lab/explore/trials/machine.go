package trials

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/orphans"
)

// standstill measures how long a program has waited for a processor, and how long it wanted one. The system counts that
// for each thread. Where it does not, and for a test that another process has, the machine never stands still.
type standstill struct {
	pid    int                      // of the program; 0 for none
	before map[string]time.Duration // by the path of a file of the system, and the place in it
}

func standstillOf(p *program) *standstill {
	s := &standstill{before: map[string]time.Duration{}}
	if p.cmd != nil {
		s.pid = p.cmd.Process.Pid
	}
	s.took()
	return s
}

// use is what a program has done with the machine since the last look.
type use struct {
	still  time.Duration // that the thread which has waited longest for a processor has done so
	wanted time.Duration // that all threads have run, or have waited for a processor
	known  bool          // the system tells
}

func (s *standstill) took() (u use) {
	if s.pid == 0 {
		return u
	}
	for _, pid := range orphans.Below(s.pid) {
		process := "/proc/" + strconv.Itoa(pid)
		paths, _ := filepath.Glob(process + "/task/*/schedstat") // the pattern is right
		for _, path := range paths {
			text, _ := os.ReadFile(path) // the thread may have ended
			if fields := strings.Fields(string(text)); len(fields) > 1 {
				waited := s.since(path+" waited", fields[1], time.Nanosecond)
				u.still, u.known = max(u.still, waited), true
				u.wanted += waited + s.since(path+" ran", fields[0], time.Nanosecond)
			}
		}
		u.wanted += s.ofChildren(process + "/stat")
	}
	return u
}

// had returns how much of the time since the last look the program could use. A look comes late where the machine is
// busy, and then the program may be late, too: so one look counts for no more than some steps, or for one if the system
// does not tell how long the program has waited.
func (u use) had(passed, step time.Duration) time.Duration {
	const steps = 3
	if !u.known {
		return step
	}
	return max(min(passed, steps*step)-u.still, 0)
}

// ofChildren returns how long the children of a process have run that have ended since the last look: see proc(5).
func (s *standstill) ofChildren(path string) time.Duration {
	const user, system, tick = 13, 14, 10 * time.Millisecond // cutime and cstime, behind a name in brackets
	text, _ := os.ReadFile(path)                             // the process may have ended
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= system {
		return 0
	}
	return s.since(path+" user", fields[user], tick) + s.since(path+" system", fields[system], tick)
}

// since returns by how much a time of the system has grown.
func (s *standstill) since(name, text string, unit time.Duration) time.Duration {
	n, _ := strconv.ParseInt(text, 10, 64) // the system writes numbers
	now := time.Duration(n) * unit
	grown := now - s.before[name]
	s.before[name] = now
	return grown
}

// hasMemory reports whether more than half of the memory is available. It is false where the system does not tell.
func hasMemory() bool {
	text, _ := os.ReadFile("/proc/meminfo")
	var all, available int
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case fields[0] == "MemTotal:":
			all, _ = strconv.Atoi(fields[1])
		case fields[0] == "MemAvailable:":
			available, _ = strconv.Atoi(fields[1])
		}
	}
	return 2*available > all
}
