package grade

// threads is what the kernel says about the threads of a program.
type threads struct {
	count, running int
	switches       int64
}

// marked finds no process here: there is no /proc. So a process that has left the group is not ended.
func marked(string) []int { return nil }

// look knows nothing here.
func look([]int) (t threads, ok bool) { return threads{}, false }

// usesNetpoll knows nothing here.
func (p *program) usesNetpoll(sockets int) bool { return false }
