package lab

import "encoding/json"

// Format names the shape of History. It changes with the shape.
const Format = "miniredisd-history/1"

// History is the log of one master, as LAB LOG EXPORT returns it.
type History struct {
	Format  string  `json:"format"`
	Master  int     `json:"master"` // from 1
	Masters int     `json:"masters"`
	Entries []Entry `json:"entries"`
}

// KeysKept is the reply of an EventCrash that lost no keys.
const KeysKept = "keys kept"

// Export returns the log as JSON. Every text in it is printable.
func (l *Log) Export(master, masters int) []byte {
	h := History{Format: Format, Master: master, Masters: masters, Entries: l.All()}
	if h.Entries == nil {
		h.Entries = []Entry{}
	}
	b, err := json.Marshal(h)
	if err != nil {
		panic(err) // strings and numbers are always JSON
	}
	return b
}
