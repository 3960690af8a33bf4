package acl

import "slices"

// Entry is one refusal, or several that are alike.
type Entry struct {
	ID       int64
	Count    int64
	Reason   Denial
	Context  string // toplevel, multi or lua
	Object   string // the command, key or channel; for Auth, the command with the password
	User     string
	Client   string // the latest client, as CLIENT LIST describes it
	Created  int64  // unix ms
	LastSeen int64  // unix ms
}

// Log is the latest refusals, the newest first.
type Log struct {
	Entries []*Entry
	next    int64 // ID
	bytes   int
}

// entryMem is the memory of an entry without its texts, in bytes.
const entryMem = 192

func (e *Entry) mem() int {
	return entryMem + len(e.Context) + len(e.Object) + len(e.User) + len(e.Client)
}

// Mem estimates the memory of the entries in bytes.
func (l *Log) Mem() int { return l.bytes }

// Reset removes all entries.
func (l *Log) Reset() { l.Entries, l.bytes = nil, 0 }

// A refusal that repeats within a minute is counted, if it is among the ten newest.
const (
	sameWithin = 60_000
	lookBack   = 10
)

// Add records a refusal and keeps at most limit entries (acl.c: addACLLogEntry).
func (l *Log) Add(e Entry, limit int) {
	if limit == 0 {
		l.Reset()
		return
	}
	for i, old := range l.Entries[:min(len(l.Entries), lookBack)] {
		if old.Reason == e.Reason && old.Context == e.Context && old.Object == e.Object && old.User == e.User &&
			e.LastSeen-old.LastSeen <= sameWithin {
			old.Count++
			l.bytes += len(e.Client) - len(old.Client)
			old.Client, old.LastSeen = e.Client, e.LastSeen
			copy(l.Entries[1:i+1], l.Entries[:i])
			l.Entries[0] = old
			return
		}
	}
	e.ID, e.Count, e.Created = l.next, 1, e.LastSeen
	l.next++
	l.Entries = slices.Insert(l.Entries, 0, &e)
	l.bytes += e.mem()
	for len(l.Entries) > limit {
		last := len(l.Entries) - 1
		l.bytes -= l.Entries[last].mem()
		l.Entries = slices.Delete(l.Entries, last, last+1)
	}
}
