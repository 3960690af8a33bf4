package follow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	idA   = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	idB   = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	eofAt = "0123456789012345678901234567890123456789"
)

// replica is a link with what it has logged, and what its events were, as text.
type replica struct {
	*Link
	log  []string
	said []string
	sent string
	raw  []byte // the same
	file string
	err  error
}

func begin(o Options) *replica {
	r := &replica{}
	o.Log = func(_ byte, format string, args ...any) { r.log = append(r.log, fmt.Sprintf(format, args...)) }
	if o.MaxRequest == 0 {
		o.MaxRequest = 1 << 20
	}
	r.Link = New(o)
	r.sent = words(r.Output())
	return r
}

// words shows requests as words, one request a line.
func words(b []byte) string {
	var lines []string
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\r\n"), "\r\n") {
		switch {
		case line == "" || line[0] == '$':
		case line[0] == '*', len(lines) == 0: // SYNC has no count of words
			lines = append(lines, strings.TrimLeft(line, "*0123456789"))
		default:
			lines[len(lines)-1] = strings.TrimSpace(lines[len(lines)-1] + " " + line)
		}
	}
	return strings.Join(lines, "\n")
}

// hears feeds bytes and takes all events.
func (r *replica) hears(b string) {
	r.sent = ""
	r.Feed([]byte(b))
	for r.err == nil {
		e, err := r.Next()
		r.err = err
		if err != nil || e.Kind == None {
			break
		}
		switch e.Kind {
		case FullSync:
			r.say("full sync %s:%d", e.At.ID, e.At.Offset)
		case Continues:
			r.say("continues %s:%d", e.At.ID, e.At.Offset)
		case FileBegin:
			r.say("file of %d", e.Size)
		case FileData:
			r.file += string(e.Data)
		case FileEnd:
			r.say("end of file")
		case Request:
			r.say("%s at %d", joined(e.Args), e.At.Offset)
		}
	}
	r.raw = r.Output()
	r.sent = words(r.raw)
}

func (r *replica) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func joined(args [][]byte) string {
	var all []string
	for _, a := range args {
		all = append(all, string(a))
	}
	return strings.Join(all, " ")
}

func TestTheHandshakeSaysWhoTheReplicaIs(t *testing.T) {
	for _, test := range []struct {
		options Options
		greets  string
		replies int
		asks    string
	}{
		{Options{Port: 6380}, "REPLCONF listening-port 6380\nREPLCONF capa eof capa psync2", 2, "PSYNC ? -1"},
		{Options{Port: 6380, Password: "p"},
			"AUTH p\nREPLCONF listening-port 6380\nREPLCONF capa eof capa psync2", 3, "PSYNC ? -1"},
		{Options{Port: 1, User: "u", Password: "p", AnnounceIP: "10.0.0.5", From: Position{idA, 99}},
			"AUTH u p\nREPLCONF listening-port 1\nREPLCONF ip-address 10.0.0.5\nREPLCONF capa eof capa psync2", 4,
			"PSYNC " + idA + " 100"},
		{Options{Port: 6380, Version: "9.1.2"},
			"REPLCONF listening-port 6380\nREPLCONF capa eof capa psync2\nREPLCONF version 9.1.2", 3, "PSYNC ? -1"},
		{Options{Port: 1, User: "u"}, "REPLCONF listening-port 1\nREPLCONF capa eof capa psync2", 2, "PSYNC ? -1"},
	} {
		r := begin(test.options)
		require.Equal(t, "PING", r.sent)
		r.hears("+PONG\r\n")
		require.Equal(t, test.greets, r.sent)
		for range test.replies - 1 {
			r.hears("+OK\r\n")
			require.Empty(t, r.sent)
		}
		r.hears("+OK\r\n")
		require.Equal(t, test.asks, r.sent)
		require.NoError(t, r.err)
		for _, line := range r.log {
			require.NotContains(t, line, "AUTH")
		}
	}
}

// shaken returns a link that waits for the reply to PSYNC.
func shaken(from Position) *replica {
	r := begin(Options{Port: 6380, From: from})
	r.hears("+PONG\r\n+OK\r\n+OK\r\n")
	return r
}

func TestAMasterThatWantsAPasswordIsToldOne(t *testing.T) {
	for _, reply := range []string{"-NOAUTH Authentication required.", "-NOPERM this", "-ERR operation not permitted"} {
		r := begin(Options{Password: "p"})
		r.hears(reply + "\r\n")
		require.NoError(t, r.err)
		require.True(t, strings.HasPrefix(r.sent, "AUTH p\n"), r.sent)
	}
}

