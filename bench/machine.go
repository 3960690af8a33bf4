package main

import "fmt"

// cores has the core of the servers and the core of the load.
type cores struct{ server, load int }

func (c cores) String() string {
	if c.server == c.load {
		return fmt.Sprintf("one core only: server and load share core %d, rates mean little", c.server)
	}
	return fmt.Sprintf("servers on core %d, load on core %d", c.server, c.load)
}

// anyCore is for servers that are not pinned.
const anyCore = -1
