package command

import (
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func scriptRows() []Row {
	const (
		run     = NoScript | Stale | SkipMonitor | NoMandatoryKeys
		depends = "That of the script"
		body    = "script numkeys [key [key ...]] [arg [arg ...]]"
		sha     = "sha1 numkeys [key [key ...]] [arg [arg ...]]"
		toAll   = RequestAllNodes | ResponseAllSucceeded
	)
	writes, reads := keys(counted(2, RW|Access|Update)), keys(counted(2, RO|Access))
	return []Row{
		{"eval", body,
			-3, run | MayReplicate, writes, "scripting", "2.6.0",
			depends,
			"Runs a script.", eval},
		{"evalsha", sha,
			-3, run | MayReplicate, writes, "scripting", "2.6.0",
			depends,
			"Runs a script that is kept, by its SHA1.", evalSHA},
		{"eval_ro", body,
			-3, run | ReadOnly, reads, "scripting", "7.0.0",
			depends,
			"Runs a script that must not write.", eval},
		{"evalsha_ro", sha,
			-3, run | ReadOnly, reads, "scripting", "7.0.0",
			depends,
			"Runs a script that is kept and must not write.", evalSHA},
		{"script", "",
			-2, 0, nil, "scripting", "2.6.0",
			"As its subcommands have it",
			"Looks after the scripts that are kept.", nil},
		{"script|debug", "YES | SYNC | NO",
			3, NoScript, nil, "scripting", "3.2.0",
			"O(1)",
			"Is refused: there is no debugger.", scriptDebug},
		{"script|exists", "sha1 [sha1 ...]",
			-3, NoScript | RequestAllShards | ResponseAnd, nil, "scripting", "2.6.0",
			"O(N) in the scripts given",
			"Tells which scripts are kept.", scriptExists},
		{"script|flush", "[ASYNC | SYNC]",
			-2, NoScript | toAll, nil, "scripting", "2.6.0",
			"O(N) in the scripts kept",
			"Forgets all scripts.", scriptFlush},
		{"script|help", "",
			2, Loading | Stale, nil, "scripting", "5.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
		{"script|kill", "",
			2, NoScript | AllowBusy | RequestAllShards | ResponseOneSucceeded, nil, "scripting", "2.6.0",
			"O(1)",
			"Ends the script that is running.", scriptKill},
		{"script|load", "script",
			3, NoScript | Stale | toAll, nil, "scripting", "2.6.0",
			"O(S) in the bytes of the script",
			"Keeps a script without running it.", scriptLoad},
	}
}

const (
	errNoScript      store.Error = "NOSCRIPT No matching script. Please use EVAL."
	errManyKeys      store.Error = "ERR Number of keys can't be greater than number of args"
	errNegativeKeys  store.Error = "ERR Number of keys can't be negative"
	errFlushOption   store.Error = "ERR SCRIPT FLUSH only support SYNC|ASYNC option"
	errDebugOption   store.Error = "ERR Use SCRIPT DEBUG YES/SYNC/NO"
	errScriptDebug   store.Error = "ERR the script debugger is not supported by this server"
	errWriteFlag     store.Error = "ERR Can not execute a script with write flag using *_ro command."
	errScriptOOM     store.Error = "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'"
	errScriptUnknown store.Error = "ERR Unknown Redis command called from script"
	errScriptArity   store.Error = "ERR Wrong number of args calling Redis command from script"
	errNotFromScript store.Error = "ERR This Redis command is not allowed from script"
	errScriptWrites  store.Error = "ERR Write commands are not allowed from read-only scripts."
)

// scripting is the script that runs and what it may do (script.h: scriptRunCtx). Scripts
// do not nest: there is one at most.
type scripting struct {
	on       bool
	by       *Session // who runs it
	db       int      // that was selected before
	name     string   // its SHA1, or the function's name
	args     [][]byte // of its command
	started  int64    // monotonic ns
	function bool     // by FCALL: the texts name other commands
	readOnly bool
	allowOOM bool
	wrote    bool  // has called a command that writes: it must be left to finish
	busy     bool  // has been running for too long: others are being served meanwhile
	killed   bool  // is to end
	failed   int64 // errors of commands in its reply, and one for those of its own
	broken   bool  // there is one of its own
}

// lua returns the engine of EVAL, made for the first script: a server without
// scripts does not pay for it.
func (ex *Executor) lua() *luaeval.Engine {
	if ex.engine == nil {
		ex.engine = luaeval.New(ex.luaOptions())
	}
	return ex.engine
}

// SeedScripts has math.random begin anew, as in a server that was just started.
func (ex *Executor) SeedScripts() {
	if ex.engine != nil {
		ex.engine.SeedRandom(uint32(ex.Cfg.Seed))
	}
}

// luaOptions are how an engine reaches the executor.
func (ex *Executor) luaOptions() luaeval.Options {
	return luaeval.Options{
		Call:     ex.callFromScript,
		Poll:     ex.pollScript,
		Failed:   ex.scriptFailed,
		CheckACL: ex.scriptMay,
		Log:      func(level int, text string) { ex.log(".-*#"[level], "%s", text) },
		Clock:    ex.Clock.Mono,
		Held:     func() int64 { return int64(ex.KS.Bytes()) },
		MaxBulk:  ex.Cfg.ProtoMaxBulkLen,
		Version:  config.RedisVersion, VersionNum: versionNumber(config.RedisVersion),
		Seed: uint32(ex.Cfg.Seed),
	}
}

// versionNumber is a version as one number, a byte for each part.
func versionNumber(version string) (n int) {
	part := 0
	for _, c := range version + "." {
		if c == '.' {
			n, part = n<<8|part, 0
			continue
		}
		part = part*10 + int(c-'0')
	}
	return n
}

func (ex *Executor) log(level byte, format string, args ...any) {
	if ex.Log != nil {
		ex.Log(level, format, args...)
	}
}

func eval(c *Call) error {
	c.showScript()
	n, err := numKeys(c.Args)
	if err != nil {
		return err
	}
	script, err := c.Ex.lua().Load(c.Args[1])
	if err != nil {
		return store.Error(err.Error())
	}
	return runScript(c, script, n)
}

func evalSHA(c *Call) error {
	c.showScript()
	if len(c.Args[1]) != 40 {
		return errNoScript
	}
	n, err := numKeys(c.Args)
	if err != nil {
		return err
	}
	script := c.Ex.lua().Find(c.Args[1])
	if script == nil {
		return errNoScript
	}
	return runScript(c, script, n)
}

// showScript has the monitors see the script before the commands that it calls.
func (c *Call) showScript() {
	if c.Ex.MonitorFeed != nil {
		c.Ex.MonitorFeed(c.Sess, c.Args)
	}
}

func numKeys(args [][]byte) (int, error) {
	n, err := parseInt(args[2])
	switch {
	case err != nil:
		return 0, err
	case n > int64(len(args)-3):
		return 0, errManyKeys
	case n < 0:
		return 0, errNegativeKeys
	}
	return int(n), nil
}

// runScript takes what it needs out of c before the script's commands use c for
// themselves.
func runScript(c *Call, script *luaeval.Script, keys int) error {
	ex, cmd, args, w := c.Ex, c.Cmd, c.Args, c.Writer
	if err := ex.beginScript(c, script.SHA, script.Header.Flags); err != nil {
		return err
	}
	ex.engine.Run(script, args[3:3+keys], args[3+keys:], w)
	ex.endScript(cmd)
	return nil
}

// beginScript prepares for a script with these flags, unless it may not run
// (script.c: scriptPrepareForRun). FCALL begins with it as well.
func (ex *Executor) beginScript(c *Call, name string, flags luaeval.Flags) error {
	readOnly := c.Cmd.Flags&ReadOnly != 0
	declared := flags&luaeval.Compat == 0
	noWrites := declared && flags&luaeval.NoWrites != 0
	allowOOM := declared && flags&luaeval.AllowOOM != 0
	if declared && !noWrites {
		if readOnly {
			return errWriteFlag
		}
		if ex.lacksMemory() && !allowOOM {
			return errScriptOOM
		}
	}
	ex.script = scripting{
		on: true, by: c.Sess, db: c.Sess.DB, name: name, args: c.Args, started: ex.mono,
		readOnly: readOnly || noWrites, allowOOM: allowOOM,
	}
	ex.Depth++
	return nil
}

// endScript undoes beginScript. The database that the script has selected was for
// itself.
func (ex *Executor) endScript(cmd *Command) {
	ex.Depth--
	ex.script.by.DB = ex.script.db
	cmd.Calls.Failed += ex.script.failed
	ex.script.on, ex.script.busy = false, false
}

// scriptFailed counts an error in a script's reply, as a failure of its command: each
// that a command has made, and has been counted as an error for, and all others as
// one (networking.c: afterErrorReply).
func (ex *Executor) scriptFailed(text string, ofCommand bool) {
	if ofCommand {
		ex.script.failed++
		return
	}
	if !ex.script.broken {
		ex.script.broken = true
		ex.script.failed++
	}
	ex.countError(text)
}

// callFromScript is redis.call: a command with a reply of its own.
func (ex *Executor) callFromScript(args [][]byte, w *resp.Writer) {
	cmd := ex.Table.Lookup(args)
	if err := ex.admitFromScript(cmd, args); err != nil {
		if cmd != nil {
			cmd.Calls.Rejected++
		}
		ex.fail(w, len(w.Buf), err)
		return
	}
	if cmd.Flags&Write != 0 {
		ex.script.wrote = true
	}
	mark := len(w.Buf)
	ex.run(cmd, ex.script.by, args, w, mark, ex.Clock.Mono())
	if ex.Observer != nil {
		ex.Observer.Called(ex.script.by, cmd, args, w.Buf[mark:], ex.script.name)
	}
}

// admitFromScript decides whether the script may call cmd (script.c: scriptCall).
// Memory counts before the first write only: half a script would be worse than
// memory that is used up.
func (ex *Executor) admitFromScript(cmd *Command, args [][]byte) error {
	run := &ex.script
	switch {
	case cmd == nil || cmd.Subs != nil && len(args) > 1:
		return errScriptUnknown
	case !cmd.takes(len(args)):
		return errScriptArity
	case cmd.Flags&NoScript != 0 && !ex.permitsInScript(cmd):
		return errNotFromScript
	case !ex.allows(run.by, cmd, args):
		return ex.errNoPermInScript(run.by, cmd, args)
	case run.readOnly && cmd.Flags&(Write|MayReplicate) != 0:
		return errScriptWrites
	case cmd.Flags&DenyOOM != 0 && !run.wrote && !run.allowOOM && ex.lacksMemory():
		return errOOM
	}
	return nil
}

// permitsInScript reports whether a script may call what is not for scripts: only with DEBUG
// SET-DISABLE-DENY-SCRIPTS, and nothing that would start another script, a transaction or a
// subscription in the middle of this one.
func (ex *Executor) permitsInScript(cmd *Command) bool {
	return ex.AllInScripts && (cmd.Group == "server" || cmd.Group == "connection")
}

// InScript tells whether a script runs the command under way.
func (ex *Executor) InScript() bool { return ex.script.on }

// ScriptMemory is how many scripts are kept, about how many bytes their texts take, and
// how many the interpreter.
func (ex *Executor) ScriptMemory() (scripts, kept, interpreter int) {
	if ex.engine == nil {
		return 0, 0, 0
	}
	return ex.engine.Len(), ex.engine.Mem(), ex.engine.StateMem()
}

// scriptFlags are the flags of cmd with what the script, if it has a shebang, declares
// in their place (eval.c: evalGetCommandFlags; script.c: scriptFlagsToCmdFlags).
func (ex *Executor) scriptFlags(cmd *Command, args [][]byte) Flag {
	declared := luaeval.Compat
	switch cmd.Name {
	case "eval", "eval_ro":
		declared = luaeval.Declared(args[1])
	case "evalsha", "evalsha_ro":
		if script := ex.lua().Find(args[1]); script != nil {
			declared = script.Header.Flags
		}
	case "fcall", "fcall_ro":
		if f := ex.functions.Find(args[1]); f != nil {
			declared = f.Flags
		}
	}
	if declared&luaeval.Compat != 0 {
		return cmd.Flags
	}
	flags := cmd.Flags &^ (Stale | DenyOOM | Write | MayReplicate)
	if declared&(luaeval.AllowOOM|luaeval.NoWrites) == 0 {
		flags |= DenyOOM
	}
	if declared&luaeval.NoWrites == 0 {
		flags |= Write
	}
	if declared&luaeval.AllowStale != 0 {
		flags |= Stale
	}
	return flags
}

func scriptLoad(c *Call) error {
	script, err := c.Ex.lua().Load(c.Args[2])
	if err != nil {
		return store.Error(err.Error())
	}
	c.BulkString(script.SHA)
	return nil
}

func scriptExists(c *Call) error {
	engine := c.Ex.lua()
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

// scriptFlush does the same in both modes: the garbage collector frees the scripts.
func scriptFlush(c *Call) error {
	if len(c.Args) > 3 || len(c.Args) == 3 && !is(c.Args[2], "async") && !is(c.Args[2], "sync") {
		return errFlushOption
	}
	c.Ex.lua().Flush()
	c.OK()
	return nil
}

// scriptDebug refuses to begin a debugging session: its lines would come in a
// protocol that only redis-cli --ldb speaks.
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
