package lab

import (
	"bytes"
	"encoding/json"
	"runtime"
)

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

// KeysOnDisk is the reply of an EventCrash after which the server loads what its simulated disk has. An EventDisk
// follows for each key that is not what it was.
const KeysOnDisk = "keys on disk"

// The replies of an EventDisk.
const (
	NeverOnDisk  = "it was never on disk"
	OlderOnDisk  = "only an older value was on disk"
	ExpiryOnDisk = "only another expiry was on disk"
	BackFromDisk = "it is back: its deletion was never on disk"
)

// Export returns the log, and takes the same time for every length. The log never changes the entries, so
// any goroutine may read them.
func (l *Log) Export(master, masters int) History {
	l.lent = true
	all := l.All()
	return History{Format: Format, Master: master, Masters: masters, Entries: all[:len(all):len(all)]}
}

// JSON returns the history as text. Every text in it is printable. That takes some 2 us for each entry, and
// other goroutines run meanwhile.
func (h History) JSON() []byte {
	const end = "]}" // of a history without entries
	entries := h.Entries
	h.Entries = []Entry{}
	text := bytes.TrimSuffix(encode(h), []byte(end))
	for i := range entries {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, encode(&entries[i])...)
		if i%32 == 0 {
			runtime.Gosched() // a loop may wait for this processor
		}
	}
	return append(text, end...)
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers are always JSON
	}
	return b
}
