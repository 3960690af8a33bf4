package command

import (
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// serverRows are the commands of group server that need only the keyspace and the executor, and
// containers whose subcommands are in several files.
func serverRows() []Row {
	return []Row{
		{"config", "",
			-2, 0, nil, "server", "2.0.0",
			"See the subcommands.",
			"Reads and changes the configuration.", nil},
		{"config|help", "",
			2, Loading | Stale, nil, "server", "5.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
		{"dbsize", "",
			1, ReadOnly | Fast | InKeyspace | RequestAllShards | ResponseSum, nil, "server", "1.0.0",
			"O(1)",
			"Counts the keys of the selected database.", dbSize},
		{"flushdb", "[flush-type: ASYNC@4.0.0 | SYNC@6.2.0]",
			-1, AllKeys | Write | InKeyspace | Dangerous | RequestAllShards | ResponseAllSucceeded, nil, "server", "1.0.0",
			"O(N) for N keys in the database",
			"Deletes all keys of the selected database.", flushDB},
		{"flushall", "[flush-type: ASYNC@4.0.0 | SYNC@6.2.0]",
			-1, AllKeys | Write | InKeyspace | Dangerous | RequestAllShards | ResponseAllSucceeded, nil, "server", "1.0.0",
			"O(N) for N keys in all databases",
			"Deletes all keys of all databases.", flushAll},
		{"swapdb", "index1:integer index2:integer",
			3, AllKeys | Write | Fast | Dangerous | InKeyspace, nil, "server", "4.0.0",
			"O(N) for N clients that watch keys, or are blocked on keys, of the two databases",
			"Exchanges the contents of two databases.", swapDB},
		{"time", "",
			1, Loading | Stale | Fast | NondeterministicOutput, nil, "server", "2.6.0",
			"O(1)",
			"Returns the server's Unix time in seconds and microseconds.", timeNow},
		{"lolwut", "[VERSION version:integer]",
			-1, ReadOnly | Fast, nil, "server", "5.0.0",
			"O(1)",
			"Draws a picture and returns the version.", lolwut},
		{"module", "",
			-2, 0, nil, "server", "4.0.0",
			"See the subcommands.",
			"Reports modules. This server has none.", nil},
		{"module|list", "",
			2, Admin | NoScript | NondeterministicOrder, nil, "server", "4.0.0",
			"O(1)",
			"Lists the loaded modules: none.", moduleList},
		{"module|load", "path [arg ...]",
			-3, Admin | NoScript | NoAsyncLoading | ProtectedModule, nil, "server", "4.0.0",
			"O(1)",
			"Always fails: this server cannot load modules.", moduleLoad},
		{"module|loadex", "path [configs: CONFIG+ name value] ... [ARGS args ...]",
			-3, Admin | NoScript | NoAsyncLoading | ProtectedModule, nil, "server", "7.0.0",
			"O(1)",
			"Always fails: this server cannot load modules.", moduleLoad},
		{"module|unload", "name",
			3, Admin | NoScript | NoAsyncLoading | ProtectedModule, nil, "server", "4.0.0",
			"O(1)",
			"Always fails: this server has no modules.", moduleUnload},
		{"module|help", "",
			2, Loading | Stale, nil, "server", "5.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// DBSIZE (db.c: dbsizeCommand)
func dbSize(c *Call) error {
	c.Int(int64(c.DB.Len()))
	return nil
}

// flushMode parses the option of FLUSHDB and FLUSHALL. Both modes do the same: the garbage
// collector frees the keys in the background.
func flushMode(c *Call) (async bool, err error) {
	switch {
	case len(c.Args) == 1:
		return c.Ex.Cfg.LazyUserFlush, nil
	case len(c.Args) == 2 && is(c.Args[1], "sync"):
		return false, nil
	case len(c.Args) == 2 && is(c.Args[1], "async"):
		return true, nil
	}
	return false, errSyntax
}

// flushed counts the deleted keys. The command propagates even if there were none, as in Redis.
func (c *Call) flushed(n int, async bool) {
	c.Count(n)
	c.Propagate(c.Args...)
	if async {
		c.KS.Stats.LazyFreed += int64(n)
	}
}

// FLUSHDB [ASYNC | SYNC] (db.c: flushdbCommand)
func flushDB(c *Call) error {
	async, err := flushMode(c)
	if err != nil {
		return err
	}
	c.Ex.watchers.replaced(c.DB, nil)
	c.Ex.Tracking.invalidateAll()
	c.flushed(c.DB.Flush(), async)
	c.Ex.Waiters.replaced(c.DB)
	c.OK()
	return nil
}

// FLUSHALL [ASYNC | SYNC] (db.c: flushallCommand)
func flushAll(c *Call) error {
	async, err := flushMode(c)
	if err != nil {
		return err
	}
	c.flushed(c.Ex.flushAll(), async)
	c.Ex.Host.Flushed()
	c.OK()
	return nil
}

// SWAPDB index1 index2 (db.c: swapdbCommand)
func swapDB(c *Call) error {
	if c.Ex.Cluster != nil {
		return errSwapCluster
	}
	var ids [2]int
	for i, which := range [...]string{"first", "second"} {
		n, ok := ascii.ParseInt(c.Args[1+i])
		if !ok || n != int64(int32(n)) {
			return errorf("ERR invalid %s DB index", which)
		}
		ids[i] = int(n)
	}
	for _, n := range ids {
		if n < 0 || n >= len(c.KS.DBs) {
			return store.Error("ERR DB index is out of range")
		}
	}
	if ids[0] != ids[1] {
		a, b := c.KS.DBs[ids[0]], c.KS.DBs[ids[1]]
		c.Ex.watchers.replaced(a, b)
		c.Ex.watchers.replaced(b, a)
		c.KS.Swap(a.ID, b.ID)
		c.Ex.Waiters.replaced(c.KS.DBs[ids[0]])
		c.Ex.Waiters.replaced(c.KS.DBs[ids[1]])
	}
	c.Count(1)
	c.OK()
	return nil
}

// TIME (server.c: timeCommand)
func timeNow(c *Call) error {
	us := c.Ex.Now.Wall / 1e3
	c.Array(2)
	c.BulkInt(us / 1e6)
	c.BulkInt(us % 1e6)
	return nil
}

// LOLWUT [VERSION version] (lolwut.c: lolwutCommand)
// The picture is the Sierpinski triangle: the odd numbers of Pascal's triangle.
func lolwut(c *Call) error {
	if len(c.Args) > 2 && is(c.Args[1], "version") {
		if _, err := parseInt(c.Args[2]); err != nil {
			return err
		}
	}
	const rows = 16
	var art strings.Builder
	for y := range rows {
		art.WriteString(strings.Repeat(" ", rows-1-y))
		for x := range y + 1 {
			if x&^y == 0 { // Lucas: the number at row y, column x is odd
				art.WriteString("* ")
			} else {
				art.WriteString("  ")
			}
		}
		art.WriteByte('\n')
	}
	fmt.Fprintf(&art, "\nWaclaw Sierpinski, 1915, in Pascal's numbers modulo two. %s ver. %s\n",
		c.Ex.Table.Dialect.Family, c.Ex.Table.Dialect.Version)
	c.Verbatim("txt", art.String())
	return nil
}

// MODULE LIST (module.c: moduleCommand)
func moduleList(c *Call) error {
	c.Array(0)
	return nil
}

// MODULE LOAD path [arg ...] (module.c: moduleCommand)
// MODULE LOADEX path [CONFIG name value ...] [ARGS arg ...] (module.c: moduleCommand)
func moduleLoad(c *Call) error {
	c.Ex.Host.Log('#', "Module %s failed to load: this server cannot load modules", c.Args[2])
	return store.Error("ERR Error loading the extension. Please check the server logs.")
}

// MODULE UNLOAD name (module.c: moduleCommand)
func moduleUnload(*Call) error {
	return store.Error("ERR Error unloading module: no such module with that name")
}
