package command

// testHost is the Host of tests. A call that its test does not expect panics: Host is nil.
type testHost struct {
	Host
	deliver func(to *Session, message []byte)
	block   func() (stop bool)
}

func (h *testHost) Deliver(to *Session, message []byte)     { h.deliver(to, message) }
func (h *testHost) Describe(*Session) string                { return "" }
func (h *testHost) Flushed()                                {}
func (h *testHost) Log(level byte, format string, _ ...any) {}
func (h *testHost) Waits(*Session)                          {}
func (h *testHost) ProcessEventsWhileBlocked() (stop bool)  { return h.block() }
