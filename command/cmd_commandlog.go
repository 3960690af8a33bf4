package command

import (
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

func commandlogRows() []Row {
	const kinds = "(type: SLOW | LARGE-REQUEST | LARGE-REPLY)"
	return []Row{
		{"commandlog", "",
			-2, 0, nil, "server", ",8.1.0",
			"See the subcommands.",
			"Manages the logs of slow commands, large requests and large replies.", nil},
		{"commandlog|get", "count " + kinds,
			4, Admin | Loading | Stale | RequestAllNodes | NondeterministicOutput, nil, "server", ",8.1.0",
			"O(N) to return N entries",
			"Returns the newest entries of one log.", commandlogGet},
		{"commandlog|len", kinds,
			3, Admin | Loading | Stale | RequestAllNodes | ResponseSum | NondeterministicOutput, nil, "server",
			",8.1.0",
			"O(1)",
			"Counts the entries of one log.", commandlogLen},
		{"commandlog|reset", kinds,
			3, Admin | Loading | Stale | RequestAllNodes | ResponseAllSucceeded, nil, "server", ",8.1.0",
			"O(N) for N entries in the log",
			"Deletes all entries of one log.", commandlogReset},
		{"commandlog|help", "",
			2, Loading | Stale, nil, "server", ",8.1.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

const errLogType store.Error = "ERR type should be one of the following: slow, large-request, large-reply"

// logNamed returns the log of a type.
func (c *Call) logNamed(kind []byte) (*Slowlog, error) {
	switch {
	case is(kind, "slow"):
		return &c.Ex.logs.slow, nil
	case is(kind, "large-request"):
		return &c.Ex.logs.requests, nil
	case is(kind, "large-reply"):
		return &c.Ex.logs.replies, nil
	}
	return nil, errLogType
}

// COMMANDLOG GET count SLOW | LARGE-REQUEST | LARGE-REPLY (Valkey 9.1)
func commandlogGet(c *Call) error {
	count, err := entryCount(c.Args[2])
	if err != nil {
		return err
	}
	log, err := c.logNamed(c.Args[3])
	if err == nil {
		c.entries(log, count)
	}
	return err
}

// COMMANDLOG LEN SLOW | LARGE-REQUEST | LARGE-REPLY (Valkey 9.1)
func commandlogLen(c *Call) error {
	log, err := c.logNamed(c.Args[2])
	if err == nil {
		c.Int(int64(len(log.entries)))
	}
	return err
}

// COMMANDLOG RESET SLOW | LARGE-REQUEST | LARGE-REPLY (Valkey 9.1)
func commandlogReset(c *Call) error {
	log, err := c.logNamed(c.Args[2])
	if err == nil {
		log.reset()
		c.OK()
	}
	return err
}

// entryCount reads how many entries a client wants. -1 stands for all.
func entryCount(arg []byte) (int64, error) {
	n, ok := ascii.ParseInt(arg)
	if !ok || n < -1 {
		return 0, store.Error("ERR count should be greater than or equal to -1")
	}
	return n, nil
}

// entries replies with the newest entries of a log.
func (c *Call) entries(log *Slowlog, most int64) {
	count := len(log.entries)
	if most >= 0 {
		count = int(min(most, int64(count)))
	}
	c.Array(count)
	for i := range count {
		e := &log.entries[len(log.entries)-1-i]
		c.Array(6)
		c.Int(e.id)
		c.Int(e.unix)
		c.Int(e.value)
		c.Array(len(e.args))
		for _, a := range e.args {
			c.BulkString(a)
		}
		c.BulkString(e.addr)
		c.BulkString(e.name)
	}
}
