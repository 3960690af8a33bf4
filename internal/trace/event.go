package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Point is a place in the loop of the server, as events name it.
type Point byte

// The points, in the order of a pass. Points says where each is in the source.
const (
	Woke     Point = 'w' // A descriptors fired, B us slept
	Handler  Point = 'h' // A index in the array, B descriptor
	Accepted Point = 'a' // A descriptor, B one of AcceptedHere and AcceptedLink
	Gathered Point = 'g' // A clients found, B us waited
	Lent     Point = 't' // A clients
	Joined   Point = 'j' // A clients
	ReadDone Point = 'r' // A bytes, 0 for the end of input, or a negative errno; B bytes left in the socket
	Parsed   Point = 'p' // A commands found, B bytes left, or -1 if the client broke the protocol: Text says how
	Executes Point = 'x' // A number of the request, B one of ByClient and its like
	Replied  Point = 'y' // A bytes appended, B one of ReplyOK and its like
	Expired  Point = 'e' // A keys
	Appended Point = 'd' // A bytes written, B one of AppendedOnly and its like; Text is appendfsync, and the error
	Written  Point = 'o' // A bytes or a negative errno, B bytes left; Text is "limit" if one call may send no more
	Closed   Point = 'c' // A descriptor
	Asleep   Point = 's' // A timeout in ms or -1, B requests of this pass

	// Points that few passes meet.
	LooksAgain Point = 'l' // A descriptors fired, B one of ByGather and BySlowScript; Client has the script
	Back       Point = 'b' // A requests taken since LooksAgain; Client has the script, which continues
	Messaged   Point = 'm' // A bytes, B one of MessageNow and its like; Client gets them
	Struck     Point = 'f' // a rule of the lab: Text has its name, its action, and what it strikes

	// Points of replication. A replica is a client of its master, and the link is a client of the replica.
	Replicated Point = 'k' // A bytes that the pass added to the stream, B replicas that get them; Text is its offset
	Fed        Point = 'v' // A bytes for a replica, B one of FedStream and its like; Client is the replica
	LinkRead   Point = 'i' // A bytes from the master, B one of FedStream and its like; Client is the link, 0 at first
	LinkTold   Point = 'q' // A bytes for the master, B the offset that they acknowledge, or -1
)

// What a replica gets: B of Fed and of LinkRead.
const (
	FedStream = iota // changes, as requests
	FedKeys          // a part of all keys
	FedAnswer        // to a request of the handshake
	FedMark          // after the keys
)

// Why the loop asks the kernel again in the middle of a pass: B of LooksAgain.
const (
	ByGather     = iota // for more clients, so that the I/O threads pay
	BySlowScript        // for somebody who ends the script
)

// Where a new client comes from: B of Accepted.
const (
	AcceptedHere = iota // from a listening socket
	AcceptedLink        // it is the link to the master, which has all keys now
)

// Why keys are gone: B of Expired.
const (
	GoneExpired = iota
	GoneEvicted // there was too little memory
)

// Where a message goes: B of Messaged.
const (
	MessageNow    = iota // to the end of the output
	MessageBehind        // after the reply to the client's own command, which is not complete yet
)

// What became of the append only file: B of Appended.
const (
	AppendedOnly   = iota // the system has the bytes, the disk has not
	AppendedSynced        // all bytes are on the disk
	AppendedFailed
)

// Who asks for a command: B of Executes.
const (
	ByClient = iota
	ByExec
	ByScript
	Internally // LAB over HTTP, or another master
	AfterWait  // a command that was blocked or held runs now
	ToQueue    // a client's command does not run: MULTI queues it
	Refused    // a client's command does not run: its reply is an error
	ByMaster   // a replica executes what its master has sent
	ByFile     // a server that starts again executes its append only file
)

// What a reply is: B of Replied.
const (
	ReplyOK = iota
	ReplyError
	ReplyQueued
	ReplyBlocked // it comes after a wait
	ReplyHeld    // a rule or CLIENT PAUSE keeps the command from running
	ReplyNil
	ReplyNone
	ReplyUnblocked // it ends a wait, and no command runs for it
	ReplyToMaster  // nobody gets it: a replica does not reply to its master
)

// ReplyKind says what a reply is that stands in the output at once.
func ReplyKind(reply []byte) int64 {
	switch {
	case len(reply) == 0:
		return ReplyNone
	case reply[0] == '-' || reply[0] == '!':
		return ReplyError
	case string(reply) == "+QUEUED\r\n":
		return ReplyQueued
	case reply[0] == '_' || len(reply) > 1 && (reply[0] == '$' || reply[0] == '*') && reply[1] == '-':
		return ReplyNil
	}
	return ReplyOK
}

// Event is that a thread met a point. Times are monotonic ns.
type Event struct {
	Seq, Pass int64 // Seq counts from 1 for each server
	Point     Point
	Thread    int   // 0 main, 1 and up the I/O threads, -1 an executor of its own
	Client    int64 // 0 for none
	At, Dur   int64
	A, B      int64 // by Point
	Text      string

	Args [][]byte // of Executes and Replied, for breakpoints only: valid during the call of Thread.Event
	Name string   // the full name of that command, for breakpoints
}

