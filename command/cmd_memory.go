package command

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/miniredisd/miniredisd/store"
)

func memoryRows() []Row {
	return []Row{
		{"memory", "",
			-2, 0, nil, "server", "4.0.0",
			"See the subcommands.",
			"Reports how memory is used.", nil},
		{"memory|usage", "key [SAMPLES count]",
			-3, ReadOnly, keys(at(2, RO)), "server", "4.0.0",
			"O(N) for N sampled elements",
			"Estimates the bytes that a key and its value use.", memoryUsage},
		{"memory|doctor", "",
			2, NondeterministicOutput | RequestAllShards | ResponseSpecial, nil, "server", "4.0.0",
			"O(1)",
			"Explains the use of memory in sentences.", memoryDoctor},
		{"memory|malloc-stats", "",
			2, NondeterministicOutput | RequestAllShards | ResponseSpecial, nil, "server", "4.0.0",
			"O(N) for N allocated bytes",
			"Returns the figures of Go's allocator.", memoryMallocStats},
		{"memory|purge", "",
			2, RequestAllShards | ResponseAllSucceeded, nil, "server", "4.0.0",
			"O(N) for N allocated bytes",
			"Returns free memory to the operating system.", memoryPurge},
		{"memory|help", "",
			2, Loading | Stale, nil, "server", "4.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// samplesDefault is how many elements of a collection MEMORY USAGE looks at (object.c:
// OBJ_COMPUTE_SIZE_DEF_SAMPLES).
const samplesDefault = 5

// MEMORY USAGE key [SAMPLES count] (object.c: memoryCommand)
// The reply is what Redis would reply. used_memory and maxmemory count what a key takes here.
func memoryUsage(c *Call) error {
	samples := samplesDefault
	switch {
	case len(c.Args) == 3:
	case len(c.Args) == 5 && is(c.Args[3], "samples"):
		n, err := parseInt(c.Args[4])
		switch {
		case err != nil:
			return err
		case n < 0:
			return errSyntax
		case n == 0:
			n = math.MaxInt
		}
		samples = int(n)
	default:
		return errSyntax
	}
	key := c.DB.Lookup(c.Args[2], store.LookupNoEffects)
	if !key.Exists() {
		c.Null()
		return nil
	}
	c.Int(int64(key.RedisUsage(samples)))
	return nil
}

// MEMORY DOCTOR (object.c: memoryCommand)
func memoryDoctor(c *Call) error {
	used, keys := c.KS.Bytes(), 0
	for _, db := range c.KS.DBs {
		keys += db.Len()
	}
	switch limit := c.KS.MaxMemory; {
	case keys == 0:
		c.Verbatim("txt", "There is nothing to examine: all databases are empty.\n")
	case limit > 0 && int64(used) > limit/10*9:
		c.Verbatim("txt", fmt.Sprintf("The data uses %d bytes, more than 90 %% of maxmemory (%d). "+
			"At maxmemory keys are evicted or writes are refused, as maxmemory-policy says.\n", used, limit))
	default:
		c.Verbatim("txt", fmt.Sprintf("No problem found: %d keys use %d bytes, %d on average.\n", keys, used, used/keys))
	}
	return nil
}

// MEMORY MALLOC-STATS (object.c: memoryCommand)
func memoryMallocStats(c *Call) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.Verbatim("txt", fmt.Sprintf("heap: %d bytes in %d objects\n"+
		"idle: %d bytes, of which %d were returned to the system\n"+
		"from the system: %d bytes\n"+
		"garbage collections: %d, with pauses of %d us in total\n",
		m.HeapAlloc, m.HeapObjects, m.HeapIdle, m.HeapReleased, m.Sys, m.NumGC, m.PauseTotalNs/1000))
	return nil
}

// MEMORY PURGE (object.c: memoryCommand)
func memoryPurge(c *Call) error {
	debug.FreeOSMemory()
	c.OK()
	return nil
}
