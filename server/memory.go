package server

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// StartupMemory is the assumed size in bytes of an empty server: table, buffers, runtime.
const StartupMemory = 1 << 20

// ClientMemory returns the bytes that all clients use now.
func (f *figures) ClientMemory() int {
	for _, c := range f.s.Clients.Order {
		f.s.Clients.Weigh(c)
	}
	return f.s.Clients.mem
}

// UsedMemory returns the bytes that are compared with maxmemory: an estimate for keys, values and
// clients. Unlike used_memory_rss it excludes garbage that is not collected yet.
func (f *figures) UsedMemory() int {
	f.ClientMemory()
	return f.weighedMemory()
}

// weighedMemory does the same with the last known size of each client. Weighing ten thousand
// clients takes a millisecond or two, in which no client is served.
func (f *figures) weighedMemory() int {
	f.s.Ex.KS.Overhead = f.overhead()
	return f.s.KS.Bytes() + f.s.Ex.KS.Overhead
}

// overhead returns the bytes used for anything but keys and values.
func (f *figures) overhead() int {
	used := StartupMemory + f.s.Clients.mem + f.s.Ex.Kept()
	for _, fn := range f.s.Parts.memory {
		used += fn()
	}
	return used
}

// process is what INFO says about the process and its machine. It does not change.
type process struct {
	ID                 int
	Executable, System string
	Memory             int // bytes of the machine
}

func newProcess() process {
	executable, _ := os.Executable()
	var name unix.Utsname
	_ = unix.Uname(&name) // fails only for a bad pointer
	text := unix.ByteSliceToString
	return process{
		ID: os.Getpid(), Executable: executable,
		System: text(name.Sysname[:]) + " " + text(name.Release[:]) + " " + text(name.Machine[:]),
		Memory: machineMemory(),
	}
}

// resident is a sample of VmRSS. Redis takes one each tenth of a second (server.c:
// cronUpdateMemoryStats), because opening the file costs as much as the rest of INFO.
type resident struct {
	at    int64 // monotonic ns, 0 before the first
	bytes int
}

const residentInterval = int64(100 * time.Millisecond)

// ResidentMemory returns VmRSS in bytes, at most residentInterval old.
func (f *figures) ResidentMemory() int {
	if r := &f.resident; r.at == 0 || f.s.Now-r.at >= residentInterval {
		*r = resident{f.s.Now, readResident()}
	}
	return f.resident.bytes
}

func readResident() int {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}

// HeapMemory asks the Go runtime for the bytes in objects (live or not collected yet) and the bytes
// from the system. It does not stop other goroutines.
func HeapMemory() (objects, total int) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples)
	return int(samples[0].Value.Uint64()), int(samples[1].Value.Uint64())
}
