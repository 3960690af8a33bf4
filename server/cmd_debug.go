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

const manyArguments = 1 << 30

func (s *Server) debugCommands() []debugCommand {
	return []debugCommand{
		{"change-repl-id", "", "Does nothing: there is no replication.", 0, 0, debugOK},
		{"config-rewrite-force-all", "", "Rewrites the configuration file with every directive, defaults included.", 0, 0, s.debugRewrite},
		{"digest", "", "Answers with a hash of all keys and their values, the one that Redis computes.", 0, 0, debugDigest},
		{"digest-value", "[<key> ...]", "Answers with such a hash for the value of each key.", 0, manyArguments, debugDigestValue},
		{"error", "<text>", "Answers with that error.", 1, 1, debugError},
		{"htstats", "<dbid> [full]", "Describes the hash table that finds the keys of a database.", 1, 2, debugTable},
		{"htstats-key", "<key> [full]", "Describes the hash table of a value.", 1, 2, debugTableOfKey},
		{"jmap", "", "Does nothing.", 0, 0, debugOK},
		{"log", "<text>", "Writes a line into the log.", 1, 1, s.debugLog},
		{"object", "<key>", "Describes how a value is kept.", 1, 2, debugObject},
		{"pause-cron", "<0|1>", "Stops what the server does ten times a second, or goes on with it.", 1, 1, s.debugPauseCron},
		{"populate", "<count> [<prefix>] [<size>]", "Creates keys.", 1, 3, debugPopulate},
		{"protocol", "<type>", "Answers with a value of that type of the protocol.", 1, 1, debugProtocol},
		{"quicklist-packed-threshold", "<size>", "Gives list elements from that size on a node of their own; 0 stands for 1gb.", 1, 1, debugPackedThreshold},
		{"reload", "[MERGE] [NOFLUSH] [NOSAVE]", "Saves all keys and functions in memory, removes them, and loads them again.", 0, 3, s.debugReload},
		{"replybuffer", "<PEAK-RESET-TIME <NEVER|RESET|milliseconds>|RESIZING <0|1>>", "Does nothing: no client keeps a reply buffer that is empty.", 2, 2, debugReplyBuffer},
		{"set-active-expire", "<0|1>", "Stops removing keys that expire while nobody looks at them, or goes on with it.", 1, 1, s.debugActiveExpire},
		{"set-disable-deny-scripts", "<0|1>", "Lets scripts call commands that are not for scripts, or stops that.", 1, 1, debugDenyScripts},
		{"set-skip-checksum-validation", "<0|1>", "Has RESTORE take payloads whose checksum is wrong, or refuse them again.", 1, 1, debugSkipChecksum},
		{"sleep", "<seconds>", "Stops the server for that time.", 1, 1, debugSleep},
		{"stringmatch-len", "<length> <pattern>", "Matches a pattern against that many 'a'.", 2, 2, debugMatch},
		{"trace", "<START|STOP|DUMP path>", "Records what every thread does, or writes the recording to a file for Perfetto or chrome://tracing.", 1, 2, s.debugTrace},
	}
}

// DEBUG subcommand [argument ...] (debug.c: debugCommand)
func (s *Server) debug(c *command.Call) error {
	cmds := s.debugCommands()
	args := c.Args[2:]
	for i := range cmds {
		d := &cmds[i]
		if is(c.Args[1], d.name) && len(args) >= d.least && len(args) <= d.most {
			return d.do(c, args)
		}
	}
	if why := debugRefusal(c.Args[1]); why != "" {
		return store.Error("ERR DEBUG " + strings.ToUpper(string(c.Args[1])) + " is not supported: " + why)
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

// debugRefusal is why a subcommand of Redis does not exist here, "" for what Redis does not know.
func debugRefusal(name []byte) string {
	switch strings.ToLower(string(name)) {
	case "loadaof", "aof-flush-sleep":
		return "there is no append only file"
	case "replicate":
		return "there is no replication"
	case "drop-cluster-packet-filter", "clusterlink":
		return "there is no cluster"
	case "segfault", "panic", "assert", "oom", "leak":
		return "the server does not crash on demand"
	case "restart", "crash-and-recover":
		return "the server does not start itself again"
	case "mallctl", "mallctl-str", "sdslen", "structsize", "listpack", "quicklist":
		return "memory is not laid out as in Redis"
	case "stringmatch-test":
		return "the matcher is tested elsewhere"
	}
	return ""
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

func (s *Server) debugRewrite(c *command.Call, _ [][]byte) error {
	return s.rewrite(c, s.cfg.RewriteAll)
}

func (s *Server) debugPauseCron(c *command.Call, args [][]byte) error {
	s.cronPaused = debugSwitch(args[0])
	if s.terminating && !s.cronPaused {
		s.loop.Stop()
	}
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

// debugSwitch is the argument of a subcommand that turns something on or off: C's atoi.
func debugSwitch(arg []byte) bool {
	digits := strings.TrimLeft(string(arg), "+-0")
	return digits != "" && '1' <= digits[0] && digits[0] <= '9'
}

func (s *Server) debugActiveExpire(c *command.Call, args [][]byte) error {
	s.noExpire = !debugSwitch(args[0])
	c.OK()
	return nil
}

func debugDenyScripts(c *command.Call, args [][]byte) error {
	c.Ex.AllInScripts = debugSwitch(args[0])
	c.OK()
	return nil
}

func debugSkipChecksum(c *command.Call, args [][]byte) error {
	c.Ex.AnyChecksum = debugSwitch(args[0])
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