func TestAFullSyncBringsAFileAndThenTheStream(t *testing.T) {
	for name, file := range map[string]string{
		"with its length": "$9\r\nREDIS\n\x00\xff!",
		"with a mark":     "$EOF:" + eofAt + "\r\nREDIS\n\x00\xff!" + eofAt,
	} {
		t.Run(name, func(t *testing.T) {
			r := shaken(Position{})
			r.hears("\n\n+FULLRESYNC " + idA + " 100\r\n\n" + file +
				"*1\r\n$4\r\nPING\r\n\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n")
			require.NoError(t, r.err)
			require.Equal(t, "REDIS\n\x00\xff!", r.file)
			size := 9
			if name == "with a mark" {
				size = -1
			}
			require.Equal(t, []string{"full sync " + idA + ":100", fmt.Sprintf("file of %d", size), "end of file",
				"PING at 114", " at 115", "DEL k at 135"}, r.said)
		})
	}
}

func TestAPartialSyncContinuesBehindTheLastByte(t *testing.T) {
	for reply, id := range map[string]string{"+CONTINUE\r\n": idA, "+CONTINUE " + idB + "\r\n": idB} {
		r := shaken(Position{idA, 100})
		r.hears(reply + "*1\r\n$4\r\nPING\r\n")
		require.NoError(t, r.err)
		require.Equal(t, []string{"continues " + id + ":100", "PING at 114"}, r.said)
	}
}

func TestAcknowledgementsAndSignsOfLifeAreSent(t *testing.T) {
	r := shaken(Position{})
	r.Ack(77, -1)
	require.Equal(t, "REPLCONF ACK 77", words(r.Output()))
	r.Ack(77, 55)
	require.Equal(t, "REPLCONF ACK 77 FACK 55", words(r.Output()))
	r.KeepAlive()
	require.Equal(t, "\n", string(r.Output()))
	require.Empty(t, r.Output())
}

// A master of before Redis 2.8 does not know PSYNC. It sends all data, and a stream that nobody acknowledges.
func TestAnOldMasterIsAskedForSync(t *testing.T) {
	r := begin(Options{From: Position{idA, 99}})
	r.hears("+PONG\r\n-ERR unknown\r\n-ERR unknown\r\n-ERR unknown command 'PSYNC'\r\n")
	require.NoError(t, r.err)
	require.True(t, strings.HasSuffix(string(r.raw), "\r\nSYNC\r\n"), "%q", r.raw)
	r.hears("\n$3\r\nabc*1\r\n$4\r\nPING\r\n")
	require.NoError(t, r.err)
	require.Equal(t, []string{"full sync :0", "file of 3", "end of file", "PING at 14"}, r.said)
	r.Ack(77, -1)
	require.Empty(t, r.Output())
}

// What refuses a failover is not asked for anything else.
func TestATargetThatRefusesAFailoverIsLeft(t *testing.T) {
	for _, reply := range []string{"-ERR PSYNC FAILOVER replid must match my replid.", "-NOMASTERLINK", "+WHAT"} {
		r := begin(Options{From: Position{idA, 99}, Failover: true})
		r.hears("+PONG\r\n+OK\r\n+OK\r\n")
		require.True(t, strings.HasSuffix(r.sent, "\nPSYNC "+idA+" 100 FAILOVER"), r.sent)
		r.hears(reply + "\r\n")
		var failure *Failure
		require.ErrorAs(t, r.err, &failure)
		require.True(t, failure.Refused)
	}
}

