// Package freeport chooses a TCP port for a program that is about to start. Any goroutine may call it.
//
// Listening on port 0 and closing again leaves a gap. The system may give that port to somebody else who asks for any
// port, before the program listens. Nobody is given a port below the system's range.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// The system gives out ports from 32768 (Linux) or 49152 (macOS) on.
const (
	from  = 20000
	until = 32768
	tries = 100
)

// Choose returns a port of the loopback address on which nobody listens. It is random, not from a seed: two programs
// with the same seed may ask at the same time.
func Choose() (string, error) {
	var err error
	for range tries {
		port := strconv.Itoa(from + rand.IntN(until-from))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			return port, l.Close()
		}
	}
	return "", errors.Join(errors.New("found no free port"), err)
}
