package lab

// Change is what one entry did to one watched key. The store tells it, whatever the command: so a command that nobody
// thought of has its changes, too.
type Change struct {
	DB     int    `json:"db,omitempty"`
	Key    string `json:"key"`
	Cause  Cause  `json:"cause,omitempty"`
	Before *Value `json:"before,omitempty"` // nil if the key did not exist
	After  *Value `json:"after,omitempty"`  // nil if it does not exist now
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

// Value is what the log keeps of the value of a key.
type Value struct {
	Type     string `json:"type"`               // as TYPE replies
	Text     string `json:"text,omitempty"`     // of a string, printable; a digest if the string is long
	Parts    []Part `json:"parts,omitempty"`    // of another type: those that the change added, removed or altered
	Len      int    `json:"len,omitempty"`      // of another type: the number of all its parts
	Deadline int64  `json:"deadline,omitempty"` // unix ms; 0 if it never expires
	Unread   bool   `json:"unread,omitempty"`   // it is too large for the log to compare its parts
}

// Part is a field of a hash, a member of a set or of a sorted set, or an element of a list.
type Part struct {
	Name     string `json:"name"`
	Value    string `json:"value,omitempty"`    // of a field, or the score of a member
	Deadline int64  `json:"deadline,omitempty"` // of a field: unix ms
}
