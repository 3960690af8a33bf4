package command

import (
	"fmt"

	"github.com/miniredisd/miniredisd/store"
)

func slowlogRows() []Row {
	return []Row{
		{"slowlog", "",
			-2, 0, nil, "server", "2.2.12",
			"As its subcommands have it",
			"Looks after the log of slow commands.", nil},
		{"slowlog|get", "[count]",
			-2, Admin | Loading | Stale | RequestAllNodes | NondeterministicOutput, nil, "server", "2.2.12",
			"O(N) in the entries returned",
			"Lists the latest slow commands.", slowlogGet},
		{"slowlog|len", "",
			2, Admin | Loading | Stale | RequestAllNodes | ResponseSum | NondeterministicOutput, nil, "server",
			"2.2.12",
			"O(1)",
			"Counts the entries.", slowlogLen},
		{"slowlog|reset", "",
			2, Admin | Loading | Stale | RequestAllNodes | ResponseAllSucceeded, nil, "server", "2.2.12",
			"O(N) in the entries kept",
			"Forgets all entries.", slowlogReset},
		{"slowlog|help", "",
			2, Loading | Stale, nil, "server", "6.2.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// Slowlog remembers the latest commands that took long (slowlog.c). The newest
// entry is the last.
type Slowlog struct {
	entries []slowEntry
	nextID  int64
	bytes   int // of the entries
}

type slowEntry struct {
	id, unix, micros int64
	args             []string
	addr, name       string
}

// What an entry keeps of a command is bounded (slowlog.h: SLOWLOG_ENTRY_MAX_ARGC, _STRING).
const (
	slowlogArgs  = 32
	slowlogBytes = 128
)

func (l *Slowlog) add(e slowEntry, maxLen int) {
	e.id = l.nextID
	l.nextID++
	l.entries = append(l.entries, e)
	l.bytes += e.mem()
	l.trim(maxLen)
}

func (l *Slowlog) trim(maxLen int) {
	if over := len(l.entries) - maxLen; over > 0 {
		for i := range over {
			l.bytes -= l.entries[i].mem()
		}
		kept := copy(l.entries, l.entries[over:])
		clear(l.entries[kept:])
		l.entries = l.entries[:kept]
	}
}

func (e *slowEntry) mem() int {
	n := memEntry + len(e.addr) + len(e.name)
	for _, arg := range e.args {
		n += 16 + len(arg)
	}
	return n
}

func slowlogCopy(args [][]byte) []string {
	n := min(len(args), slowlogArgs)
	kept := make([]string, n)
	for i, a := range args[:n] {
		switch {
		case i == slowlogArgs-1 && len(args) > slowlogArgs:
			kept[i] = fmt.Sprintf("... (%d more arguments)", len(args)-slowlogArgs+1)
		case len(a) > slowlogBytes:
			kept[i] = fmt.Sprintf("%s... (%d more bytes)", a[:slowlogBytes], len(a)-slowlogBytes)
		default:
			kept[i] = string(a)
		}
	}
	return kept
}

// SLOWLOG GET [count] (slowlog.c: slowlogCommand)
func slowlogGet(c *Call) error {
	count := 10
	entries := c.Ex.slowlog.entries
	switch {
	case len(c.Args) > 3:
		return c.SubcommandSyntax()
	case len(c.Args) == 3:
		n, ok := store.ParseInt(c.Args[2])
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
