package reactor

// counted is a multiplexer that knows how often the program has called the kernel for it. Only a loop that
// is shown has one: see CountCalls.
type counted struct {
	multiplexer
	waits, changes int64
}

// CountCalls lets Calls count from now on. Call it before Run.
func (l *Loop) CountCalls() {
	if _, already := l.api.(*counted); !already {
		l.api = &counted{multiplexer: l.api}
	}
}

// Calls returns the number of system calls for waiting, and for changing what the kernel watches.
func (l *Loop) Calls() int64 {
	if c, ok := l.api.(*counted); ok {
		return c.calls(c.waits, c.changes)
	}
	return 0
}

func (c *counted) wait(found []ready, ms int, hidden bool) ([]ready, error) {
	c.waits++
	return c.multiplexer.wait(found, ms, hidden)
}

func (c *counted) control(fd int, from, to Mask) error {
	if from != to {
		c.changes++
	}
	return c.multiplexer.control(fd, from, to)
}
