package server

import (
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/store"
)

// debugCommand is a subcommand of DEBUG, which the table of commands does not
// list, as Redis's does not.
type debugCommand struct {
	name, syntax, summary string
	least, most           int // arguments behind the name
	do                    func(c *command.Call, args [][]byte) error
}

func (s *Server) debugCommands() []debugCommand {
	return []debugCommand{
		{"change-repl-id", "", "Does nothing: there is no replication.", 0, 0, debugOK},
		{"error", "<text>", "Answers with that error.", 1, 1, debugError},
		{"jmap", "", "Does nothing.", 0, 0, debugOK},
		{"log", "<text>", "Writes a line into the log.", 1, 1, s.debugLog},
		{"object", "<key>", "Describes how a value is kept.", 1, 2, debugObject},
		{"pause-cron", "<0|1>", "Stops what the server does ten times a second, or goes on with it.", 1, 1, s.debugPauseCron},
		{"populate", "<count> [<prefix>] [<size>]", "Creates keys.", 1, 3, debugPopulate},
		{"protocol", "<type>", "Answers with a value of that type of the protocol.", 1, 1, debugProtocol},
		{"replybuffer", "<PEAK-RESET-TIME <NEVER|RESET|milliseconds>|RESIZING <0|1>>", "Does nothing: no client keeps a reply buffer that is empty.", 2, 2, debugReplyBuffer},
		{"quicklist-packed-threshold", "<size>", "Does nothing: no list node is of that kind.", 1, 1, debugOK},
		{"set-active-expire", "<0|1>", "Stops removing keys that expire while nobody looks at them, or goes on with it.", 1, 1, s.debugActiveExpire},
		{"sleep", "<seconds>", "Stops the server for that time.", 1, 1, debugSleep},
		{"stringmatch-len", "<length> <pattern>", "Matches a pattern against that many 'a'.", 2, 2, debugMatch},
		{"trace", "<START|STOP|DUMP path>", "Records what every thread does, or writes the recording to a file for Perfetto or chrome://tracing.", 1, 2, s.debugTrace},
	}
}

func (s *Server) debug(c *command.Call) error {
	cmds := s.debugCommands()
	args := c.Args[2:]
	for i := range cmds {
		d := &cmds[i]
		if is(c.Args[1], d.name) && len(args) >= d.least && len(args) <= d.most {
			return d.do(c, args)
		}
	}
	if !is(c.Args[1], "help") || len(args) > 0 {
		return c.SubcommandSyntax()
	}
	c.Array(2*len(cmds) + 1)
	c.Status("DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, d := range cmds {
		c.Status(strings.TrimSuffix(strings.ToUpper(d.name)+" "+d.syntax, " "))
		c.Status("    " + d.summary)
	}
	return nil
}

func debugOK(c *command.Call, _ [][]byte) error {
	c.OK()
	return nil
}

// debugError is for tests of how a client tells errors apart.
func debugError(c *command.Call, args [][]byte) error {
	return store.Error(strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' { // the reply is one line
			return ' '
		}
		return r
	}, string(args[0])))
}

func (s *Server) debugLog(c *command.Call, args [][]byte) error {
	s.log('#', "DEBUG LOG: %s", args[0])
	c.OK()
	return nil
}

// debugSleep stops everything, as a command that takes that long would.
func debugSleep(c *command.Call, args [][]byte) error {
	seconds, _ := strconv.ParseFloat(string(args[0]), 64)
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	c.OK()
	return nil
}

func (s *Server) debugPauseCron(c *command.Call, args [][]byte) error {
	s.cronPaused = string(args[0]) != "0"
	c.OK()
	return nil
}

func debugReplyBuffer(c *command.Call, args [][]byte) error {
	if !is(args[0], "peak-reset-time") && !is(args[0], "resizing") {
		return c.SubcommandSyntax()
	}
	c.OK()
	return nil
}

func (s *Server) debugActiveExpire(c *command.Call, args [][]byte) error {
	s.noExpire = string(args[0]) == "0"
	c.OK()
	return nil
}

func debugObject(c *command.Call, args [][]byte) error {
	encoding, ok := c.DB.Encoding(args[0])
	if !ok {
		return store.Error("ERR no such key")
	}
	size, _ := c.DB.MemUsage(args[0])
	idle, _ := c.DB.IdleTime(args[0])
	c.Status("Value at:0x0 refcount:1 encoding:" + encoding + " serializedlength:" + strconv.Itoa(size) +
		" lru:" + strconv.FormatInt((c.Now/1000-idle)&0xffffff, 10) + " lru_seconds_idle:" + strconv.FormatInt(idle, 10))
	return nil
}

// debugPopulate leaves keys alone that are there already.
func debugPopulate(c *command.Call, args [][]byte) error {
	count, ok := store.ParseInt(args[0])
	if !ok || count < 0 {
		return errPositive
	}
	prefix, size := "key", int64(0)
	if len(args) > 1 {
		prefix = string(args[1])
	}
	if len(args) > 2 {
		if size, ok = store.ParseInt(args[2]); !ok || size < 0 {
			return errPositive
		}
	}
	for i := range count {
		n := strconv.FormatInt(i, 10)
		key := []byte(prefix + ":" + n)
		if c.DB.Exists(key) {
			continue
		}
		val := []byte("value:" + n)
		if size > 0 {
			sized := make([]byte, size)
			copy(sized, val)
			val = sized
		}
		c.DB.SetStr(key, val, false)
		c.Touched(key)
	}
	c.OK()
	return nil
}

func debugMatch(c *command.Call, args [][]byte) error {
	n, ok := store.ParseInt(args[0])
	if !ok || n < 0 || n > 1<<29 {
		return errPositive
	}
	c.Bool(store.Match(args[1], []byte(strings.Repeat("a", int(n))), false))
	return nil
}

func debugProtocol(c *command.Call, args [][]byte) error {
	three := func() {
		for i := range 3 {
			c.Int(int64(i))
		}
	}
	switch kind := strings.ToLower(string(args[0])); kind {
	case "string":
		c.BulkString("Hello World")
	case "integer":
		c.Int(12345)
	case "double":
		c.Double(3.141)
	case "null":
		c.Null()
	case "array":
		c.Array(3)
		three()
	case "set":
		c.Set(3)
		three()
	case "map":
		c.Map(3)
		for i := range 3 {
			c.Int(int64(i))
			c.Bool(i == 1)
		}
	case "attrib":
		if c.Sess.Proto > 2 {
			c.Attribute(1)
			c.BulkString("key-popularity")
			c.Array(2)
			c.BulkString("key:123")
			c.Int(90)
		}
		c.BulkString("Some real reply following the attribute")
	case "push":
		if c.Sess.Proto < 3 {
			return store.Error("ERR RESP2 is not supported by this command")
		}
		c.Push(2)
		c.BulkString("server-cpu-usage")
		c.Int(42)
		c.BulkString("Some real reply following the push reply")
	case "bignum":
		c.BigNumber("1234567999999999999999999999999999999")
	case "verbatim":
		c.Verbatim("txt", "This is a verbatim\nstring")
	case "true", "false":
		c.Bool(kind == "true")
	default:
		return store.Error("ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false")
	}
	return nil
}
