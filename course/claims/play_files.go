package claims

import (
	"bytes"
	"path"
	"strconv"

	"github.com/miniredisd/miniredisd/resp"
)

// The stories about the append only file. It is on a disk of the lab, which loses what was not fsynced.

// onDisk is a story on a server with an append only file.
func onDisk(name, policy string, play func(*story)) act {
	return act{name, []string{"--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", policy}, play}
}

// playPowerCut: A gets the lock, and the power fails at once. B tries after the restart.
func playPowerCut(s *story) {
	a := s.client("A")
	s.freeze()
	s.begin()
	a.lock("lock:a")
	s.lab("CRASH")
	s.client("B").lock("lock:a")
}

// playFlippedBit: A gets the lock, and its token loses a bit on the disk. A comes back after a restart and releases.
func playFlippedBit(s *story) {
	a := s.client("A")
	s.freeze()
	s.begin()
	a.lock("lock:a")
	file := append(resp.AppendRequest(nil, "SELECT", "0"),
		resp.AppendRequest(nil, "SET", "lock:a", "token-A", "PXAT", "ms")...)
	offset := bytes.Index(file, []byte("token-A")) + len("token-")
	s.lab("DISK", "ROT", path.Join("appendonlydir", "appendonly.aof.1.incr.aof"), strconv.Itoa(offset))
	s.lab("CRASH")
	again := s.client("A2")
	again.do("EVAL", unlock, "1", "lock:a", "token-A")
	s.client("B").lock("lock:a")
}

// playLastSeconds: A gets the lock just after an fsync has begun. The power fails just before one that would have the
// lock is over. An fsync takes slow ms.
func playLastSeconds(slow, lost int) func(*story) {
	return func(s *story) {
		a := s.client("A")
		s.freeze()
		s.lab("DISK", "SLOW", "FSYNC", strconv.Itoa(slow))
		s.begin()
		a.do("SET", "stock", "10")
		s.advance(1000) // the fsync for the stock begins
		a.lock("lock:a")
		s.advance(lost)
		s.lab("CRASH")
		s.client("B").lock("lock:a")
	}
}

// playLockBack: the disk has the lock of A. A releases it, and the power fails half a second later.
func playLockBack(s *story) {
	a := s.client("A")
	s.freeze()
	s.begin()
	a.lock("lock:a")
	s.advance(1000)
	a.do("EVAL", unlock, "1", "lock:a", "token-A")
	s.advance(500)
	s.lab("CRASH")
	b := s.client("B")
	b.lock("lock:a")
	b.do("PTTL", "lock:a")
}
