package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
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

// MEMORY USAGE key [SAMPLES count] (object.c: memoryCommand)
// memoryUsage takes SAMPLES and needs none: the sizes of collections are kept up
// to date as they change.
func memoryUsage(c *Call) error {
	switch {
	case len(c.Args) == 3:
	case len(c.Args) == 5 && is(c.Args[3], "samples"):
		n, err := parseInt(c.Args[4])
		if err != nil {
			return err
		}
		if n < 0 {
			return errSyntax
		}
	default:
		return errSyntax
	}
	n, ok := c.DB.MemUsage(c.Args[2])
	if !ok {
		c.Null()
		return nil
	}
	c.Int(int64(n))
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
		c.Verbatim("txt", "There is nothing to examine: no database holds a key.\n")
	case limit > 0 && int64(used) > limit/10*9:
		c.Verbatim("txt", fmt.Sprintf("The data has %d bytes, which is more than nine tenths of maxmemory (%d): keys will be evicted, or writes refused, according to maxmemory-policy.\n", used, limit))
	default:
		c.Verbatim("txt", fmt.Sprintf("Nothing is wrong: %d keys hold %d bytes, %d on average.\n", keys, used, used/keys))
	}
	return nil
}

// MEMORY MALLOC-STATS (object.c: memoryCommand)
func memoryMallocStats(c *Call) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.Verbatim("txt", fmt.Sprintf("heap: %d bytes in %d objects\nidle: %d bytes, of which the system has %d back\nfrom the system: %d bytes\ncollections: %d, stopped for %d us in all\n",
		m.HeapAlloc, m.HeapObjects, m.HeapIdle, m.HeapReleased, m.Sys, m.NumGC, m.PauseTotalNs/1000))
	return nil
}

// MEMORY PURGE (object.c: memoryCommand)
func memoryPurge(c *Call) error {
	debug.FreeOSMemory()
	c.OK()
	return nil
}
