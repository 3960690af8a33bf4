package admin

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

func (a *State) debugCommands() []server.DebugCommand {
	return []server.DebugCommand{
		{Name: "config-rewrite-force-all", Do: a.rewriteAll,
			Summary: "Rewrites the configuration file with all directives, including defaults."},
		{Name: "digest", Do: debugDigest,
			Summary: "Returns a hash of all keys and values, the same one as Redis."},
		{Name: "digest-value", Syntax: "[<key> ...]", Most: server.ManyArguments, Do: debugDigestValue,
			Summary: "Returns such a hash for the value of each key."},
		{Name: "error", Syntax: "<text>", Least: 1, Most: 1, Do: debugError,
			Summary: "Returns the text as an error."},
		{Name: "htstats", Syntax: "<dbid> [full]", Least: 1, Most: 2, Do: debugTable,
			Summary: "Describes the hash table for the keys of a database."},
		{Name: "htstats-key", Syntax: "<key> [full]", Least: 1, Most: 2, Do: debugTableOfKey,
			Summary: "Describes the hash table of a value."},
		{Name: "log", Syntax: "<text>", Least: 1, Most: 1, Do: a.debugLog,
			Summary: "Writes a line to the log."},
		{Name: "object", Syntax: "<key>", Least: 1, Most: 2, Do: debugObject,
			Summary: "Describes how a value is stored."},
		{Name: "pause-cron", Syntax: "<0|1>", Least: 1, Most: 1, Do: a.pauseCron,
			Summary: "Stops or continues the periodic tasks of the server."},
		{Name: "populate", Syntax: "<count> [<prefix>] [<size>]", Least: 1, Most: 3, Do: debugPopulate,
			Summary: "Creates string keys."},
		{Name: "protocol", Syntax: "<type>", Least: 1, Most: 1, Do: debugProtocol,
			Summary: "Returns a value of that RESP type."},
		{Name: "quicklist-packed-threshold", Syntax: "<size>", Least: 1, Most: 1, Do: debugPackedThreshold,
			Summary: "Puts list elements of at least this size into nodes of their own; 0 means 1gb."},
		{Name: "replybuffer", Syntax: "<PEAK-RESET-TIME <NEVER|RESET|milliseconds>|RESIZING <0|1>>",
			Least: 2, Most: 2, Do: debugReplyBuffer, Summary: "Does nothing: idle clients have no reply buffer."},
		{Name: "set-active-expire", Syntax: "<0|1>", Least: 1, Most: 1, Do: a.activeExpire,
			Summary: "Stops or continues the deletion of expired keys that no command accesses."},
		{Name: "set-disable-deny-scripts", Syntax: "<0|1>", Least: 1, Most: 1, Do: debugDenyScripts,
			Summary: "Allows or denies in scripts commands that are not for scripts."},
		{Name: "set-skip-checksum-validation", Syntax: "<0|1>", Least: 1, Most: 1, Do: debugSkipChecksum,
			Summary: "Makes RESTORE accept or refuse payloads with a wrong checksum."},
		{Name: "sleep", Syntax: "<seconds>", Least: 1, Most: 1, Do: debugSleep,
			Summary: "Blocks the server for some seconds."},
		{Name: "stringmatch-len", Syntax: "<length> <pattern>", Least: 2, Most: 2, Do: debugMatch,
			Summary: "Matches a pattern against a string of that many 'a'."},
		{Name: "trace", Syntax: "<START|STOP|DUMP path>", Least: 1, Most: 2, Do: a.s.Recorder.Debug,
			Summary: "Records what each thread does. DUMP writes a file for Perfetto or chrome://tracing."},
	}
}

// DEBUG subcommand [argument ...] (debug.c: debugCommand)
func (a *State) debug(c *command.Call) error {
	cmds := a.s.Parts.Debug
	args := c.Args[2:]
	for i := range cmds {
		d := &cmds[i]
		if ascii.EqualFold(c.Args[1], d.Name) && len(args) >= d.Least && len(args) <= d.Most {
			return d.Do(c, args)
		}
	}
	if why := debugRefusal(c.Args[1]); why != "" {
		return store.Error("ERR DEBUG " + strings.ToUpper(string(c.Args[1])) + " is not supported: " + why)
	}
	if !ascii.EqualFold(c.Args[1], "help") || len(args) > 0 {
		return c.SubcommandSyntax()
	}
	c.Array(2*len(cmds) + 1)
	c.Status("DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	byName := func(x, y server.DebugCommand) int { return strings.Compare(x.Name, y.Name) }
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
		return "the nodes of a cluster have no bus"
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

func (a *State) debugLog(c *command.Call, args [][]byte) error {
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

func (a *State) rewriteAll(c *command.Call, _ [][]byte) error {
	return a.rewrite(c, a.s.Cfg.RewriteAll)
}

func (a *State) pauseCron(c *command.Call, args [][]byte) error {
	a.s.Debugging.CronPaused = debugSwitch(args[0])
	c.OK()
	return nil
}

func debugReplyBuffer(c *command.Call, args [][]byte) error {
	if !ascii.EqualFold(args[0], "peak-reset-time") && !ascii.EqualFold(args[0], "resizing") {
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

func (a *State) activeExpire(c *command.Call, args [][]byte) error {
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
		return server.ErrPositive
	}
	c.Bool(store.Match(args[1], []byte(strings.Repeat("a", int(n))), false))
	return nil
}
