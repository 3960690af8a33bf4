package lab

import (
	"bytes"
	"cmp"
	"encoding/json"
	"runtime"
	"slices"
)

// Format names the shape of History. It changes with the shape.
const Format = "miniredisd-history/2"

// FirstFormat is the shape before: it had neither Watched nor Changes.
const FirstFormat = "miniredisd-history/1"

// History is the log of one master, as LAB LOG EXPORT returns it.
type History struct {
	Format  string  `json:"format"`
	Master  int     `json:"master"` // from 1; a replica has the number of the master that it had at the start
	Masters int     `json:"masters"`
	*Node           // nil in a process without replicas
	Cluster bool    `json:"cluster,omitempty"` // the masters serve slots of one cluster
	Proxy   bool    `json:"proxy,omitempty"`   // a proxy has written it, which sees no replication
	Watched []Watch `json:"watched,omitempty"` // the globs, when the log was exported
	Entries []Entry `json:"entries"`
}

// Number returns the number of the node that wrote a history, from 1.
func (h History) Number() int {
	if h.Node != nil {
		return h.Node.Node
	}
	return h.Master
}

// IsVoter reports whether the history is that of a node of a cluster whose nodes all write a log: they are one voter. A
// proxy in front of a cluster does not see what its nodes send each other.
func (h History) IsVoter() bool { return h.Cluster && h.Node != nil }

// Placed is the place of an entry in several histories.
type Placed struct{ History, Index int }

// InOrder returns the entries of the histories of one process, in the order in which they happened.
func InOrder(all []History) []Placed {
	var places []Placed
	for i, h := range all {
		for j := range h.Entries {
			places = append(places, Placed{i, j})
		}
	}
	slices.SortStableFunc(places, func(a, b Placed) int {
		e, f := &all[a.History].Entries[a.Index], &all[b.History].Entries[b.Index]
		return cmp.Or(cmp.Compare(e.Mono, f.Mono), cmp.Compare(all[a.History].Number(), all[b.History].Number()),
			cmp.Compare(e.Seq, f.Seq))
	})
	return places
}

// Node says which of the nodes of a process has written a log: a master or a replica.
type Node struct {
	Node   int    `json:"node"`  // from 1: the masters, then the replicas
	Nodes  int    `json:"nodes"` // of the process
	Port   int    `json:"port"`
	Role   string `json:"role"` // when the log was exported: master or replica
	ReplID string `json:"replid"`
	Offset int64  `json:"offset"`
}

// The replies of an EventSynced.
const (
	SyncedFull    = "full"    // all keys were replaced by those of the master
	SyncedPartial = "partial" // what was missing has come
)

// LinkDown is the reply of an EventLink of a replica that has lost its master.
const LinkDown = "down"

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
	return History{Format: Format, Master: master, Masters: masters,
		Watched: slices.Clone(l.watched), Entries: all[:len(all):len(all)]}
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
