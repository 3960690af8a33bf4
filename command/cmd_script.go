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

// scripting is the running script and its rights (script.h: scriptRunCtx). Scripts do not nest,
// so at most one runs.
type scripting struct {
	on       bool
	by       *Session // the client that runs it
	db       int      // the database selected before
	name     string   // the script's SHA1, or the function's name
	args     [][]byte // arguments of EVAL or FCALL
	started  int64    // monotonic ns
	function bool     // run by FCALL: error texts name FUNCTION KILL in place of SCRIPT KILL
	readOnly bool
	allowOOM bool
	wrote    bool  // has called a write command: SCRIPT KILL is refused
	busy     bool  // exceeds busy-reply-threshold: other clients are served meanwhile
	killed   bool  // ends at the next poll
	failed   int64 // errors in its reply: see scriptFailed
	broken   bool  // one of them is an error of its own
}

// lua returns the engine of EVAL. The first script makes it: a server without scripts has none.
func (ex *Executor) lua() *luaeval.Engine {
	if ex.engine == nil {
		ex.engine = luaeval.New(ex.luaOptions())
	}
	return ex.engine
}

// SeedScripts restarts math.random from the seed, as a restart of the server does.
func (ex *Executor) SeedScripts() {
	if ex.engine != nil {
		ex.engine.SeedRandom(uint32(ex.Cfg.Seed))
	}
}

// luaOptions holds the callbacks through which an engine reaches the executor.
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

// versionNumber packs a version into one number, one byte for each part.
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

// EVAL script numkeys [key [key ...]] [arg [arg ...]] (eval.c: evalCommand)
// EVAL_RO script numkeys [key [key ...]] [arg [arg ...]] (eval.c: evalRoCommand)
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

// EVALSHA sha1 numkeys [key [key ...]] [arg [arg ...]] (eval.c: evalShaCommand)
// EVALSHA_RO sha1 numkeys [key [key ...]] [arg [arg ...]] (eval.c: evalShaRoCommand)
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

// showScript shows the script to MONITOR before the commands that it calls.
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

// runScript copies the fields of c first: the script's commands use c for themselves.
func runScript(c *Call, script *luaeval.Script, keys int) error {
	ex, cmd, args, w := c.Ex, c.Cmd, c.Args, c.Writer
	if err := ex.beginScript(c, script.SHA, script.Header.Flags); err != nil {
		return err
	}
	ex.engine.Run(script, args[3:3+keys], args[3+keys:], w)
	ex.endScript(cmd)
	return nil
}

// beginScript starts a script or a function, unless its flags forbid it
// (script.c: scriptPrepareForRun).
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

// endScript undoes beginScript. A SELECT of the script ends with it.
func (ex *Executor) endScript(cmd *Command) {
	ex.Depth--
	ex.script.by.DB = ex.script.db
	cmd.Calls.Failed += ex.script.failed
	ex.script.on, ex.script.busy = false, false
}

// scriptFailed counts an error in a script's reply as a failure of EVAL. Each error of a called
// command counts, and was counted in the error statistics already. All errors of the script's
// own count as one (networking.c: afterErrorReply).
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

// callFromScript runs the command of redis.call. Its reply goes to w.
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

// admitFromScript decides whether the script may call cmd (script.c: scriptCall). After its first
// write a script is not refused for lack of memory: half a script would be worse.
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

// permitsInScript reports whether a script may call a command with the flag NoScript. It may only
// after DEBUG SET-DISABLE-DENY-SCRIPTS, and never a command that starts a script, a transaction
// or a subscription.
func (ex *Executor) permitsInScript(cmd *Command) bool {
	return ex.AllInScripts && (cmd.Group == "server" || cmd.Group == "connection")
}

// InScript reports whether a script runs the current command.
func (ex *Executor) InScript() bool { return ex.script.on }

// ScriptMemory returns the number of cached scripts and, roughly, the bytes of their texts and of
// the interpreter.
func (ex *Executor) ScriptMemory() (scripts, kept, interpreter int) {
	if ex.engine == nil {
		return 0, 0, 0
	}
	return ex.engine.Len(), ex.engine.Mem(), ex.engine.StateMem()
}

// scriptFlags returns the flags of cmd. A script with a shebang replaces some of them by the flags
// that it declares (eval.c: evalGetCommandFlags; script.c: scriptFlagsToCmdFlags).
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

// SCRIPT LOAD script (eval.c: scriptCommand)
func scriptLoad(c *Call) error {
	script, err := c.Ex.lua().Load(c.Args[2])
	if err != nil {
		return store.Error(err.Error())
	}
	c.BulkString(script.SHA)
	return nil
}

// SCRIPT EXISTS sha1 [sha1 ...] (eval.c: scriptCommand)
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

// SCRIPT FLUSH [ASYNC | SYNC] (eval.c: scriptCommand)
// Both modes do the same: the garbage collector frees the scripts.
func scriptFlush(c *Call) error {
	if len(c.Args) > 3 || len(c.Args) == 3 && !is(c.Args[2], "async") && !is(c.Args[2], "sync") {
		return errFlushOption
	}
	c.Ex.lua().Flush()
	c.OK()
	return nil
}

// SCRIPT DEBUG YES | SYNC | NO (eval.c: scriptCommand)
// A session is refused: the debugger has a protocol of its own, which only redis-cli --ldb speaks.
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
