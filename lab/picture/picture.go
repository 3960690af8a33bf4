// Package picture draws who held a lock, and when, as an SVG.
//
//	master 1   0 s            +30.001 s
//	           |              | clock jumps
//	worker-1   [== lease 30 s ==]
//	           o SET   o GET  o expired
//	worker-2                    [== lease 30 s ==//////]   red: worker-3 holds it, too
//	                            o SET
//
// A picture has a part for each lock. A part has groups: one for each master, and before them one for
// the majority if there are several masters. A group has a row for each client. A bar is a lease. A
// mark is an event.
//
// The horizontal axis is the order of the events: each event has a column. A test often stops the
// clock, so a scale of the time would put all events on one place. Each master shows the time of its
// own clock above its rows.
//
// The package knows nothing of locks: lab/verdict fills a Picture. The drawing depends on the Picture
// alone. It needs no script and loads nothing. Its colours follow the light or dark scheme of the
// viewer, and no fact is shown by colour alone.
package picture

import "github.com/miniredisd/miniredisd/lab/words"

// Picture is a drawing of several locks.
type Picture struct {
	Language words.Language // of what the drawing itself says
	Title    string
	Text     []string // lines below the title
	Locks    []Lock
}

// Lock is the part of a picture about one lock.
type Lock struct {
	Title   string
	State   State
	Text    []string // lines below the title
	Columns int      // number of events
	Groups  []Group
}

// State is what is known about a lock.
type State string

// The states. They are classes of the style, too.
const (
	Safe    State = "safe"
	Broken  State = "broken"
	Unknown State = "unknown"
)

// Group has rows that belong together, such as those of one master.
type Group struct {
	Name  string
	Times []Time // of the group's clock
	Marks []Mark // that concern the whole group, such as a crash
	Both  []Span // when two clients held the lock
	Rows  []Row
}

// Row is a client.
type Row struct {
	Name  string
	Bars  []Bar
	Marks []Mark
	Waits []Span // from a request that was held back to its execution
}

// Span is a part of the axis, from the middle of one column to the middle of another one. If To is
// Lock.Columns, the span was not over at the end of the history.
type Span struct{ From, To int }

// Bar is a lease. If Belief is greater than To, the server ended the lease at To, and the client does
// not know that until Belief.
type Bar struct {
	Span
	Belief int
	Label  string
	Both   []Span // when another client held the lock, too
	Title  string // shown by a pointer that rests on the bar
}

// Time is a label of the clock of a group.
type Time struct {
	At   int
	Text string
}

// Mark is an event.
type Mark struct {
	At    int
	Kind  Kind
	Label string // short
	Title string // shown by a pointer that rests on the mark
}

// Kind is a kind of mark. It decides on its shape.
type Kind int

// The kinds, in the order of the legend.
const (
	Command  Kind = iota // an ordinary command
	Refused              // a client tried to take the lock and did not get it
	Released             // the holder gave the lock back
	Expired              // the lease ended on the server
	Stranger             // another client took the lock from its holder
	Held                 // a request or its reply was held back
	Lost                 // a reply or a message was lost
	Error                // a request was dropped or got an error
	Clock                // a clock was moved
	Crash                // a master lost its keys, or got other ones
	Role                 // a node has another role, or its link to its master changed
)
