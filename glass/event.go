package glass

import (
	"strconv"
)

// Point is a place in the loop of the server, as events name it.
type Point byte

// The points, in the order of a pass. points says where each is in the source.
const (
	Woke     Point = 'w' // A descriptors fired, B us slept
	Handler  Point = 'h' // A index in the array, B descriptor
	Accepted Point = 'a' // A descriptor
	Gathered Point = 'g' // A clients found, B us waited
	Lent     Point = 't' // A clients
	Joined   Point = 'j' // A clients
	ReadDone Point = 'r' // A bytes, 0 for the end of input, or a negative errno; B bytes left in the socket
	Parsed   Point = 'p' // A commands found, B bytes left
	Executes Point = 'x' // A number of the request, B one of ByClient and its like
	Replied  Point = 'y' // A bytes appended, B one of ReplyOK and its like
	Expired  Point = 'e' // A keys
	Written  Point = 'o' // A bytes or a negative errno, B bytes left
	Closed   Point = 'c' // A descriptor
	Asleep   Point = 's' // A timeout in ms or -1, B commands of this pass
)

// Who asks for a command: B of Executes.
const (
	ByClient = iota
	ByExec
	ByScript
	Internally // LAB over HTTP, or another master
	AfterWait  // a command that was blocked or held runs now
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

// appendEvent appends e as JSON: [seq,pass,"r",thread,client,us,dur,a,b,"text"].
func (w *Watch) appendEvent(b []byte, e *Event) []byte { return e.append(b, w.born) }

// append appends e as JSON, its time counted from born.
func (e *Event) append(b []byte, born int64) []byte {
	b = strconv.AppendInt(append(b, '['), e.Seq, 10)
	b = strconv.AppendInt(append(b, ','), e.Pass, 10)
	b = append(b, ',', '"', byte(e.Point), '"', ',')
	b = strconv.AppendInt(b, int64(e.Thread), 10)
	b = strconv.AppendInt(append(b, ','), e.Client, 10)
	b = strconv.AppendInt(append(b, ','), (e.At-born)/1000, 10)
	b = appendMicros(append(b, ','), e.Dur)
	b = strconv.AppendInt(append(b, ','), e.A, 10)
	b = strconv.AppendInt(append(b, ','), e.B, 10)
	b = appendText(append(b, ','), e.Text)
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

// appendText appends text as a string of JSON. It is printable ASCII: Escape made it.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '?')
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Bytes shown of a read or a reply, and of a command.
const (
	shownBytes   = 128
	shownCommand = 256
)

// Shown returns the first bytes of a read or a reply, escaped as redis-cli does.
func Shown(data []byte) string {
	return string(appendEscaped(nil, data[:min(len(data), shownBytes)]))
}

func appendEscaped(b, data []byte) []byte {
	const hex = "0123456789abcdef"
	for _, c := range data {
		switch {
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// Command returns the words of a command as one types them in redis-cli, at most 256 bytes.
func Command(args [][]byte) string {
	var b []byte
	for i, arg := range args {
		if len(b) >= shownCommand {
			break
		}
		if i > 0 {
			b = append(b, ' ')
		}
		arg = arg[:min(len(arg), shownCommand)]
		if isPlain(arg) {
			b = append(b, arg...)
		} else {
			b = append(appendEscaped(append(b, '"'), arg), '"')
		}
	}
	return string(b[:min(len(b), shownCommand)])
}

// isPlain reports whether redis-cli needs no quotes for a word.
func isPlain(arg []byte) bool {
	for _, c := range arg {
		if c <= ' ' || c > '~' || c == '"' || c == '\'' || c == '\\' {
			return false
		}
	}
	return len(arg) > 0
}

// Partial returns bytes that are no complete command yet, with a blank for each end of a line:
// *3 $3 SET $6 lock:_
func Partial(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	b := make([]byte, 0, shownBytes)
	for i := 0; i < len(data) && len(b) < shownBytes; i++ {
		switch c := data[i]; {
		case c == '\r' && i+1 < len(data) && data[i+1] == '\n':
			b = append(b, ' ')
			i++
		default:
			b = appendEscaped(b, data[i:i+1])
		}
	}
	return string(append(b, '_'))
}

// Place says where a point is in the source, and in Redis's.
type Place struct {
	Name string `json:"name"`
	Go   string `json:"go"`
	File string `json:"file"`
	C    string `json:"c"`
}

func points() map[string]Place {
	return map[string]Place{
		"w": {"woke", "reactor.Loop.pass", "reactor/reactor.go", "ae.c: aeProcessEvents"},
		"h": {"handler", "reactor.Loop.handle", "reactor/reactor.go", "ae.c: aeProcessEvents"},
		"a": {"accepted", "server.Server.adopt", "server/client.go", "networking.c: acceptCommonHandler"},
		"g": {"gather", "server.Server.gather", "server/gather.go", ""},
		"t": {"lend", "ioworkers.Pool.share", "ioworkers/threads.go",
			"networking.c: handleClientsWithPendingReadsUsingThreads"},
		"j": {"join", "ioworkers.Pool.share", "ioworkers/threads.go",
			"networking.c: handleClientsWithPendingReadsUsingThreads"},
		"r": {"read", "ioworkers.Conn.Read", "ioworkers/conn.go", "networking.c: readQueryFromClient"},
		"p": {"parsed", "ioworkers.Conn.Parse", "ioworkers/conn.go", "networking.c: processInputBuffer"},
		"x": {"execute", "command.Executor.Do", "command/executor.go", "server.c: processCommand"},
		"y": {"replied", "command.Executor.Do", "command/executor.go", "server.c: call"},
		"e": {"expired", "server.Server.expire", "server/pass.go", "expire.c: activeExpireCycle"},
		"o": {"written", "ioworkers.Conn.Write", "ioworkers/output.go", "networking.c: writeToClient"},
		"c": {"closed", "server.Server.free", "server/client.go", "networking.c: freeClient"},
		"s": {"asleep", "server.Server.sleep", "server/pass.go", "server.c: beforeSleep"},
	}
}
