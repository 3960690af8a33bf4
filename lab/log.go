package lab

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"
)

// Outcome is the result of a request or of a pushed message.
type Outcome string

// The outcomes. The server has executed a request unless it is NotExecuted, Held or Delayed.
const (
	Executed    Outcome = "executed"
	Failed      Outcome = "error" // executed, and the reply is its own error
	NotExecuted Outcome = "not executed"
	ReplyLost   Outcome = "reply lost"
	ReplyLate   Outcome = "reply late"
	ReplyCut    Outcome = "reply cut"
	Held        Outcome = "held"    // another entry follows when the client continues
	Delayed     Outcome = "delayed" // another entry follows when it is executed
	PushSkipped Outcome = "push skipped"
	PushLate    Outcome = "push late"
)

// Unknown reports whether the client does not know the result of a command that ran.
func (o Outcome) Unknown() bool { return o == ReplyLost || o == ReplyCut }

// Entry is one line of the log. Reply is the server's reply, even if the client never got it.
type Entry struct {
	Seq     int64    `json:"seq"`
	Time    int64    `json:"time"`              // unix ms of the lab's clock
	Mono    int64    `json:"mono"`              // real us (CLOCK_MONOTONIC, shared by the masters); in exports only
	Came    int64    `json:"came,omitempty"`    // as Mono: when a request came that had to wait; 0 for others
	Client  int64    `json:"client"`            // 0 if no client caused it
	Request int64    `json:"request,omitempty"` // with replicas: its number on the connection, from 1
	Name    string   `json:"name"`              // of the client
	Event   string   `json:"event"`             // the rule that fired, or an Event constant
	Cmd     []string `json:"cmd"`               // the words, shortened
	Key     string   `json:"key"`               // the first watched key, else the first key
	DB      int      `json:"db,omitempty"`
	By      string   `json:"by"`            // "exec" or the script's SHA1, for a command inside
	Run     int64    `json:"run,omitempty"` // the number of that EXEC or script
	Outcome Outcome  `json:"outcome"`
	Reply   string   `json:"reply"`
	Kind    string   `json:"kind,omitempty"` // the first byte of the reply in RESP: $ for a text, _ for null
	Keys    []string `json:"keys,omitempty"` // the watched keys, if Cmd does not have all words
	From    int64    `json:"from,omitempty"` // of EventClock: unix ms
	To      int64    `json:"to,omitempty"`

	// Offset is a place in the stream of changes. A replica whose offset is at least this has the effect of the
	// entry, and one whose offset is less has not.
	Offset int64  `json:"offset,omitempty"`
	Peer   int    `json:"peer,omitempty"`   // of a change of roles or of a link: the number of the other node
	ReplID string `json:"replid,omitempty"` // likewise: the history that the data belong to, or belonged to

	Together bool `json:"together,omitempty"` // of EventClock: one LAB ALL moved the clocks of all masters

	Changes []Change `json:"changes,omitempty"` // of the watched keys, by this entry
}

// Failed reports whether the reply is an error, also one that came late or was lost.
func (e *Entry) Failed() bool { return e.Outcome == Failed || e.Kind == "-" }

// KeepEntries bounds the log, and a History. A server that runs for days has room for that many, and no
// test reads more.
const KeepEntries = 1 << 16

// Log numbers entries and keeps the newest ones. The zero value is not usable: see NewLog.
type Log struct {
	entries []Entry
	next    int64 // number of the newest entry
	watched []Watch
	globs   []glob // of watched
	heads   []head // of the globs, each once
	match   func(pattern string, s []byte) bool
	bytes   int  // of the entries and the globs
	lent    bool // somebody may read the entries: see Export

	asked   []byte // the latest key that somebody has asked watches for
	answers bool   // the answer: most commands ask several times for one key
}

// NewLog returns an empty log. match reports whether s matches a glob.
func NewLog(match func(pattern string, s []byte) bool) *Log { return &Log{match: match} }

// Add numbers e and keeps it. Changes that are too many for one entry go into further ones.
func (l *Log) Add(e Entry) {
	for more := true; more; {
		rest := e.split()
		l.add(e)
		e, more = rest, rest.Changes != nil
	}
}

func (l *Log) add(e Entry) {
	l.next++
	e.Seq = l.next
	if len(l.entries) >= 2*KeepEntries {
		for i := range KeepEntries {
			l.bytes -= l.entries[i].mem()
		}
		kept := l.entries[:0]
		if l.lent {
			kept, l.lent = make([]Entry, 0, cap(l.entries)), false
		}
		l.entries = append(kept, l.entries[KeepEntries:]...)
	}
	l.entries = append(l.entries, e)
	l.bytes += e.mem()
}

// entryMem is the size of an entry in bytes, without its texts.
const entryMem = int(unsafe.Sizeof(Entry{}))

func (e *Entry) mem() int {
	n := entryMem + len(e.Name) + len(e.Event) + len(e.Key) + len(e.By) + len(e.Reply)
	for _, words := range [][]string{e.Cmd, e.Keys} {
		for _, word := range words {
			n += 16 + len(word)
		}
	}
	for i := range e.Changes {
		n += e.Changes[i].mem()
	}
	return n
}

// Mem returns about how many bytes the log takes.
func (l *Log) Mem() int { return l.bytes }

