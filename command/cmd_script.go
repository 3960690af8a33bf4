package command

import (
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/store"
)

func scriptRows() []Row {
	const (
		run     = NoScript | Stale | SkipMonitor | NoMandatoryKeys
		depends = "Depends on the script."
		body    = "script numkeys [key ...] [arg ...]"
		sha     = "sha1 numkeys [key ...] [arg ...]"
		toAll   = RequestAllNodes | ResponseAllSucceeded
	)
	return []Row{
		{"eval", body,
			-3, run | MayReplicate, script(scriptText, RW|Access|Update), "scripting", "2.6.0",
			depends,
			"Runs a Lua script.", eval},
		{"evalsha", sha,
			-3, run | MayReplicate, script(scriptSHA, RW|Access|Update), "scripting", "2.6.0",
			depends,
			"Runs a cached Lua script, named by its SHA1.", evalSHA},
		{"eval_ro", body,
			-3, run | ReadOnly, script(scriptText, RO|Access), "scripting", "7.0.0",
			depends,
			"Runs a Lua script that must not write.", eval},
		{"evalsha_ro", sha,
			-3, run | ReadOnly, script(scriptSHA, RO|Access), "scripting", "7.0.0",
			depends,
			"Runs a cached Lua script that must not write, named by its SHA1.", evalSHA},
		{"script", "",
			-2, 0, nil, "scripting", "2.6.0",
			"See the subcommands.",
			"Manages the cache of Lua scripts.", nil},
		{"script|debug", "(mode: YES | SYNC | NO)",
			3, NoScript, nil, "scripting", "3.2.0",
			"O(1)",
			"Accepts NO only: this server has no Lua debugger.", scriptDebug},
		{"script|exists", "sha1 ...",
			-3, NoScript | RequestAllShards | ResponseAnd, nil, "scripting", "2.6.0",
			"O(N) for N scripts",
			"Checks which scripts are cached.", scriptExists},
		{"script|flush", "[flush-type@6.2.0: ASYNC | SYNC]",
			-2, NoScript | toAll, nil, "scripting", "2.6.0",
			"O(N) for N cached scripts",
			"Deletes all cached scripts.", scriptFlush},
		{"script|help", "",
			2, Loading | Stale, nil, "scripting", "5.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
		{"script|kill", "",
			2, NoScript | AllowBusy | RequestAllShards | ResponseOneSucceeded, nil, "scripting", "2.6.0",
			"O(1)",
			"Stops the running script.", scriptKill},
		{"script|load", "script",
			3, NoScript | Stale | toAll, nil, "scripting", "2.6.0",
			"O(S) for a script of S bytes",
			"Caches a script without running it.", scriptLoad},
	}
}

const (
	errNoScript    store.Error = "NOSCRIPT No matching script. Please use EVAL."
	errNoScriptOwn store.Error = "NOSCRIPT No matching script."
	errFlushOption store.Error = "ERR SCRIPT FLUSH only support SYNC|ASYNC option"
	errDebugOption store.Error = "ERR Use SCRIPT DEBUG YES/SYNC/NO"
	errScriptDebug store.Error = "ERR the script debugger is not supported by this server"
	errWriteFlag   store.Error = "ERR Can not execute a script with write flag using *_ro command."
	errScriptOOM   store.Error = "OOM allow-oom flag is not set on the script, " +
		"can not run it when used memory > 'maxmemory'"
	errScriptUnknown    store.Error = "ERR Unknown Redis command called from script"
	errScriptArity      store.Error = "ERR Wrong number of args calling Redis command from script"
	errNotFromScript    store.Error = "ERR This Redis command is not allowed from script"
	errNotFromScriptOwn store.Error = "ERR This Valkey command is not allowed from script"
	errScriptWrites     store.Error = "ERR Write commands are not allowed from read-only scripts."
)

// EVAL script numkeys [key ...] [arg ...] (eval.c: evalCommand)
// EVAL_RO script numkeys [key ...] [arg ...] (eval.c: evalRoCommand)
func eval(c *Call) error {
	c.showScript()
	n, err := numKeys(c.Args)
	if err != nil {
		return err
	}
	script, err := c.Ex.Scripts.lua().Load(c.Args[1])
	if err != nil {
		return store.Error(err.Error())
	}
	return runScript(c, script, n)
}

// EVALSHA sha1 numkeys [key ...] [arg ...] (eval.c: evalShaCommand)
// EVALSHA_RO sha1 numkeys [key ...] [arg ...] (eval.c: evalShaRoCommand)
func evalSHA(c *Call) error {
	c.showScript()
	if len(c.Args[1]) != 40 {
		return c.Ex.Table.Manners.inWords(errNoScript, errNoScriptOwn)
	}
	n, err := numKeys(c.Args)
	if err != nil {
		return err
	}
	script := c.Ex.Scripts.lua().Find(c.Args[1])
	if script == nil {
		return c.Ex.Table.Manners.inWords(errNoScript, errNoScriptOwn)
	}
	return runScript(c, script, n)
}

// showScript shows the script to MONITOR before the commands that it calls.
func (c *Call) showScript() {
	if c.Ex.Monitored {
		c.Ex.Host.FeedMonitors(c.Sess, c.Args)
	}
}

// runScript runs a script. keys is the number of keys among its arguments.
func runScript(c *Call, script *luaeval.Script, keys int) error {
	sc := &c.Ex.Scripts
	if err := sc.begin(c, script.SHA, script.Header.Flags); err != nil {
		return err
	}
	sc.engine.Run(script, c.Args[3:3+keys], c.Args[3+keys:], c.Writer)
	sc.end(c.Cmd)
	return nil
}

// SCRIPT LOAD script (eval.c: scriptCommand)
func scriptLoad(c *Call) error {
	script, err := c.Ex.Scripts.lua().Load(c.Args[2])
	if err != nil {
		return store.Error(err.Error())
	}
	c.BulkString(script.SHA)
	return nil
}

// SCRIPT EXISTS sha1 [sha1 ...] (eval.c: scriptCommand)
func scriptExists(c *Call) error {
	engine := c.Ex.Scripts.lua()
	c.Array(len(c.Args) - 2)
	for _, sha := range c.Args[2:] {
		if engine.Has(sha) {
			c.Int(1)
		} else {
			c.Int(0)
		}
	}
	return nil
}

// SCRIPT FLUSH [ASYNC | SYNC] (eval.c: scriptCommand)
// Both modes do the same: the garbage collector frees the scripts.
func scriptFlush(c *Call) error {
	if len(c.Args) > 3 || len(c.Args) == 3 && !is(c.Args[2], "async") && !is(c.Args[2], "sync") {
		return errFlushOption
	}
	c.Ex.Scripts.lua().Flush()
	c.OK()
	return nil
}

// SCRIPT DEBUG YES | SYNC | NO (eval.c: scriptCommand)
// YES is refused: a debugging session has a protocol that only redis-cli --ldb speaks.
func scriptDebug(c *Call) error {
	switch {
	case is(c.Args[2], "no"):
		c.OK()
		return nil
	case is(c.Args[2], "yes") || is(c.Args[2], "sync"):
		return errScriptDebug
	}
	return errDebugOption
}

// SCRIPT KILL (eval.c: scriptCommand)
func scriptKill(c *Call) error { return c.killScript(false) }

// killScript ends the running script or function (script.c: scriptKill). SCRIPT KILL ends only a
// script, FUNCTION KILL only a function.
func (c *Call) killScript(function bool) error {
	run := &c.Ex.Scripts.run
	switch {
	case !run.busy:
		return errNotBusy
	case run.wrote:
		return errUnkillable
	case run.function != function:
		return c.Ex.Scripts.Busy()
	}
	run.killed = true
	c.OK()
	return nil
}
