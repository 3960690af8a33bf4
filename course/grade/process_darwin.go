package grade

// threads is what the kernel says about the threads of a program.
type threads struct {
	count, running int
	switches       int64
}

// look knows nothing here.
func look([]int) (t threads, ok bool) { return threads{}, false }

// effort is what a thread has done since it began.
type effort struct{ read, cpu int64 }

// efforts knows nothing here.
func efforts([]int) (all map[int]effort, ok bool) { return nil, false }

// usesNetpoll knows nothing here.
func (p *program) usesNetpoll(sockets int) bool { return false }

// surroundings is what the kernel shows of the connections of a program that serves.
type surroundings struct {
	hidden    bool
	elsewhere string
}

// around knows nothing here.
func (v *service) around() surroundings { return surroundings{} }
