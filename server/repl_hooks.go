package server

import "math"

// linkHooks let somebody hold up the stream between a master and its replicas, and see what becomes of it. plainLink
// has those of a plain server.
type linkHooks struct {
	// On a master.
	Refuses   func(c *Client) error // why a replica gets nothing, and nothing of it is heard; nil if it does
	streamEnd func(c *Client) int64 // the last byte of the stream that a replica gets now
	passEnds  func()                // before the stream is handed over
	asked     func(c *Client)       // a replica asks for all keys
	heard     func()                // once a second, before the silence of replicas counts

	// On a replica.
	cuts     func(port int) bool // nothing comes from the master with this port
	begun    func(c *Client)     // the link has become a client
	up       func(full bool)     // the stream begins, after a full synchronization or a partial one
	down     func()
	promoted func()               // before this server becomes a master
	demoted  func(port int)       // before it becomes a replica
	waitsOn  func(c *Client) bool // a blocked client waits on when the role changes

	name     func(to string, port int) string // of the link, for CLIENT LIST
	realTime bool                             // the clock may leap, so regular work goes by real time

	// While the trace records details.
	Replicated func()                                // the pass has added to the stream
	Fed        func(c *Client, what int64, b []byte) // bytes for a replica
	Read, Told func(b []byte)                        // bytes from the master, and to it
}

func plainLink() linkHooks {
	return linkHooks{
		Refuses: func(*Client) error { return nil }, streamEnd: func(*Client) int64 { return math.MaxInt64 },
		passEnds: func() {}, asked: func(*Client) {}, heard: func() {},
		cuts: func(int) bool { return false }, begun: func(*Client) {}, up: func(bool) {}, down: func() {},
		promoted: func() {}, demoted: func(int) {}, waitsOn: func(*Client) bool { return false },
		name:       func(string, int) string { return "" },
		Replicated: func() {}, Fed: func(*Client, int64, []byte) {}, Read: func([]byte) {}, Told: func([]byte) {},
	}
}
