// Package follow is a replica's half of replication: the state machine of its link to the master (replication.c:
// syncWithMaster, slaveTryPartialResynchronization, readSyncBulkPayload). Bytes go in, bytes and events come out.
//
// It runs in the goroutine of its caller. It knows no socket, no clock and no key.
//
//	from the master ── Feed ──> Link ── Next ──> events: a file begins, bytes of it, a request to execute
//	  to the master <─ Output ──┘
//
// # The conversation
//
//	replica                                master
//	PING                              ──>
//	                                  <──  +PONG, or an error that asks for a password
//	AUTH [user] password              ──>
//	REPLCONF listening-port 6380      ──>
//	REPLCONF ip-address 10.0.0.5      ──>
//	REPLCONF capa eof capa psync2     ──>
//	REPLCONF version 9.1.2            ──>             only as Valkey: which RDB format it reads
//	                                  <──  a line for each
//	PSYNC id offset                   ──>
//	                                  <──  +CONTINUE [id]           the stream continues after the offset
//	                                  <──  +FULLRESYNC id offset    an RDB file comes first:
//	                                  <──  $1234\r\n                its length, or
//	                                  <──  $EOF:mark\r\n            40 bytes that come again after it
//	SYNC                              ──>  after any other reply: an old master, which knows no offsets
//	REPLCONF ACK offset               ──>
//	                                  <──  *3\r\n$3\r\nSET\r\n...   the stream: requests, for ever
//
// An offset counts the bytes of the stream. A replica that comes back names the last one that it has executed. The
// master continues after it if it still has what follows.
//
// # A master that is none
//
// No length is believed before its bytes have come. A line has at most 1,024 bytes, a request at most
// Options.MaxRequest. So what a link holds is bounded, whatever the other side sends.
//
// Redis waits for each line of the handshake inside its event handler (syncio.c: syncReadLine). Here a line that has
// arrived in part stays in the buffer.
package follow

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

const (
	idSize   = 40   // bytes of a replication ID, and of a mark (server.h: CONFIG_RUN_ID_SIZE)
	lineMost = 1024 // bytes of a line, outside of the stream
	keepRoom = 1 << 20
)

// Position is a place in the history of a master: that many bytes of the stream that has this ID.
type Position struct {
	ID     string // "" for none
	Offset int64
}

// Options are what a replica says about itself.
type Options struct {
	User, Password string // masteruser and masterauth, "" for none
	Port           int    // where clients reach this replica
	AnnounceIP     string // "" for the address that the master sees
	Version        string // of Valkey from 8.0 on, "" for all others
	From           Position
	Failover       bool // the other side shall become the master, and this one its replica
	MaxRequest     int  // bytes

	// Log gets what is worth a line of the log. The level is that of package server.
	Log func(level byte, format string, args ...any)
}

// state is what a link waits for (server.h: repl_state).
type state uint8

const (
	pong     state = iota // the reply to PING
	welcomes              // the replies to AUTH and REPLCONF
	verdict               // the reply to PSYNC
	opening               // the line in front of the file
	file                  // the file
	stream                // requests
)

// Kind is what an event is.
type Kind uint8

// The kinds of events.
const (
	None      Kind = iota // nothing before more bytes come
	FullSync              // the master sends everything: At is where the stream continues after the file, if it knows
	Continues             // the stream continues after At, whose ID may be new
	FileBegin             // Size is the number of bytes of the file, -1 if only its end will tell
	FileData              // Data is a piece of the file
	FileEnd               // the file is complete
	Request               // Args is a request of the stream, none for an empty line. Data is its bytes. At is after it
)

// Event is something that the server has to do. Data and Args are valid until the next call of Next or Feed.
type Event struct {
	Kind Kind
	At   Position
	Size int64
	Data []byte
	Args [][]byte
}

// Failure is why a link has to end. Its level is that of the line in the log.
type Failure struct {
	Level   byte
	Text    string
	Refused bool // the master refuses PSYNC
}

func (f *Failure) Error() string { return f.Text }

func fail(format string, args ...any) error {
	return &Failure{Level: '#', Text: fmt.Sprintf(format, args...)}
}

