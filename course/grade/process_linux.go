package grade

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

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

// effort is what a thread has done since it began.
type effort struct {
	read int64 // bytes that read(2) returned; recv(2) is not counted
	cpu  int64 // ns
}

// efforts returns what each thread of the processes has done, by its id. ok is false where the system does not
// say. The figures of a thread that runs may be some ms old.
func efforts(pids []int) (all map[int]effort, ok bool) {
	all = map[int]effort{}
	for _, pid := range pids {
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*")
		for _, task := range tasks {
			tid, err := strconv.Atoi(filepath.Base(task))
			schedstat, gone := os.ReadFile(task + "/schedstat")
			if err != nil || gone != nil {
				continue // the thread has ended
			}
			var e effort
			first, _, _ := strings.Cut(string(schedstat), " ")
			e.cpu, _ = strconv.ParseInt(first, 10, 64) // the kernel writes numbers
			io, _ := os.ReadFile(task + "/io")         // some kernels have no such file
			for line := range strings.Lines(string(io)) {
				if n, found := strings.CutPrefix(line, "rchar: "); found {
					e.read, _ = strconv.ParseInt(strings.TrimSpace(n), 10, 64)
				}
			}
			all[tid] = e
		}
	}
	return all, len(all) > 0
}

// usesNetpoll reports whether that many sockets of the program are registered with an epoll as Go's runtime
// does it: edge triggered, and for everything at once. Goroutines then wait for sockets, and no loop does.
func (p *program) usesNetpoll(sockets int) bool {
	for _, pid := range p.processes() {
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
