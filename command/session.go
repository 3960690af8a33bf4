package command

import "github.com/miniredisd/miniredisd/internal/acl"

// Session is the executor's half of a client: the state that commands see. The other half is an
// ioworkers.Conn with the socket and the buffers. Neither half points at the other.
type Session struct {
	ID    int64
	Index int    // position in the server's list of clients; changes when another client leaves
	Addr  string // address of the client: host:port, or the path of a unix socket and :0
	DB    int    // selected database
	Proto int    // 2 or 3
	Name  string
	User  *acl.User // nil for a session without ACL rules: a request of LAB

	LibName, LibVer string // CLIENT SETINFO
	CanRedirect     bool   // CLIENT CAPA

	Authenticated bool
	Local         bool // connected through a unix socket or the loopback interface
	NoEvict       bool // CLIENT NO-EVICT
	NoTouch       bool // CLIENT NO-TOUCH
	Monitor       bool
	Master        bool // this server replicates what comes over the connection
	Replica       bool // it gets the stream of this server, or waits for it
	Subscriber    bool // has subscribed to a channel or pattern
	ReadsHere     bool // READONLY: a replica answers reads of its master's slots

	Replies ReplyMode // CLIENT REPLY

	Tx      *Transaction // nil until the first MULTI or WATCH
	Tracker *Tracker     // nil until the first CLIENT TRACKING ON

	// CloseAfterReply asks the server to close the connection when all replies are written. Later
	// commands of the client do not run.
	CloseAfterReply bool

	// Attack reports, with CloseAfterReply, that the request was HTTP. The connection is closed
	// without a reply.
	Attack bool

	// Hold asks the server to run no further commands of this client for now.
	Hold Hold

	Wait *Wait // the blocked command, while Hold is Blocked; nil before the first

	Last *Command // command of the last request, even if refused (CLIENT LIST: cmd)

	Offset int64 // of the stream of replicas after the last command (server.h: woff)

	Commands int64 // requests so far
	Executed int64 // commands that have run, with those of EXEC and of scripts (CLIENT LIST: tot-cmds)

	slot  int   // of the keys of the request in a cluster, -1 for none
	asked int64 // the request that may use a slot which this node imports, as Commands counts: see Call.Ask
}

// Hold is why the server executes nothing more of a client for now.
type Hold uint8

// Postponed: CLIENT PAUSE keeps the command from running. It runs when the client is released.
// Blocked: the command has run, and its reply comes later.
// Stopped: only the server knows when it continues with this client, if ever.
const (
	NotHeld Hold = iota
	Postponed
	Blocked
	Stopped
)

// ReplyMode is the setting of CLIENT REPLY.
type ReplyMode uint8

// CLIENT REPLY SKIP sets ReplySkipNext. It becomes ReplySkip for the next command, whose reply is
// removed.
const (
	ReplyOn ReplyMode = iota
	ReplyOff
	ReplySkipNext
	ReplySkip
)