// Link is one connection to a master. New begins the conversation.
type Link struct {
	Options
	state  state
	out    []byte
	in     []byte
	next   int      // in[next:] was not looked at yet
	asked  []string // what the replies to come answer
	at     Position // of the stream that was looked at
	left   int64    // bytes of the file to come
	mark   []byte   // after the file, nil if left says how long it is
	ended  bool     // the file is complete, and FileEnd was not returned yet
	old    bool     // the master knows no offsets
	latest request  // that is arriving
	argv   [][]byte // of the request that was returned
}

// New returns the link of a connection that was just opened.
func New(o Options) *Link {
	l := &Link{Options: o}
	l.send("PING")
	return l
}

func (l *Link) send(args ...string) { l.out = resp.AppendRequest(l.out, args...) }

// Output returns what has to be sent to the master, once.
func (l *Link) Output() []byte {
	out := l.out
	l.out = nil
	return out
}

// Ack tells the master how much of the stream is executed, and how much of it is in the append only file on the disk,
// -1 without one (replication.c: replicationSendAck).
func (l *Link) Ack(offset, synced int64) {
	if l.old {
		return
	}
	if synced < 0 {
		l.send("REPLCONF", "ACK", strconv.FormatInt(offset, 10))
		return
	}
	l.send("REPLCONF", "ACK", strconv.FormatInt(offset, 10), "FACK", strconv.FormatInt(synced, 10))
}

// KeepAlive keeps the master from ending a link on which nothing else is sent, because a file is loaded
// (replication.c: replicationSendNewlineToMaster).
func (l *Link) KeepAlive() { l.out = append(l.out, '\n') }

// Unread is how many bytes wait for Next.
func (l *Link) Unread() int { return len(l.in) - l.next }

// Streams reports whether the handshake and the file are over.
func (l *Link) Streams() bool { return l.state == stream }

// Feed takes bytes of the master.
func (l *Link) Feed(b []byte) {
	if l.next == len(l.in) && cap(l.in) > keepRoom {
		l.in, l.next = nil, 0
	}
	if l.next > 0 {
		l.in = l.in[:copy(l.in, l.in[l.next:])]
		l.next = 0
	}
	l.in = append(l.in, b...)
}

// Next returns the next event. An error is a *Failure, and ends the link.
func (l *Link) Next() (Event, error) {
	for {
		switch l.state {
		case file:
			return l.piece(), nil
		case stream:
			return l.request()
		}
		line, ok, err := l.line()
		if err != nil || !ok {
			return Event{}, err
		}
		if e, err := l.reply(line); err != nil || e.Kind != None {
			return e, err
		}
	}
}

// line returns the next line, without its end.
func (l *Link) line() (line string, ok bool, err error) {
	rest := l.in[l.next:]
	end := bytes.IndexByte(rest[:min(len(rest), lineMost)], '\n')
	if end < 0 && len(rest) >= lineMost {
		return "", false, fail("Bad protocol from MASTER: a line has no end, and begins with %q", rest[:32])
	}
	if end < 0 {
		return "", false, nil
	}
	l.next += end + 1
	return strings.TrimSuffix(string(rest[:end]), "\r"), true, nil
}

// reply takes a line of the handshake.
func (l *Link) reply(line string) (Event, error) {
	switch l.state {
	case pong:
		return Event{}, l.introduce(line)
	case welcomes:
		return Event{}, l.welcome(line)
	case verdict:
		return l.decide(line)
	}
	return l.open(line)
}

// introduce says who this replica is. A master that wants a password answers PING with an error.
func (l *Link) introduce(line string) error {
	known := false
	for _, prefix := range [...]string{"+", "-NOAUTH", "-NOPERM", "-ERR operation not permitted"} {
		known = known || strings.HasPrefix(line, prefix)
	}
	if !known {
		return fail("Error reply to PING from master: '%s'", printable(line))
	}
	l.Log('*', "Master replied to PING, replication can continue...")
	switch {
	case l.Password != "" && l.User != "":
		l.ask("AUTH", "AUTH", l.User, l.Password)
	case l.Password != "":
		l.ask("AUTH", "AUTH", l.Password)
	}
	l.ask("listening-port", "REPLCONF", "listening-port", strconv.Itoa(l.Port))
	if l.AnnounceIP != "" {
		l.ask("ip-address", "REPLCONF", "ip-address", l.AnnounceIP)
	}
	l.ask("capa", "REPLCONF", "capa", "eof", "capa", "psync2")
	if l.Version != "" {
		l.ask("version", "REPLCONF", "version", l.Version)
	}
	l.state = welcomes
	return nil
}

