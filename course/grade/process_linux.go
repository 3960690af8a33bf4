package grade

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// marked returns the processes that have mark in their environment.
func marked(mark string) (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(mark+"\x00")) {
			continue // it has ended, or is somebody else's
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// threads is what the kernel says about the threads of a program.
type threads struct {
	count    int
	running  int   // threads that run or want to
	switches int64 // how often a thread has gone to sleep or was interrupted
}

// look reads the state of the threads of processes. ok is false where the system does not say.
func look(pids []int) (t threads, ok bool) {
	for _, pid := range pids {
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*")
		for _, task := range tasks {
			status, err := os.ReadFile(task + "/status")
			if err != nil {
				continue // the thread has ended
			}
			t.count++
			for line := range strings.Lines(string(status)) {
				name, value, _ := strings.Cut(line, ":")
				value = strings.TrimSpace(value)
				switch name {
				case "State":
					if strings.HasPrefix(value, "R") {
						t.running++
					}
				case "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches":
					n, _ := strconv.ParseInt(value, 10, 64) // the kernel writes numbers
					t.switches += n
				}
			}
		}
	}
	return t, t.count > 0
}

// usesNetpoll reports whether so many sockets of the program are registered with an epoll as Go's runtime
// does it: edge triggered, and for everything at once. Goroutines then wait for sockets, and no loop does.
func (p *program) usesNetpoll(sockets int) bool {
	for _, pid := range marked(p.mark) {
		infos, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fdinfo/*")
		for _, info := range infos {
			text, err := os.ReadFile(info)
			if err == nil && strings.Count(string(text), "events: 8000201") >= sockets {
				return true
			}
		}
	}
	return false
}
