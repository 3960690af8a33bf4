package trace

// Locked has no effect: macOS shows the id of a thread to C libraries only.
func (t *Thread) Locked() {}
