package lab

import "encoding/json"

// Format names the shape of History for those who read it.
const Format = "miniredisd-history/1"

// History is the log of one master as JSON: what LAB LOG EXPORT answers.
type History struct {
	Format  string  `json:"format"`
	Master  int     `json:"master"` // from 1
	Masters int     `json:"masters"`
	Entries []Entry `json:"entries"`
}

// KeysKept is the reply of an EventCrash that has lost nothing.
const KeysKept = "keys kept"

// Export is the log as JSON. All texts in it are printable, so it can be read by anything.
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
