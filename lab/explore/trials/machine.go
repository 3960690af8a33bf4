package trials

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/orphans"
)

// standstill measures how long a program has waited for a processor. The system counts that for each thread. Where it
// does not, and for a test that another process has, the machine never stands still.
type standstill struct {
	pid     int              // of the program; 0 for none
	threads map[string]int64 // ns, by the path of a thread
}

func standstillOf(p *program) *standstill {
	s := &standstill{threads: map[string]int64{}}
	if p.cmd != nil {
		s.pid = p.cmd.Process.Pid
	}
	s.took()
	return s
}

// took returns how long the thread that has waited longest has done so since the last call.
func (s *standstill) took() (still time.Duration) {
	if s.pid == 0 {
		return 0
	}
	for _, pid := range orphans.Below(s.pid) {
		paths, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat") // the pattern is right
		for _, path := range paths {
			text, _ := os.ReadFile(path) // the thread may have ended
			if fields := strings.Fields(string(text)); len(fields) > 1 {
				waited, _ := strconv.ParseInt(fields[1], 10, 64)
				still = max(still, time.Duration(waited-s.threads[path]))
				s.threads[path] = waited
			}
		}
	}
	return still
}
