package command

import "fmt"

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

// What an entry keeps of a command is bounded (slowlog.h: SLOWLOG_ENTRY_MAX_ARGC, _STRING).
const (
	slowlogArgs  = 32
	slowlogBytes = 128
)
