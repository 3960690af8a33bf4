package miniredistest

import (
	"strconv"
	"time"
)

// Disk keeps the server's files on a disk in memory, and begins an append only file there with appendfsync everysec.
// Then a crash that loses what was not fsynced loses the last second:
//
//	srv := miniredistest.Run(t, miniredistest.Disk(), miniredistest.Frozen())
//	lock.Acquire("order:42", 30*time.Second)
//	srv.Crash(0, miniredistest.LoseUnsynced)
//	srv.AssertNone("order:42")
//
// Config("--appendfsync", "always") behind it loses nothing, and Config("--appendonly", "no") leaves SAVE and BGSAVE.
func Disk() Option { return Config("--lab-disk", "yes", "--appendonly", "yes") }

// DiskControl damages the disk of a server that was started with Disk.
type DiskControl struct{ s *Server }

// Disk returns what damages the server's disk.
func (s *Server) Disk() DiskControl { return DiskControl{s} }

// DiskOp is a kind of operation of a disk. Opening is also the making of a file, and fsync also that of a folder.
type DiskOp string

// The kinds.
const (
	DiskWrite  DiskOp = "WRITE"
	DiskFsync  DiskOp = "FSYNC"
	DiskRename DiskOp = "RENAME"
	DiskOpen   DiskOp = "OPEN"
)

// DiskError is how an operation fails.
type DiskError string

// The errors: the disk is full, or broken.
const (
	DiskFull   DiskError = "ENOSPC"
	DiskBroken DiskError = "EIO"
)

// Fail makes the nth operation of a kind from now on fail, counted from 1; 0 means each one until Heal.
func (d DiskControl) Fail(op DiskOp, nth int, why DiskError) {
	d.s.t.Helper()
	if nth > 0 {
		d.do("FAIL", string(op), "NTH", strconv.Itoa(nth), string(why))
		return
	}
	d.do("FAIL", string(op), string(why))
}

// Slow makes each write or fsync take longer by the server's clock.
func (d DiskControl) Slow(op DiskOp, by time.Duration) {
	d.s.t.Helper()
	d.do("SLOW", string(op), millis(by))
}

// Torn lets that many bytes of each file stay at the next crash, although they were not fsynced.
func (d DiskControl) Torn(bytes int) {
	d.s.t.Helper()
	d.do("TORN", strconv.Itoa(bytes))
}

// Reorder lets the seed choose at the next crash which writes stay, of those that were not fsynced.
func (d DiskControl) Reorder() {
	d.s.t.Helper()
	d.do("REORDER")
}

// Rot flips a bit of a file, such as "dump.rdb".
func (d DiskControl) Rot(file string, offset int) {
	d.s.t.Helper()
	d.do("ROT", file, strconv.Itoa(offset))
}

// Heal ends Fail, Slow, Torn and Reorder. What is lost stays lost.
func (d DiskControl) Heal() {
	d.s.t.Helper()
	d.do("HEAL")
}

// Unsynced returns how many bytes a crash would lose now.
func (d DiskControl) Unsynced() int {
	d.s.t.Helper()
	return int(field(d.s.lab("DISK", "STATUS"), "unsynced-bytes").Int)
}

func (d DiskControl) do(words ...string) {
	d.s.t.Helper()
	d.s.lab(append([]string{"DISK"}, words...)...)
}
