package lab

import "unsafe"

// Change is what one entry did to one watched key. The store tells it, whatever the command: so a command that nobody
// thought of has its changes, too.
type Change struct {
	DB     int    `json:"db,omitempty"`
	Key    string `json:"key"`
	Cause  Cause  `json:"cause,omitempty"`
	Before *Value `json:"before,omitempty"` // nil if the key did not exist
	After  *Value `json:"after,omitempty"`  // nil if it does not exist now
	At     int64  `json:"at,omitempty"`     // unix ms, if that is not the time of the entry: deadlines begin then
}

// Cause says why a key changed.
type Cause string

// The causes.
const (
	ByCommand  Cause = ""        // the command of the entry
	ByExpiry   Cause = "expired" // its time had come
	ByEviction Cause = "evicted" // for memory, or by LAB EVICT
	ByLoss     Cause = "lost"    // a crash, or a synchronization that replaced all keys
)

// changeMem is the size of a Change with two values in bytes, without its texts.
const changeMem = int(unsafe.Sizeof(Change{}) + 2*unsafe.Sizeof(Value{}))

// mostChangeMem bounds the changes of an entry. A reader of an export bounds the text of one.
const mostChangeMem = 256 << 10

// split takes the changes out of e that are too many for one entry. It returns an entry for them.
func (e *Entry) split() (rest Entry) {
	n := 0
	for i := range e.Changes {
		if n += e.Changes[i].mem(); n > mostChangeMem && i > 0 {
			rest = Entry{
				Time: e.Time, Mono: e.Mono, Event: EventChanged, Key: e.Changes[i].Key, DB: e.Changes[i].DB, Outcome: Executed,
				Offset: e.Offset, Changes: e.Changes[i:],
			}
			e.Changes = e.Changes[:i:i]
			break
		}
	}
	return rest
}

func (c *Change) mem() int {
	n := changeMem + len(c.Key)
	for _, v := range [...]*Value{c.Before, c.After} {
		if v == nil {
			continue
		}
		n += len(v.Text)
		for i := range v.Parts {
			n += int(unsafe.Sizeof(Part{})) + len(v.Parts[i].Name) + len(v.Parts[i].Value)
		}
	}
	return n
}

// Value is what the log keeps of the value of a key.
type Value struct {
	Type     string `json:"type"`               // as TYPE replies
	Text     string `json:"text,omitempty"`     // of a string, printable; a long one is shortened, with a digest
	Parts    []Part `json:"parts,omitempty"`    // of another type: those that the change added, removed or altered
	Len      int    `json:"len,omitempty"`      // of another type: the number of all its parts; of an unread string: bytes
	Deadline int64  `json:"deadline,omitempty"` // unix ms; 0 if it never expires
	Unread   bool   `json:"unread,omitempty"`   // it is too large for the log to compare its parts
}

// Part is a field of a hash, a member of a set or of a sorted set, an element of a list, or an entry of a stream. A
// stream also has a part for each group, consumer and pending entry.
type Part struct {
	Name     string `json:"name"`
	Value    string `json:"value,omitempty"`    // of a field or of an entry, or the score of a member
	Deadline int64  `json:"deadline,omitempty"` // of a field: unix ms
}
