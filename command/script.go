package command

import (
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/resp"
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
		Log:      func(level int, text string) { ex.Host.Log(".-*#"[level], "%s", text) },
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
	if ex.Observed {
		ex.Host.Called(ex.script.by, cmd, args, w.Buf[mark:], ex.script.name)
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
