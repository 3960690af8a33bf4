package server

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// startupMemory is the assumed size in bytes of an empty server: table, buffers, runtime.
const startupMemory = 1 << 20

// clientMemory returns the bytes that all clients use now.
func (f *figures) clientMemory() int {
	for _, c := range f.s.clients.order {
		f.s.clients.weigh(c)
	}
	return f.s.clients.mem
}

// usedMemory returns the bytes that are compared with maxmemory: an estimate for keys, values and
// clients. Unlike used_memory_rss it excludes garbage that is not collected yet.
func (f *figures) usedMemory() int {
	f.clientMemory()
	return f.weighedMemory()
}

// weighedMemory does the same with the last known size of each client. Weighing ten thousand
// clients takes a millisecond or two, in which no client is served.
func (f *figures) weighedMemory() int {
	f.s.ex.KS.Overhead = f.overhead()
	return f.s.ks.Bytes() + f.s.ex.KS.Overhead
}

// overhead returns the bytes used for anything but keys and values.
func (f *figures) overhead() int {
	stream, behind := f.s.replicas.memory()
	return startupMemory + f.s.clients.mem + f.s.ex.Kept() + f.s.lab.mem() + stream - behind
}

// process is what INFO says about the process and its machine. It does not change.
type process struct {
	id                 int
	executable, system string
	memory             int // bytes of the machine
}

func newProcess() process {
	executable, _ := os.Executable()
	var name unix.Utsname
	_ = unix.Uname(&name) // fails only for a bad pointer
	text := unix.ByteSliceToString
	return process{
		id: os.Getpid(), executable: executable,
		system: text(name.Sysname[:]) + " " + text(name.Release[:]) + " " + text(name.Machine[:]),
		memory: machineMemory(),
	}
}

// resident is a sample of VmRSS. Redis takes one each tenth of a second (server.c:
// cronUpdateMemoryStats), because opening the file costs as much as the rest of INFO.
type resident struct {
	at    int64 // monotonic ns, 0 before the first
	bytes int
}

const residentInterval = int64(100 * time.Millisecond)

// residentMemory returns VmRSS in bytes, at most residentInterval old.
func (f *figures) residentMemory() int {
	if r := &f.resident; r.at == 0 || f.s.now-r.at >= residentInterval {
		*r = resident{f.s.now, readResident()}
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

// heapMemory asks the Go runtime for the bytes in objects (live or not collected yet) and the bytes
// from the system. It does not stop other goroutines.
func heapMemory() (objects, total int) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples)
	return int(samples[0].Value.Uint64()), int(samples[1].Value.Uint64())
}

func (r *report) infoMemory() {
	used := r.s.figures.usedMemory()
	r.s.figures.peakMem = max(r.s.figures.peakMem, used)
	resident := r.s.figures.residentMemory()
	objects, total := heapMemory()
	overhead := r.s.ex.KS.Overhead
	dataset := used - overhead

	r.memory("used_memory", used)
	r.memory("used_memory_rss", resident)
	r.memory("used_memory_peak", r.s.figures.peakMem)
	r.decimal("used_memory_peak_perc", percent(used, r.s.figures.peakMem), 2, "%")
	r.fields("used_memory_overhead", overhead, "used_memory_startup", startupMemory, "used_memory_dataset", dataset)
	r.decimal("used_memory_dataset_perc", percent(dataset, used-startupMemory), 2, "%")
	r.fields("allocator_allocated", objects, "allocator_active", total, "allocator_resident", resident)
	r.memory("total_system_memory", r.s.figures.process.memory)
	scripts, kept, interpreter := r.s.ex.Scripts.Memory()
	libraries, functions, functionBytes, forFunctions := r.s.ex.Scripts.FunctionMemory()
	r.fields("used_memory_lua", interpreter, "used_memory_vm_eval", interpreter)
	r.human("used_memory_lua", interpreter)
	r.fields("used_memory_scripts_eval", kept,
		"number_of_cached_scripts", scripts, "number_of_functions", functions, "number_of_libraries", libraries,
		"used_memory_vm_functions", forFunctions,
		"used_memory_vm_total", interpreter+forFunctions)
	r.human("used_memory_vm_total", interpreter+forFunctions)
	r.fields("used_memory_functions", functionBytes)
	r.memory("used_memory_scripts", kept+functionBytes)
	r.memory("maxmemory", int(r.s.cfg.MaxMemory))
	r.fields("maxmemory_policy", r.s.cfg.MaxMemoryPolicy)
	ratio := func(ratio, difference string, a, b int) {
		r.decimal(ratio, float64(a)/float64(max(b, 1)), 2, "")
		r.fields(difference, a-b)
	}
	ratio("allocator_frag_ratio", "allocator_frag_bytes", total, objects)
	ratio("allocator_rss_ratio", "allocator_rss_bytes", resident, total)
	ratio("rss_overhead_ratio", "rss_overhead_bytes", resident, resident)
	ratio("mem_fragmentation_ratio", "mem_fragmentation_bytes", resident, used)
	stream, behind := r.s.replicas.memory()
	r.fields("mem_not_counted_for_evict", behind, "mem_replication_backlog", stream-behind,
		"mem_total_replication_buffers", stream, "mem_clients_slaves", behind,
		"mem_clients_normal", r.s.figures.clientMemory(), "mem_cluster_links", 0, "mem_aof_buffer", 0, "mem_allocator", "go",
		"active_defrag_running", 0, "lazyfree_pending_objects", 0, "lazyfreed_objects", r.s.ks.Stats.LazyFreed)
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