// AppendJSON appends e as JSON, its time counted from born: [seq,pass,"r",thread,client,us,dur,a,b,"text"].
func (e *Event) AppendJSON(b []byte, born int64) []byte {
	b = strconv.AppendInt(append(b, '['), e.Seq, 10)
	b = strconv.AppendInt(append(b, ','), e.Pass, 10)
	b = append(b, ',', '"', byte(e.Point), '"', ',')
	b = strconv.AppendInt(b, int64(e.Thread), 10)
	b = strconv.AppendInt(append(b, ','), e.Client, 10)
	b = strconv.AppendInt(append(b, ','), (e.At-born)/1000, 10)
	b = appendMicros(append(b, ','), e.Dur)
	b = strconv.AppendInt(append(b, ','), e.A, 10)
	b = strconv.AppendInt(append(b, ','), e.B, 10)
	b = AppendText(append(b, ','), e.Text)
	return append(b, ']')
}

// appendMicros appends nanoseconds as microseconds with at most one decimal.
func appendMicros(b []byte, ns int64) []byte {
	tenths := (max(ns, 0) + 50) / 100
	b = strconv.AppendInt(b, tenths/10, 10)
	if tenths%10 != 0 {
		b = append(b, '.', byte('0'+tenths%10))
	}
	return b
}

// UnmarshalJSON reads an event as AppendJSON writes it. Its time counts from the begin of the recording.
func (e *Event) UnmarshalJSON(data []byte) error {
	var point string
	var us int64
	var dur float64
	fields := []any{&e.Seq, &e.Pass, &point, &e.Thread, &e.Client, &us, &dur, &e.A, &e.B, &e.Text}
	want := len(fields)
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("not an event: %w", err)
	}
	if len(fields) != want {
		return fmt.Errorf("not an event: it has %d fields instead of %d", len(fields), want)
	}
	if _, known := Points()[point]; !known {
		return fmt.Errorf("not an event: %q is not a point", point)
	}
	const longest = 1 << 53
	if e.Seq < 1 || us < 0 || us > longest || dur < 0 || dur > longest {
		return errors.New("not an event: a number is out of range")
	}
	e.Point, e.At, e.Dur = Point(point[0]), us*1000, int64(dur*1000+0.5)
	return nil
}

// Place says where a point is in the source, and in Redis's.
type Place struct {
	Name string `json:"name"`
	Go   string `json:"go"`
	File string `json:"file"`
	C    string `json:"c"`
}

// Points returns where each point is, by its letter.
func Points() map[string]Place {
	return map[string]Place{
		"w": {"woke", "reactor.Loop.pass", "reactor/reactor.go", "ae.c: aeProcessEvents"},
		"h": {"handler", "reactor.Loop.handle", "reactor/reactor.go", "ae.c: aeProcessEvents"},
		"a": {"accepted", "server.Server.Adopt", "server/client.go", "networking.c: createClient"},
		"g": {"gather", "server.Server.gather", "server/gather.go", ""},
		"t": {"lend", "ioworkers.Pool.share", "ioworkers/threads.go",
			"networking.c: handleClientsWithPendingReadsUsingThreads"},
		"j": {"join", "ioworkers.Pool.share", "ioworkers/threads.go",
			"networking.c: handleClientsWithPendingReadsUsingThreads"},
		"r": {"read", "ioworkers.Conn.Read", "ioworkers/conn.go", "networking.c: readQueryFromClient"},
		"p": {"parsed", "ioworkers.Conn.Parse", "ioworkers/conn.go", "networking.c: processInputBuffer"},
		"x": {"execute", "command.Executor.Do", "command/executor.go", "server.c: processCommand"},
		"y": {"replied", "command.Executor.finish", "command/reply.go", "server.c: call"},
		"e": {"expired", "server.Server.Expire", "server/pass.go", "expire.c: activeExpireCycle"},
		"d": {"append", "persist.appendOnly.flush", "server/persist/aof.go", "aof.c: flushAppendOnlyFile"},
		"o": {"written", "ioworkers.Conn.Write", "ioworkers/output.go", "networking.c: writeToClient"},
		"c": {"closed", "server.Server.free", "server/client.go", "networking.c: freeClient"},
		"s": {"asleep", "server.Server.sleep", "server/pass.go", "ae.c: usUntilEarliestTimer"},
		"l": {"again", "reactor.Loop.HandleReady", "reactor/reactor.go", "networking.c: processEventsWhileBlocked"},
		"b": {"back", "server.Server.ProcessEventsWhileBlocked", "server/busy.go",
			"networking.c: processEventsWhileBlocked"},
		"m": {"message", "command.messages.post", "command/messages.go", "pubsub.c: pubsubPublishMessageInternal"},
		"f": {"rule", "lab.State.beforeRequest", "server/lab/request.go", ""},
		"k": {"replicate", "repl.replicas.handOver", "server/repl/master.go", "replication.c: replicationFeedSlaves"},
		"v": {"feed", "repl.replicas.refer", "server/repl/master.go", "replication.c: feedReplicationBuffer"},
		"i": {"link", "repl.following.receive", "server/repl/follow_stream.go", "networking.c: readQueryFromClient"},
		"q": {"acknowledge", "repl.following.flush", "server/repl/follow_link.go", "replication.c: replicationSendAck"},
	}
}
