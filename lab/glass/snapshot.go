package glass

import "github.com/miniredisd/miniredisd/internal/trace"

// Hello is the header of a stream or recording.
type Hello struct {
	V           int                    `json:"v"`
	Version     string                 `json:"version"`
	Seed        uint64                 `json:"seed"`
	Threads     []string               `json:"threads"` // by number: main, then the I/O threads
	Exec        string                 `json:"exec"`
	Multiplexer string                 `json:"multiplexer"`
	Master      int                    `json:"master"`
	Masters     int                    `json:"masters"`            // all servers of the process
	Replicas    int                    `json:"replicas,omitempty"` // of each master, behind the masters
	State       State                  `json:"state"`
	Points      map[string]trace.Place `json:"points"`
	Appends     bool                   `json:"appends,omitempty"` // to an append only file
}

// State says whether the loop runs, and where it stopped.
type State struct {
	State      string `json:"state"` // running, armed, asleep (armed, and the loop waits for events) or stopped
	Point      string `json:"point"`
	Pass       int64  `json:"pass"`
	Seq        int64  `json:"seq"`
	Client     int64  `json:"client"`
	Thread     int    `json:"thread"`
	Breakpoint string `json:"breakpoint"`
	Slow       int64  `json:"slow"` // ms at every point
	Still      bool   `json:"still"`

	Busy bool   `json:"busy,omitempty"` // the pass under way lasts: nobody outside of it is served
	Work string `json:"work,omitempty"` // what the loop does between passes, instead of sleeping: see EndPass
}

// Snapshot is what there is of the server while it stands at a point.
type Snapshot struct {
	Clock    int64          `json:"clock"` // unix ms
	Still    bool           `json:"still"`
	Pass     int64          `json:"pass"`
	PartOf   bool           `json:"partOf,omitempty"` // an I/O thread made it: it has that thread's client only
	Clients  []trace.Client `json:"clients"`
	More     int            `json:"more"` // clients that are left out
	Fired    *Fired         `json:"fired,omitempty"`
	Lists    *Lists         `json:"lists,omitempty"`
	Threads  []ThreadClient `json:"threads,omitempty"`
	Keys     []Key          `json:"keys"`
	KeysMore int            `json:"keysMore"`
	Counters *Counters      `json:"counters,omitempty"`
	File     *File          `json:"file,omitempty"`
	Stream   *Stream        `json:"stream,omitempty"`
}

// The most clients and keys in a Snapshot.
const (
	MaxClients = 64
	MaxKeys    = 12
)

// Fired is the array that epoll_wait has filled, and how far the loop is in it.
type Fired struct {
	List []Ready `json:"list"`
	At   int     `json:"at"` // -1 before the first
}

// Ready is a descriptor with events.
type Ready struct {
	FD     int    `json:"fd"`
	Mask   string `json:"mask"` // of r, w and h
	Client int64  `json:"client"`
}

// File is the append only file.
type File struct {
	Policy   string `json:"policy"`   // appendfsync
	Unsynced int64  `json:"unsynced"` // bytes that the disk does not have yet
}

// Stream is the replication stream of a master or a replica.
type Stream struct {
	Role     string `json:"role"` // master or replica
	Offset   int64  `json:"offset"`
	Kept     int64  `json:"kept"`     // bytes in the backlog
	Replicas int    `json:"replicas"` // that get the stream
	Acked    int64  `json:"acked"`    // the least offset that one of them has told, -1 without one
	Link     string `json:"link"`     // of a replica: connect, connecting, handshake, sync or connected
}

// Lists are the lists that a pass works through, as ids of clients.
type Lists struct {
	PendingReads  []int64 `json:"pendingReads"`
	NextRead      int     `json:"nextRead"`
	Resumed       []int64 `json:"resumed"`
	PendingWrites []int64 `json:"pendingWrites"`
	Deferred      int     `json:"deferred"`
	Closing       []int64 `json:"closing"`
}

// ThreadClient is a thread and the clients that it has borrowed.
type ThreadClient struct {
	Name    string  `json:"name"`
	Clients []int64 `json:"clients"`
}

// Key is a key in a Snapshot.
type Key struct {
	K    string `json:"k"`
	DB   int    `json:"db"`
	Type string `json:"type"`
	V    string `json:"v"`   // the first bytes of a string, the number of elements of others
	TTL  int64  `json:"ttl"` // ms, -1 for none
	By   int64  `json:"by"`  // the client of the last write, 0 if unknown
}

// Counters count since the server started.
type Counters struct {
	Passes      int64 `json:"passes"`
	Commands    int64 `json:"commands"`
	Connections int64 `json:"connections"`
}

// Summary counts the passes since the last one, while there are too many events to send all. Some of
// them may have been sent.
type Summary struct {
	Pass     int64            `json:"pass"`
	Passes   int64            `json:"passes"`
	Events   int64            `json:"events"`
	Commands int64            `json:"commands"`
	Counts   map[string]int64 `json:"counts"`
	NS       map[string]int64 `json:"ns"`
	Clients  int              `json:"clients"`
	Present  []int64          `json:"present,omitempty"` // their ids, unless they are more than MaxClients
	Keys     []Key            `json:"keys"`
	KeysMore int              `json:"keysMore"`
	First    []trace.Client   `json:"first,omitempty"` // up to MaxClients clients as they are, for a new reader

	events []trace.Event // one whole pass
}
