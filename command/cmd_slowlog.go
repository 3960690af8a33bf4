package command

import (
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

func slowlogRows() []Row {
	return []Row{
		{"slowlog", "",
			-2, 0, nil, "server", "2.2.12",
			"See the subcommands.",
			"Manages the log of slow commands.", nil},
		{"slowlog|get", "[count]",
			-2, Admin | Loading | Stale | RequestAllNodes | NondeterministicOutput, nil, "server", "2.2.12",
			"O(N) to return N entries",
			"Returns the newest entries of the slow log.", slowlogGet},
		{"slowlog|len", "",
			2, Admin | Loading | Stale | RequestAllNodes | ResponseSum | NondeterministicOutput, nil, "server",
			"2.2.12",
			"O(1)",
			"Counts the entries of the slow log.", slowlogLen},
		{"slowlog|reset", "",
			2, Admin | Loading | Stale | RequestAllNodes | ResponseAllSucceeded, nil, "server", "2.2.12",
			"O(N) for N entries in the log",
			"Deletes all entries of the slow log.", slowlogReset},
		{"slowlog|help", "",
			2, Loading | Stale, nil, "server", "6.2.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// SLOWLOG GET [count] (slowlog.c: slowlogCommand)
func slowlogGet(c *Call) error {
	count := 10
	entries := c.Ex.slowlog.entries
	switch {
	case len(c.Args) > 3:
		return c.SubcommandSyntax()
	case len(c.Args) == 3:
		n, ok := ascii.ParseInt(c.Args[2])
		if !ok || n < -1 {
			return store.Error("ERR count should be greater than or equal to -1")
		}
		count = len(entries)
		if n >= 0 {
			count = int(min(n, int64(count)))
		}
	}
	count = min(count, len(entries))
	c.Array(count)
	for i := range count {
		e := &entries[len(entries)-1-i]
		c.Array(6)
		c.Int(e.id)
		c.Int(e.unix)
		c.Int(e.micros)
		c.Array(len(e.args))
		for _, a := range e.args {
			c.BulkString(a)
		}
		c.BulkString(e.addr)
		c.BulkString(e.name)
	}
	return nil
}

// SLOWLOG LEN (slowlog.c: slowlogCommand)
func slowlogLen(c *Call) error {
	c.Int(int64(len(c.Ex.slowlog.entries)))
	return nil
}

// SLOWLOG RESET (slowlog.c: slowlogCommand)
func slowlogReset(c *Call) error {
	c.Ex.slowlog.entries, c.Ex.slowlog.bytes = nil, 0
	c.OK()
	return nil
}
