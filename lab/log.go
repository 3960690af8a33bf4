package lab

import (
	"slices"
	"unsafe"
)

// Outcome is what came of a request or a message.
type Outcome string

// The outcomes. Those but NotExecuted, Held, Delayed and the pushes' have run.
const (
	Executed    Outcome = "executed"
	Failed      Outcome = "error" // executed, and answered by an error of its own
	NotExecuted Outcome = "not executed"
	ReplyLost   Outcome = "reply lost"
	ReplyLate   Outcome = "reply late"
	ReplyCut    Outcome = "reply cut"
	Held        Outcome = "held"    // another entry follows when it goes on
	Delayed     Outcome = "delayed" // the same
	PushSkipped Outcome = "push skipped"
	PushLate    Outcome = "push late"
)

// Entry is one line of the log. Reply is what the server has answered, or would have.
type Entry struct {
	Seq     int64    `json:"seq"`
	Time    int64    `json:"time"`   // unix ms of the lab's clock
	Mono    int64    `json:"mono"`   // real us by CLOCK_MONOTONIC, one clock for all masters of the machine; in exports alone: it is never the same twice
	Client  int64    `json:"client"` // 0 for what no client has done
	Name    string   `json:"name"`   // of the client
	Event   string   `json:"event"`  // the rule that fired, or an event of the log's own
	Cmd     []string `json:"cmd"`    // the words, shortened
	Key     string   `json:"key"`    // the first that is watched, else the first
	DB      int      `json:"db,omitempty"`
	By      string   `json:"by"` // "exec" or the script's SHA1, for what they call
	Outcome Outcome  `json:"outcome"`
	Reply   string   `json:"reply"`
	From    int64    `json:"from,omitempty"` // of EventClock
	To      int64    `json:"to,omitempty"`

	Together bool `json:"together,omitempty"` // of EventClock: asked of all masters by one LAB ALL
}

// keepEntries bounds the log: that is what a server that runs for days has room for, and
// more than any test looks at.
const keepEntries = 1 << 16

// Log numbers what happened. It holds the newest entries; of those before, only the
// numbers are left.
type Log struct {
	entries []Entry
	next    int64 // number of the newest entry
	globs   []string
	match   func(pattern string, s []byte) bool
	bytes   int // of the entries and the globs
}

// NewLog makes an empty log. match is how a glob is matched.
func NewLog(match func(pattern string, s []byte) bool) *Log { return &Log{match: match} }

// Add numbers e and keeps it.
func (l *Log) Add(e Entry) {
	l.next++
	e.Seq = l.next
	if len(l.entries) >= 2*keepEntries {
		for i := range keepEntries {
			l.bytes -= l.entries[i].mem()
		}
		l.entries = append(l.entries[:0], l.entries[keepEntries:]...)
	}
	l.entries = append(l.entries, e)
	l.bytes += e.mem()
}

// entryMem is the bytes of an entry without its texts.
const entryMem = int(unsafe.Sizeof(Entry{}))

func (e *Entry) mem() int {
	n := entryMem + len(e.Name) + len(e.Event) + len(e.Key) + len(e.By) + len(e.Reply)
	for _, word := range e.Cmd {
		n += 16 + len(word)
	}
	return n
}

// Mem is about the bytes that the log takes.
func (l *Log) Mem() int { return l.bytes }

// Newest returns the newest n entries, the oldest of them first.
func (l *Log) Newest(n int) []Entry {
	return l.entries[len(l.entries)-min(n, len(l.entries), keepEntries):]
}

// All returns every entry that is kept, the oldest first.
func (l *Log) All() []Entry { return l.Newest(keepEntries) }

// Reset forgets the entries, and the next one gets the number 1. Which keys are watched
// stays.
func (l *Log) Reset() {
	l.entries, l.next = nil, 0
	l.bytes = 0
	for _, glob := range l.globs {
		l.bytes += len(glob)
	}
}

// Watch has commands logged whose keys match glob.
func (l *Log) Watch(glob string) {
	if !slices.Contains(l.globs, glob) {
		l.globs = append(l.globs, glob)
		l.bytes += len(glob)
	}
}

// Unwatch undoes Watch, and returns false where there is nothing to undo.
func (l *Log) Unwatch(glob string) bool {
	i := slices.Index(l.globs, glob)
	if i < 0 {
		return false
	}
	l.globs = slices.Delete(l.globs, i, i+1)
	l.bytes -= len(glob)
	return true
}

// UnwatchAll undoes every Watch.
func (l *Log) UnwatchAll() {
	for _, glob := range l.globs {
		l.bytes -= len(glob)
	}
	l.globs = nil
}

// Globs are the watched globs, in the order in which they came.
func (l *Log) Globs() []string { return l.globs }

// Watched returns the first of keys that is watched, nil when none is.
func (l *Log) Watched(keys [][]byte) []byte {
	for _, key := range keys {
		if l.watches(key) {
			return key
		}
	}
	return nil
}

// watches tells whether key is watched.
func (l *Log) watches(key []byte) bool {
	return slices.ContainsFunc(l.globs, func(glob string) bool { return l.match(glob, key) })
}