// Each of these ends the link, with a line for the log.
func TestAMasterThatIsNoneEndsTheLink(t *testing.T) {
	handshake := "+PONG\r\n+OK\r\n+OK\r\n"
	full := handshake + "+FULLRESYNC " + idA + " 0\r\n"
	stream := full + "$1\r\nx"
	for what, why := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n":                  "Error reply to PING from master: 'HTTP/1.1 400 Bad Request'",
		"-ERR unknown command\r\n":                      "Error reply to PING",
		strings.Repeat("x", 2000):                       "a line has no end",
		"\x16\x03\x01\x02\n":                            `Error reply to PING from master: '\x16\x03\x01\x02'`,
		handshake + "+WHAT\r\n+WHAT\r\n":                "the first byte is not '$' (we received '+WHAT')",
		handshake + "+CONTINUE\r\n+OK\r\n":              "the first byte is not '$' (we received '+OK')",
		handshake + "+FULLRESYNC x 1\r\n":               "wrong +FULLRESYNC syntax",
		handshake + "+FULLRESYNC " + idA + " -1\r\n":    "wrong +FULLRESYNC syntax",
		handshake + "+FULLRESYNC " + idA + "\r\n":       "wrong +FULLRESYNC syntax",
		handshake + "-NOMASTERLINK Can't SYNC\r\n":      "Master is currently unable to PSYNC",
		handshake + "-LOADING x\r\n":                    "Master is currently unable to PSYNC",
		handshake + "-ERR no PSYNC\r\n-ERR no SYNC\r\n": "MASTER aborted replication with an error: ERR no SYNC",
		full + "-ERR disk full\r\n":                     "MASTER aborted replication with an error: ERR disk full",
		full + "hello\r\n":                              "the first byte is not '$' (we received 'hello')",
		full + "$-5\r\n":                                "the length of the file is '-5'",
		full + "$0\r\n":                                 "the length of the file is '0'",
		full + "$99999999999999999999\r\n":              "the length of the file",
		full + "$EOF:short\r\n":                         "the length of the file is 'EOF:short'",
		stream + "*99999999\r\n":                        "invalid multibulk length",
		stream + "*1\r\n$-1\r\n":                        "invalid bulk length",
		stream + "*1\r\n$99999999999\r\n":               "invalid bulk length",
		stream + "*1\r\nfoo\r\n":                        "expected '$' and a number, got 'foo'",
		stream + "*x\r\n":                               "expected '*' and a number, got '*x'",
		stream + "*" + strings.Repeat("1", 40) + "\r\n": "too big count string",
		stream + strings.Repeat("y", 70000):             "too big inline request",
		stream + "\r\n\nSET k v\r\n":                    "Receiving inline protocol from master",
	} {
		r := begin(Options{})
		r.hears(what)
		require.ErrorContains(t, r.err, why, "%.60q", what)
	}
	r := begin(Options{Password: "wrong"})
	r.hears("-NOAUTH\r\n-WRONGPASS invalid\r\n")
	require.ErrorContains(t, r.err, "Unable to AUTH to MASTER: -WRONGPASS invalid")
}

// A link holds no more than what has come, and nothing of what is done.
func TestALinkHoldsNoMoreThanOneRequest(t *testing.T) {
	r := shaken(Position{idA, 0})
	r.hears("+CONTINUE\r\n")
	request := "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000\r\n" + strings.Repeat("v", 1000) + "\r\n"
	for range 10_000 {
		r.hears(request)
	}
	require.NoError(t, r.err)
	require.Len(t, r.said, 10_001)
	require.Less(t, cap(r.in), 1<<16)
	r.hears("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n")
	require.Less(t, cap(r.in), 1<<16, "no memory for bytes that have not come")
}

// FuzzLink feeds any bytes. What they mean does not depend on the pieces in which they come.
func FuzzLink(f *testing.F) {
	handshake := "+PONG\r\n+OK\r\n+OK\r\n"
	f.Add(handshake+"+FULLRESYNC "+idA+" 5\r\n$3\r\nabc*1\r\n$4\r\nPING\r\n", uint8(3))
	f.Add(handshake+"+FULLRESYNC "+idA+" 5\r\n$EOF:"+eofAt+"\r\nabc"+eofAt+"*1\r\n$4\r\nPING\r\n", uint8(7))
	f.Add(handshake+"+CONTINUE "+idB+"\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n\nPING\r\n*0\r\n", uint8(1))
	f.Add("-NOAUTH\r\n", uint8(2))
	f.Fuzz(func(t *testing.T, bytes string, size uint8) {
		o := Options{From: Position{idA, 9}, MaxRequest: 1 << 16}
		whole, pieces := begin(o), begin(o)
		whole.hears(bytes)
		for rest := bytes; rest != ""; {
			n := min(int(size)+1, len(rest))
			pieces.hears(rest[:n])
			rest = rest[n:]
		}
		require.Equal(t, whole.said, pieces.said)
		require.Equal(t, whole.file, pieces.file)
		require.Equal(t, whole.err == nil, pieces.err == nil)
		require.LessOrEqual(t, len(pieces.in), len(bytes))
	})
}
