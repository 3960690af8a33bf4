package command

import (
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/resp"
)

// Scripts runs Lua: the scripts of EVAL and the functions of FCALL (eval.c, functions.c, script.c).
//
//	EVAL ──> begin ──> luaeval.Engine.Run ──> Executor.finish
//	                      │        ^
//	        redis.call    v        │ a reply
//	                     call ──> Executor.run
//
// A script runs inside its command, on the same goroutine. Its commands have Calls of their own: see
// Executor.calls.
type Scripts struct {
	ex        *Executor
	engine    *luaeval.Engine // nil before the first script: a server without scripts has none
	functions *luaeval.Libraries
	run       scriptRun
}

// scriptRun is the running script and its rights (script.h: scriptRunCtx). Scripts do not nest, so at
// most one runs.
type scriptRun struct {
	on        bool
	by        *Session // the client that runs it
	db        int      // the database selected before
	name      string   // the script's SHA1, or the function's name
	args      [][]byte // arguments of EVAL or FCALL
	started   int64    // monotonic ns
	function  bool     // run by FCALL: error texts name FUNCTION KILL in place of SCRIPT KILL
	readOnly  bool
	allowOOM  bool
	crossSlot bool  // its keys may be in several slots of a cluster
	wrote     bool  // has called a write command: SCRIPT KILL is refused
	busy      bool  // exceeds busy-reply-threshold: other clients are served meanwhile
	killed    bool  // ends at the next poll
	failed    int64 // errors in its reply: see countFailure
	broken    bool  // one of them is an error of its own
}

// lua returns the engine. The first call makes it.
func (sc *Scripts) lua() *luaeval.Engine {
	if sc.engine == nil {
		sc.engine = luaeval.New(sc.options())
	}
	return sc.engine
}

// options holds the callbacks through which the engine reaches the executor.
func (sc *Scripts) options() luaeval.Options {
	ex := sc.ex
	return luaeval.Options{
		Call:     sc.call,
		Poll:     sc.poll,
		Failed:   sc.countFailure,
		CheckACL: sc.mayCall,
		Log:      func(level int, text string) { ex.Host.Log(".-*#"[level], "%s", text) },
		Clock:    ex.Clock.Mono,
		Held:     func() int64 { return int64(ex.KS.Bytes()) },
		MaxBulk:  ex.Cfg.ProtoMaxBulkLen,
		Version:  ex.Table.Dialect.RedisVersion, VersionNum: versionNumber(ex.Table.Dialect.RedisVersion),
		Server: ex.Table.server(),
		Seed:   uint32(ex.Cfg.Seed), OSClock: ex.Table.Manners.osClock,
	}
}

// server returns what scripts see of a server that is no Redis.
func (t *Table) server() (played luaeval.Server) {
	if d := t.Dialect; d.ServerName != "" {
		played = luaeval.Server{
			Name: d.ServerName, Version: d.Version, VersionNum: versionNumber(d.Version),
			OwnWords: t.Manners.ownWords, Anonymous: t.Manners.anonymous, LateNames: t.Manners.lateNames,
		}
	}
	return played
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

// begin starts a script or a function, unless its flags forbid it (script.c: scriptPrepareForRun).
func (sc *Scripts) begin(c *Call, name string, flags luaeval.Flags) error {
	readOnly := c.Cmd.Flags&ReadOnly != 0
	if flags&(luaeval.NoCluster|luaeval.Compat) == luaeval.NoCluster && sc.ex.Cluster != nil {
		return errShebangNode
	}
	if sc.ex.Refusals.on != 0 {
		if err := sc.ex.Refusals.ofScript(c.Sess, flags); err != nil {
			return err
		}
	}
	declared := flags&luaeval.Compat == 0
	noWrites := declared && flags&luaeval.NoWrites != 0
	allowOOM := declared && flags&luaeval.AllowOOM != 0
	if declared && !noWrites {
		if readOnly {
			return errWriteFlag
		}
		if sc.ex.Eviction.lacking() && !allowOOM {
			return errScriptOOM
		}
	}
	sc.run = scriptRun{
		on: true, by: c.Sess, db: c.Sess.DB, name: name, args: c.Args, started: sc.ex.Now.Mono,
		readOnly: readOnly || noWrites, allowOOM: allowOOM, crossSlot: flags&(luaeval.AllowCrossSlotKeys|luaeval.Compat) != 0,
	}
	sc.ex.enter()
	return nil
}

// end undoes begin. A SELECT of the script ends with it.
func (sc *Scripts) end(cmd *Command) {
	sc.ex.Depth--
	sc.run.by.DB = sc.run.db
	sc.ex.Table.Calls(cmd).Failed += sc.run.failed
	sc.run.on, sc.run.busy = false, false
}

// call runs the command of redis.call. Its reply goes to w.
func (sc *Scripts) call(args [][]byte, w *resp.Writer) {
	ex := sc.ex
	cmd := ex.Table.Lookup(args)
	if err := ex.admitCall(cmd, args); err != nil {
		if cmd != nil {
			sc.ex.Table.Calls(cmd).Rejected++
		}
		ex.fail(w, len(w.Buf), err)
		return
	}
	if cmd.Flags&Write != 0 {
		sc.run.wrote = true
	}
	if ex.Cluster != nil {
		if err := ex.Cluster.admitCall(ex, cmd, args); err != nil {
			sc.ex.Table.Calls(cmd).Rejected++
			mark := len(w.Buf)
			ex.fail(w, mark, err)
			if ex.Observer != nil {
				ex.Observer.Called(sc.run.by, cmd, args, w.Buf[mark:], sc.run.name)
			}
			return
		}
	}
	mark := len(w.Buf)
	ex.runInside(cmd, sc.run.by, args, w, ex.Clock.Mono())
	if ex.Observer != nil {
		ex.Observer.Called(sc.run.by, cmd, args, w.Buf[mark:], sc.run.name)
	}
}

// countFailure counts an error in a script's reply as a failure of EVAL. Each error of a called
// command counts, and was counted in the error statistics already. All errors of the script's own
// count as one (networking.c: afterErrorReply).
func (sc *Scripts) countFailure(text string, ofCommand bool) {
	if ofCommand {
		sc.run.failed++
		return
	}
	if !sc.run.broken {
		sc.run.broken = true
		sc.run.failed++
	}
	sc.ex.Stats.countError(text)
}

// mayCall answers redis.acl_check_cmd.
func (sc *Scripts) mayCall(args [][]byte) (allowed, known bool) {
	cmd := sc.ex.Table.Lookup(args)
	if cmd == nil || cmd.lacksSubcommand(args) {
		return false, false
	}
	return sc.ex.permissions.allows(sc.run.by, cmd, args), true
}

// Running reports whether a script runs the current command.
func (sc *Scripts) Running() bool { return sc.run.on }

// Ran returns the SHA1 of the script that a command has just run, or the name of the function; "" for other commands.
func (sc *Scripts) Ran(cmd *Command) string {
	if cmd.Script == noScript {
		return ""
	}
	return sc.run.name
}