// Newest returns the newest n entries, the oldest first.
func (l *Log) Newest(n int) []Entry {
	return l.entries[len(l.entries)-min(n, len(l.entries), KeepEntries):]
}

// All returns every kept entry, the oldest first.
func (l *Log) All() []Entry { return l.Newest(KeepEntries) }

// Reset drops the entries. The next one gets number 1. The watched globs stay.
func (l *Log) Reset() {
	l.entries, l.next, l.lent = nil, 0, false
	l.bytes = 0
	for _, w := range l.watched {
		l.bytes += len(w.Pattern)
	}
}

// Watch adds a glob: the server logs commands on matching keys. A glob that is watched gets the new shape.
func (l *Log) Watch(w Watch) {
	if i := l.find(w.Pattern); i >= 0 {
		l.watched[i] = w
		return
	}
	l.watched, l.globs = append(l.watched, w), append(l.globs, newGlob(w.Pattern))
	l.bytes += len(w.Pattern)
	l.aim()
}

// Unwatch undoes Watch. It reports whether glob was watched.
func (l *Log) Unwatch(glob string) bool {
	i := l.find(glob)
	if i < 0 {
		return false
	}
	l.watched, l.globs = slices.Delete(l.watched, i, i+1), slices.Delete(l.globs, i, i+1)
	l.bytes -= len(glob)
	l.aim()
	return true
}

// aim prepares questions for the globs that are watched now.
func (l *Log) aim() {
	l.heads, l.asked = nil, nil
	for _, g := range l.globs {
		if !slices.Contains(l.heads, g.head) {
			l.heads = append(l.heads, g.head)
		}
	}
}

func (l *Log) find(glob string) int {
	return slices.IndexFunc(l.watched, func(w Watch) bool { return w.Pattern == glob })
}

// UnwatchAll undoes every Watch.
func (l *Log) UnwatchAll() {
	for _, w := range l.watched {
		l.bytes -= len(w.Pattern)
	}
	l.watched, l.globs = nil, nil
	l.aim()
}

// Globs returns what is watched, in the order of Watch.
func (l *Log) Globs() []Watch { return l.watched }

// AllWatched returns the watched keys, printable: those of a command whose words an entry does not have. A
// command of fewer words has none.
func (l *Log) AllWatched(args, keys [][]byte) []string {
	if len(args) <= mostArgs {
		return nil
	}
	var all []string
	for _, key := range keys {
		if len(all) < mostKeys && l.Watches(key) {
			all = append(all, Word(key))
		}
	}
	return all
}

// Watched returns the first watched key, or nil.
func (l *Log) Watched(keys [][]byte) []byte {
	for _, key := range keys {
		if l.Watches(key) {
			return key
		}
	}
	return nil
}

// Watches reports whether a watched glob matches key. Every request asks it, and most keys begin with other letters
// than any glob: for them it copies nothing.
func (l *Log) Watches(key []byte) bool {
	if !l.mayWatch(key) {
		return false
	}
	if l.asked != nil && bytes.Equal(l.asked, key) {
		return l.answers
	}
	l.asked, l.answers = append(l.asked[:0], key...), false
	for i := range l.globs {
		if l.globs[i].matches(key, l.match) {
			l.answers = true
			break
		}
	}
	return l.answers
}

// MayWatch reports whether one of the words may be a watched key. It is faster than to find the keys.
func (l *Log) MayWatch(words [][]byte) bool {
	for _, word := range words {
		if l.mayWatch(word) {
			return true
		}
	}
	return false
}

// mayWatch reports whether key begins as one of the globs does.
func (l *Log) mayWatch(key []byte) bool {
	first := headOf(key)
	for _, h := range l.heads {
		if first&h.mask == h.first {
			return true
		}
	}
	return false
}

// glob is a pattern. Most keys differ from it in the beginning, which has no special character.
type glob struct {
	pattern string
	plain   int // bytes of the beginning
	head
}

// head has the first bytes of a glob's beginning, and which bytes of a key to compare with them.
type head struct{ first, mask uint64 }

func newGlob(pattern string) glob {
	plain := strings.IndexAny(pattern, `*?[\`)
	if plain < 0 {
		plain = len(pattern)
	}
	g := glob{pattern: pattern, plain: plain, head: head{first: headOf([]byte(pattern[:plain]))}}
	if plain == len(pattern) { // a name: a key that is longer differs, too
		plain = headBytes
	}
	g.mask = ^uint64(0) << (8 * max(headBytes-plain, 0)) // none for a glob that begins with a special character
	return g
}

// headBytes is how many bytes of a key fit into one word.
const headBytes = 8

// headOf returns the first bytes of a key as one word. Zeros stand where a short key has none.
func headOf(key []byte) (first uint64) {
	if len(key) >= headBytes {
		return binary.BigEndian.Uint64(key)
	}
	for i, b := range key {
		first |= uint64(b) << (8 * (headBytes - 1 - i))
	}
	return first
}

func (g *glob) matches(key []byte, match func(pattern string, s []byte) bool) bool {
	switch {
	case len(key) < g.plain || string(key[:g.plain]) != g.pattern[:g.plain]:
		return false
	case g.plain == len(g.pattern):
		return len(key) == g.plain
	}
	return match(g.pattern, key)
}
