package server

import "math"

// linkHooks let somebody hold up the stream between a master and its replicas, and see what becomes of it. plainLink
// has those of a plain server.
type linkHooks struct {
	// On a master.
	refuses   func(c *client) error // why a replica gets nothing, and nothing of it is heard; nil if it does
	streamEnd func(c *client) int64 // the last byte of the stream that a replica gets now
	passEnds  func()                // before the stream is handed over
	asked     func(c *client)       // a replica asks for all keys
	heard     func()                // once a second, before the silence of replicas counts

	// On a replica.
	cuts     func(port int) bool // nothing comes from the master with this port
	begun    func(c *client)     // the link has become a client
	up       func(full bool)     // the stream begins, after a full synchronization or a partial one
	down     func()
	promoted func()               // before this server becomes a master
	demoted  func(port int)       // before it becomes a replica
	waitsOn  func(c *client) bool // a blocked client waits on when the role changes

	name     func(to string, port int) string // of the link, for CLIENT LIST
	realTime bool                             // the clock may leap, so regular work goes by real time

	// While the trace records details.
	replicated func()                                // the pass has added to the stream
	fed        func(c *client, what int64, b []byte) // bytes for a replica
	read, told func(b []byte)                        // bytes from the master, and to it
}

func plainLink() linkHooks {
	return linkHooks{
		refuses: func(*client) error { return nil }, streamEnd: func(*client) int64 { return math.MaxInt64 },
		passEnds: func() {}, asked: func(*client) {}, heard: func() {},
		cuts: func(int) bool { return false }, begun: func(*client) {}, up: func(bool) {}, down: func() {},
		promoted: func() {}, demoted: func(int) {}, waitsOn: func(*client) bool { return false },
		name:       func(string, int) string { return "" },
		replicated: func() {}, fed: func(*client, int64, []byte) {}, read: func([]byte) {}, told: func([]byte) {},
	}
}
