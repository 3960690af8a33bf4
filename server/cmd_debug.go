package server

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

func (a *Admin) debugCommands() []DebugCommand {
	return []DebugCommand{
		{"config-rewrite-force-all", "",
			"Rewrites the configuration file with all directives, including defaults.", 0, 0, a.rewriteAll},
		{"digest", "",
			"Returns a hash of all keys and values, the same one as Redis.", 0, 0, debugDigest},
		{"digest-value", "[<key> ...]",
			"Returns such a hash for the value of each key.", 0, ManyArguments, debugDigestValue},
		{"error", "<text>",
			"Returns the text as an error.", 1, 1, debugError},
		{"htstats", "<dbid> [full]",
			"Describes the hash table for the keys of a database.", 1, 2, debugTable},
		{"htstats-key", "<key> [full]",
			"Describes the hash table of a value.", 1, 2, debugTableOfKey},
		{"log", "<text>",
			"Writes a line to the log.", 1, 1, a.debugLog},
		{"object", "<key>",
			"Describes how a value is stored.", 1, 2, debugObject},
		{"pause-cron", "<0|1>",
			"Stops or continues the periodic tasks of the server.", 1, 1, a.pauseCron},
		{"populate", "<count> [<prefix>] [<size>]",
			"Creates string keys.", 1, 3, debugPopulate},
		{"protocol", "<type>",
			"Returns a value of that RESP type.", 1, 1, debugProtocol},
		{"quicklist-packed-threshold", "<size>",
			"Puts list elements of at least this size into nodes of their own; 0 means 1gb.", 1, 1, debugPackedThreshold},
		{"replybuffer", "<PEAK-RESET-TIME <NEVER|RESET|milliseconds>|RESIZING <0|1>>",
			"Does nothing: idle clients have no reply buffer.", 2, 2, debugReplyBuffer},
		{"set-active-expire", "<0|1>",
			"Stops or continues the deletion of expired keys that no command accesses.", 1, 1, a.activeExpire},
		{"set-disable-deny-scripts", "<0|1>",
			"Allows or denies in scripts commands that are not for scripts.", 1, 1, debugDenyScripts},
		{"set-skip-checksum-validation", "<0|1>",
			"Makes RESTORE accept or refuse payloads with a wrong checksum.", 1, 1, debugSkipChecksum},
		{"sleep", "<seconds>",
			"Blocks the server for some seconds.", 1, 1, debugSleep},
		{"stringmatch-len", "<length> <pattern>",
			"Matches a pattern against a string of that many 'a'.", 2, 2, debugMatch},
		{"trace", "<START|STOP|DUMP path>",
			"Records what each thread does. DUMP writes a file for Perfetto or chrome://tracing.", 1, 2, a.s.Recorder.debug},
	}
}

// DEBUG subcommand [argument ...] (debug.c: debugCommand)
func (a *Admin) debug(c *command.Call) error {
	cmds := a.s.Parts.debug
	args := c.Args[2:]
	for i := range cmds {
		d := &cmds[i]
		if Is(c.Args[1], d.Name) && len(args) >= d.Least && len(args) <= d.Most {
			return d.Do(c, args)
		}
	}
	if why := debugRefusal(c.Args[1]); why != "" {
		return store.Error("ERR DEBUG " + strings.ToUpper(string(c.Args[1])) + " is not supported: " + why)
	}
	if !Is(c.Args[1], "help") || len(args) > 0 {
		return c.SubcommandSyntax()
	}
	c.Array(2*len(cmds) + 1)
	c.Status("DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	byName := func(x, y DebugCommand) int { return strings.Compare(x.Name, y.Name) }
	for _, d := range slices.SortedFunc(slices.Values(cmds), byName) {
		c.Status(strings.TrimSuffix(strings.ToUpper(d.Name)+" "+d.Syntax, " "))
		c.Status("    " + d.Summary)
	}
	return nil
}

// debugRefusal returns the reason why a subcommand of Redis is missing here, or "" for an unknown
// name.
func debugRefusal(name []byte) string {
	switch ascii.ToLower(string(name)) {
	case "drop-cluster-packet-filter", "clusterlink":
		return "there is no cluster"
	case "segfault", "panic", "assert", "oom", "leak":
		return "the server does not crash on demand"
	case "restart", "crash-and-recover":
		return "the server does not start itself again"
	case "client-eviction":
		return "clients are not in the buckets of Redis"
	case "mallctl", "mallctl-str", "sdslen", "structsize", "listpack", "quicklist":
		return "memory is not laid out as in Redis"
	case "stringmatch-test":
		return "the matcher is tested elsewhere"
	}
	return ""
}

// debugError lets clients test how they handle errors.
func debugError(c *command.Call, args [][]byte) error {
	return store.Error(strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' { // an error is one line
			return ' '
		}
		return r
	}, string(args[0])))
}

func (a *Admin) debugLog(c *command.Call, args [][]byte) error {
	a.s.Log('#', "DEBUG LOG: %s", args[0])
	c.OK()
	return nil
}

// debugSleep blocks the server, as a slow command does.
func debugSleep(c *command.Call, args [][]byte) error {
	seconds, _ := strconv.ParseFloat(string(args[0]), 64)
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	c.OK()
	return nil
}

func (a *Admin) rewriteAll(c *command.Call, _ [][]byte) error {
	return a.rewrite(c, a.s.Cfg.RewriteAll)
}

func (a *Admin) pauseCron(c *command.Call, args [][]byte) error {
	a.s.Debugging.CronPaused = debugSwitch(args[0])
	c.OK()
	return nil
}

func debugReplyBuffer(c *command.Call, args [][]byte) error {
	if !Is(args[0], "peak-reset-time") && !Is(args[0], "resizing") {
		return c.SubcommandSyntax()
	}
	c.OK()
	return nil
}

// debugSwitch parses the argument 0 or 1 as C's atoi does.
func debugSwitch(arg []byte) bool {
	digits := strings.TrimLeft(string(arg), "+-0")
	return digits != "" && '1' <= digits[0] && digits[0] <= '9'
}

func (a *Admin) activeExpire(c *command.Call, args [][]byte) error {
	a.s.Debugging.NoExpire = !debugSwitch(args[0])
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
	n, ok := ascii.ParseInt(args[0])
	if !ok || n < 0 || n > 1<<29 {
		return errPositive
	}
	c.Bool(store.Match(args[1], []byte(strings.Repeat("a", int(n))), false))
	return nil
}
