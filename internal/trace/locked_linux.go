package trace

import "syscall"

// Locked gives the row the kernel's id of the calling thread. The calling goroutine must be locked to its
// thread.
func (t *Thread) Locked() {
	if t != nil {
		t.id = syscall.Gettid()
	}
}
