package command

import "github.com/miniredisd/miniredisd/internal/acl"

// Session is the executor's half of a client: what commands know of it. The
// other half, sockets and buffers, is an ioworkers.Conn; neither points at the
// other.
type Session struct {
	ID    int64
	Index int    // its place among the server's clients, which changes
	Addr  string // of the other side, host:port or the path of a unix socket and :0
	DB    int    // selected database
	Proto int    // 2 or 3
	Name  string
	User  *acl.User // nil for one that may do anything

	LibName, LibVer string // CLIENT SETINFO

	Authenticated bool
	Local         bool // connected through a unix socket or the loopback interface
	NoEvict       bool // CLIENT NO-EVICT
	NoTouch       bool // CLIENT NO-TOUCH
	Monitor       bool
	Subscriber    bool // listens to channels

	Replies ReplyMode // CLIENT REPLY

	Tx      *Transaction // nil until the first MULTI or WATCH
	Tracker *Tracker     // nil until the first CLIENT TRACKING ON

	// CloseAfterReply asks the server to close the connection once what has been
	// answered is written; commands behind it are not executed.
	CloseAfterReply bool

	// Attack tells, with CloseAfterReply, that the request was HTTP: the connection
	// is closed without an answer.
	Attack bool

	// Hold asks the server to execute nothing more of this client for now.
	Hold Hold

	Wait *Wait // what for, while Hold is Blocked; nil until the first time

	Last *Command // what it asked for last, refused or not, for CLIENT LIST

	Commands int64 // commands executed
}

// Hold is why the server executes nothing more of a client for now.
type Hold uint8

// Postponed: CLIENT PAUSE keeps the command from running. It runs when the client is released.
// Blocked: the command has run, and its reply comes later.
// Stopped: only the server knows when it goes on with this client, if ever.
const (
	NotHeld Hold = iota
	Postponed
	Blocked
	Stopped
)

// ReplyMode is what CLIENT REPLY has chosen.
type ReplyMode uint8

// A client can switch replies off, or skip the next one: ReplySkipNext is set by
// SKIP itself and becomes ReplySkip for the command behind it.
const (
	ReplyOn ReplyMode = iota
	ReplyOff
	ReplySkipNext
	ReplySkip
)
