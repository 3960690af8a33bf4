package lab

// Shape says what the keys under a watched glob are. Only a shape that takes holders can be judged.
type Shape string

// The shapes. A key whose glob has none is recognized where its use is plain.
const (
	Unnamed   Shape = ""
	Mutex     Shape = "MUTEX"     // a string, and its value is the holder's token
	Reentrant Shape = "REENTRANT" // a hash with one field, the holder's, whose value counts
	ReadWrite Shape = "RW"        // a hash: one writer, or any number of readers
	Fair      Shape = "FAIR"      // a re-entrant lock whose waiters stand in a queue beside it
	Semaphore Shape = "SEMAPHORE" // at most Watch.Holders parts at one time, or a counter of them
	Queue     Shape = "QUEUE"     // each element stands in exactly one place
)

// Watch is a watched glob.
type Watch struct {
	Pattern string `json:"pattern"`
	As      Shape  `json:"as,omitempty"`
	Holders int    `json:"holders,omitempty"` // of a Semaphore: how many may hold it
}
