// Package holders is the model of who holds a lock, and who may believe that it does.
//
// It is a state machine without sockets and without a clock. Packages doctor and proof tell a Ledger which node
// granted, extended and ended which lock, each with its time. The doctor and the verdict read it:
//
//	Granted, Extended, Ended, GaveUp, Moved ... ──> Ledger: a table of Holdings for each master
//	                                                  └──> Terms ──> Overlaps: locks that had two holders
//	                                                             └─> Questions: locks that may have had them
//
// Any goroutine may call the functions of this package. The methods of a Ledger have a mutex.
package holders

// Key is a key in a database.
type Key struct {
	DB   int
	Name string
}

// Step is a command, or another event: then Client is 0.
type Step struct {
	Master  int    // from 1 with a ledger of several masters, else 0
	Node    string // with replicas: the node
	Time    int64  // unix ms
	Client  int64
	Name    string
	Command string
	Reply   string
}

// End says how a holding ended on its master.
type End string

// The ends. A holding that is not over has the End "".
const (
	EndReleased    End = "released" // by its holder
	EndExpired     End = "expired"
	EndStolen      End = "stolen" // deleted by another client
	EndOverwritten End = "overwritten"
	EndLost        End = "lost"    // with all keys: a crash, FLUSHALL
	EndEvicted     End = "evicted" // for memory
	EndUnclear     End = "deleted" // by its holder or by another client: the log cannot tell
)

// Holding is the grant of a lock to one holder by one master. Times are unix ms of that master's
// clock, which may be wrong. An order is a number that grows with every event on all masters; 0
// means not yet.
type Holding struct {
	DB      int
	Key     string
	Holder  string // see Terms
	Token   string
	Node    string // the node that granted it, for people; "" without replicas
	Client  int64
	Name    string // of the client
	Sole    bool   // only one worker uses the name
	Hash    bool   // the key is a hash, and Token is one of its fields
	Shared  bool   // a read lock: others may hold it, too
	Joined  bool   // several clients write into that hash
	Thief   bool   // the client that deleted it competes for the lock
	Granted Step
	Event   int64 // Mono of the grant
	Order   int64
	Lease   int64 // ms; 0 means without end
	Until   int64
	Renewed int // times

	End      End
	Ended    int64
	EndedBy  Step // the event that took it from its holder
	EndOrder int64

	Start    int64     // unix ms: where the times of a finding begin
	Lost     *Failover // how the node that is the master now came to lack it, or its renewal
	Deposed  *Failover // the promotion of another node, of which the node that granted it did not know
	Readonly bool      // the node that granted it was a replica
	EndedAt  string    // the node on which it ended, "" without replicas

	GaveUp int64 // order at which the holder released it, or tried to
	RanOut int64 // order at which the lease was over by the holder's clock, as this master shows it

	// What the log cannot tell. The holder may have given the lock up at the order MayGiveUp already. Its
	// lease may have been over at the order MayRunOut, if it does not know of a longer one. Unknown
	// means that it may not know of the grant at all. The doubts say why.
	MayGiveUp, MayRunOut int64
	Unknown              bool
	Doubts               []Doubt

	refused Step // the first other token that was refused because of it

	// With replicas, the moves of one node's clock are time only as long as no other node has granted the lock.
	alone    bool  // RanOut is such an end
	mayAlone bool  // MayRunOut is
	together int64 // order at which the lease was over without these moves

	// Of a WAIT right behind the grant. Its client may believe in the lock from the order Asked on, and does so from the
	// order Awaited on. 0 is the grant. Unconfirmed means that it has no reply, or one that tells of too few replicas.
	Asked, Awaited int64
	Unconfirmed    bool

	Renews int64  // the order of the grant that it certainly renews
	since  moment // the begin of the lease
	begun  moment // of the first one

	extended int64 // order of the last certain renewal
	least    struct {
		lease int64 // ms; 0 means without end
		since moment
		until int64 // unix ms
	}
}

// lasts gives a holding a lease: the longest that its holder may believe in, the shortest, or both.
func (h *Holding) lasts(lease int64, since moment, longest, shortest bool) {
	if longest {
		h.Lease, h.since = lease, since
	}
	if shortest {
		h.least.lease, h.least.since = lease, since
	}
}
