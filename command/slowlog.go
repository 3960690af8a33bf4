package command

import "fmt"

// Slowlog holds the latest slow commands (slowlog.c), or large ones: see logs. The newest entry is the last.
type Slowlog struct {
	entries []slowEntry
	nextID  int64
	bytes   int  // memory of the entries
	keeps   bool // with a length of 0 the log is off, and keeps what it has
}

type slowEntry struct {
	id, unix   int64
	value      int64 // microseconds, or bytes
	args       []string
	addr, name string
}

// Limits of what an entry keeps of a command (slowlog.h: SLOWLOG_ENTRY_MAX_ARGC, _STRING).
const (
	slowlogArgs  = 32
	slowlogBytes = 128
)

func (l *Slowlog) add(e slowEntry, maxLen int) {
	if l.keeps && maxLen == 0 {
		return
	}
	e.id = l.nextID
	l.nextID++
	l.entries = append(l.entries, e)
	l.bytes += e.mem()
	l.trim(maxLen)
}

func (l *Slowlog) reset() { l.entries, l.bytes = nil, 0 }

// configure follows the directives. A log that is off stays as it is (slowlog.c: slowlogPushEntryIfNeeded).
func (l *Slowlog) configure(threshold int64, maxLen int) {
	if threshold >= 0 && !(l.keeps && maxLen == 0) {
		l.trim(maxLen)
	}
}

// trim drops the oldest entries until there are at most maxLen.
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

// slowlogCopy copies arguments and shortens what exceeds the limits (slowlog.c: slowlogCreateEntry).
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
