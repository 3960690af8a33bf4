package grade

import "syscall"

// kill ends a process group, unless 0. Without /proc, a process that left the group is not found.
func kill(group int, mark string) {
	if group > 0 {
		_ = syscall.Kill(-group, syscall.SIGKILL) // it may have ended
	}
}

// threads is what the kernel says about the threads of a program.
type threads struct {
	count, running int
	switches       int64
}

// marked finds no process here: there is no /proc.
func marked(string) []int { return nil }

// look knows nothing here.
func look([]int) (t threads, ok bool) { return threads{}, false }

// usesNetpoll knows nothing here.
func (p *program) usesNetpoll(sockets int) bool { return false }