func (l *Link) ask(what string, args ...string) {
	l.asked = append(l.asked, what)
	l.send(args...)
}

// welcome takes the reply to AUTH or REPLCONF. Old masters do not know all of REPLCONF.
func (l *Link) welcome(line string) error {
	what := l.asked[0]
	l.asked = l.asked[1:]
	switch refused := strings.HasPrefix(line, "-"); {
	case refused && what == "AUTH":
		return fail("Unable to AUTH to MASTER: %s", printable(line))
	case refused:
		l.Log('*', "(Non critical) Master does not understand REPLCONF %s: %s", what, printable(line))
	}
	if len(l.asked) == 0 {
		l.psync()
	}
	return nil
}

// psync asks for the stream after the bytes that this replica has.
func (l *Link) psync() {
	l.state = verdict
	if l.From.ID == "" {
		l.Log('*', "Partial resynchronization not possible (no cached master)")
		l.send("PSYNC", "?", "-1")
		return
	}
	next := strconv.FormatInt(l.From.Offset+1, 10)
	l.Log('*', "Trying a partial resynchronization (request %s:%s).", l.From.ID, next)
	if l.Failover {
		l.send("PSYNC", l.From.ID, next, "FAILOVER")
		return
	}
	l.send("PSYNC", l.From.ID, next)
}

// decide takes the reply to PSYNC. Before it the master may send empty lines, to keep the connection.
func (l *Link) decide(line string) (Event, error) {
	switch word, rest, _ := strings.Cut(line, " "); {
	case line == "":
		return Event{}, nil
	case word == "+FULLRESYNC":
		return l.fullSync(rest)
	case word == "+CONTINUE" && l.From.ID != "":
		return l.goOn(rest)
	case word == "-NOMASTERLINK", word == "-LOADING":
		return Event{}, refused('*', "Master is currently unable to PSYNC but should be in the future: %s", line)
	case l.Failover:
		return Event{}, refused('#', "Unexpected reply to PSYNC from master: %s", line)
	case word == "-ERR":
		l.Log('*', "Master does not support PSYNC or is in error state (reply: %s)", printable(line))
	default:
		l.Log('#', "Unexpected reply to PSYNC from master: %s", printable(line))
	}
	return l.sync(), nil
}

// sync asks for all data, and for a stream without offsets: the master is older than Redis 2.8.
func (l *Link) sync() Event {
	l.Log('*', "Retrying with SYNC...")
	l.out = append(l.out, "SYNC\r\n"...)
	l.at, l.old, l.state = Position{}, true, opening
	return Event{Kind: FullSync}
}

func refused(level byte, format, line string) error {
	return &Failure{level, fmt.Sprintf(format, printable(line)), true}
}

func (l *Link) fullSync(rest string) (Event, error) {
	id, offset, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(offset, 10, 64)
	if len(id) != idSize || err != nil || n < 0 {
		return Event{}, fail("Master replied with wrong +FULLRESYNC syntax.")
	}
	l.Log('*', "Full resync from master: %s:%d", id, n)
	l.at, l.state = Position{id, n}, opening
	return Event{Kind: FullSync, At: l.at}, nil
}

func (l *Link) goOn(id string) (Event, error) {
	l.Log('*', "Successful partial resynchronization with master.")
	l.at, l.state = l.From, stream
	if len(id) == idSize && id != l.From.ID {
		l.Log('*', "Master replication ID changed to %s", id)
		l.at.ID = id
	}
	return Event{Kind: Continues, At: l.at}, nil
}

// printable is what a master has said, fit for a line of the log.
func printable(line string) string {
	quoted := strconv.Quote(line[:min(len(line), 200)])
	return quoted[1 : len(quoted)-1]
}
