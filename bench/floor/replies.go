//go:build linux

package main

import "bytes"

// replies are the fixed bytes, as often as one chunk of input can ask for them. They stay in place:
// an io_uring reads them after the call that names them.
type replies struct {
	one  int // bytes of a single reply
	all  []byte
	pong []byte
}

// shortest is the length of *1\r\n$4\r\nPING\r\n.
const shortest = 14

// largeReply is the length above which replies need a larger buffer in the kernel, and are not asked for in
// long pipelines.
const largeReply = 4 << 10

func newReplies(one string) replies {
	times := inputSize/shortest + 1
	if len(one) > largeReply {
		times = 16
	}
	return replies{one: len(one), all: bytes.Repeat([]byte(one), times), pong: []byte("+PONG\r\n")}
}

// to returns the replies to a chunk of input, and at least one byte. A chunk without a * is the
// inline PING by which the bench waits for a server.
func (r replies) to(chunk []byte) []byte {
	requests := bytes.Count(chunk, []byte{'*'})
	if requests == 0 {
		return r.pong
	}
	return r.all[:min(requests*r.one, len(r.all))]
}
