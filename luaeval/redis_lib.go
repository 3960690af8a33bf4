package luaeval

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

func (e *Engine) redisLib() *lua.LTable {
	t := e.lib.Functions(map[string]lua.LGFunction{
		"call":         func(l *lua.LState) int { return e.call(l, true) },
		"pcall":        func(l *lua.LState) int { return e.call(l, false) },
		"error_reply":  func(l *lua.LState) int { return e.replyTable(l, "err") },
		"status_reply": func(l *lua.LState) int { return e.replyTable(l, "ok") },
		"sha1hex":      e.sha1Hex, "log": e.log, "setresp": e.setResp, "set_repl": e.setRepl,
		"acl_check_cmd":      e.aclCheck,
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
		"breakpoint":         func(l *lua.LState) int { l.Push(lua.LFalse); return 1 },
		"debug":              func(*lua.LState) int { return 0 },
	})
	for name, n := range map[string]int{
		"LOG_DEBUG": 0, "LOG_VERBOSE": 1, "LOG_NOTICE": 2, "LOG_WARNING": 3,
		"REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2, "REPL_REPLICA": 2, "REPL_ALL": 3,
		"REDIS_VERSION_NUM": e.o.VersionNum,
	} {
		t.RawSetString(name, lua.LNumber(n))
	}
	t.RawSetString("REDIS_VERSION", lua.LString(e.o.Version))
	if played := e.o.Server; played.Name != "" {
		version := strings.ToUpper(played.Name) + "_VERSION"
		t.RawSetString("SERVER_NAME", lua.LString(played.Name))
		t.RawSetString(version, lua.LString(played.Version))
		t.RawSetString(version+"_NUM", lua.LNumber(played.VersionNum))
	}
	return t
}

// callWork is the work of a command that takes hardly any time.
const callWork = 64

// call is redis.call and redis.pcall.
func (e *Engine) call(l *lua.LState, raises bool) int {
	if e.execute(l, raises) {
		v, _ := e.fromReply(l, e.reply.Buf, 0)
		l.Push(v)
	}
	return 1
}

// unusedCalls returns the functions for redis.call and redis.pcall where the call is a statement. They
// make no Lua value of the reply: OK would be a table.
func (e *Engine) unusedCalls() map[string]lua.LValue {
	calls := map[string]lua.LValue{}
	for name, raises := range map[string]bool{"redis.call": true, "redis.pcall": false} {
		calls[name] = e.l.NewFunction(func(l *lua.LState) int {
			e.execute(l, raises)
			return 0
		})
	}
	return calls
}

// execute runs the command that the arguments spell. Its reply is in e.reply. After an error execute
// raises the error table, or pushes it and returns false.
func (e *Engine) execute(l *lua.LState, raises bool) bool {
	if problem := e.takeArgs(l); problem != "" {
		e.giveError(l, problem, raises)
		return false
	}
	w := &e.reply
	w.Buf, w.Proto, e.copied = w.Buf[:0], e.run.proto, copied{}
	e.o.Call(e.argv, w)
	if len(w.Buf) > 0 && w.Buf[0] == '-' {
		e.giveCallError(l, w.Buf, raises)
		return false
	}
	e.lib.Tick(l, callWork)
	if len(w.Buf) > largeString {
		e.lib.Charge(l, len(w.Buf))
	}
	return true
}

// takeArgs puts the arguments into e.argv. Large strings are not copied; the others are copied into
// e.argb. When e.argb grows, earlier arguments stay in the old buffer. takeArgs returns what is
// wrong with the arguments, or "".
func (e *Engine) takeArgs(l *lua.LState) string {
	n := l.GetTop()
	if n == 0 {
		return "ERR Please specify at least one argument for this redis lib call"
	}
	b, args := e.argb[:0], e.argv[:0]
	for i := 1; i <= n; i++ {
		from := len(b)
		switch v := l.Get(i).(type) {
		case lua.LString:
			if len(v) >= largeString {
				e.lib.Tick(l, len(v)/limits.BytesPerUnit)
				args = append(args, e.large.lend(v))
				continue
			}
			b = append(b, v...)
		case lua.LNumber:
			b = lualib.AppendArg(b, float64(v))
		default:
			return "ERR Lua redis lib command arguments must be strings or integers"
		}
		args = append(args, b[from:len(b):len(b)])
	}
	e.argb, e.argv = b, args
	return ""
}

// giveError raises an error table with this text, or returns it.
func (e *Engine) giveError(l *lua.LState, text string, raises bool) int {
	t := l.CreateTable(0, 1)
	t.RawSetString("err", lua.LString(e.o.Server.inWords(text)))
	if raises {
		l.Error(t, 0)
	}
	l.Push(t)
	return 1
}

// giveCallError raises or returns the error reply of a command.
func (e *Engine) giveCallError(l *lua.LState, reply []byte, raises bool) {
	v, _ := e.fromReply(l, reply, 0)
	if raises {
		l.Error(v, 0)
	}
	l.Push(v)
}

// replyTable is redis.error_reply and redis.status_reply. An error of one word gets the code ERR.
func (e *Engine) replyTable(l *lua.LState, field string) int {
	v, ok := l.Get(1).(lua.LString)
	if !ok || l.GetTop() != 1 {
		return e.giveError(l, "ERR wrong number or type of arguments", false)
	}
	if field == "err" {
		e.lib.Tick(l, 1+len(v)/limits.BytesPerUnit)
		v = lua.LString(errorLine(string(v)))
	}
	t := l.CreateTable(0, 1)
	t.RawSetString(field, v)
	l.Push(t)
	return 1
}

func errorLine(text string) string {
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	for i := 0; i < len(text); i++ {
		if text[i] == ' ' {
			return text
		}
	}
	return "ERR " + text
}

func (e *Engine) sha1Hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		return e.giveError(l, "ERR wrong number of arguments", true)
	}
	text, _ := lualib.ToText(l.Get(1))
	e.lib.Tick(l, 1+len(text)/limits.BytesPerUnit)
	l.Push(lua.LString(sha1hex([]byte(text))))
	return 1
}

func (e *Engine) log(l *lua.LState) int {
	if l.GetTop() < 2 {
		return e.giveError(l, "ERR redis.log() requires two arguments or more.", true)
	}
	level, ok := l.Get(1).(lua.LNumber)
	if !ok {
		return e.giveError(l, "ERR First argument must be a number (log level).", true)
	}
	if level < 0 || level > 3 {
		return e.giveError(l, "ERR Invalid debug level.", true)
	}
	o := e.lib.NewOutput(l)
	for i := 2; i <= l.GetTop(); i++ {
		part, ok := lualib.ToText(l.Get(i))
		if !ok {
			continue
		}
		if o.Len() > 0 {
			o.Text(" ")
		}
		o.Text(part)
	}
	if e.o.Log != nil {
		e.o.Log(int(level), o.String())
	}
	return 0
}

func (e *Engine) setResp(l *lua.LState) int {
	if l.GetTop() != 1 {
		return e.giveError(l, "ERR redis.setresp() requires one argument.", true)
	}
	f, _ := lualib.ToNumber(l.Get(1))
	n := lualib.ToInt(f)
	if n != 2 && n != 3 {
		return e.giveError(l, "ERR RESP version must be 2 or 3.", true)
	}
	e.run.proto = n
	return 0
}

// setRepl is redis.set_repl. It only checks its argument: what a script changes always propagates.
func (e *Engine) setRepl(l *lua.LState) int {
	if l.GetTop() != 1 {
		return e.giveError(l, "ERR redis.set_repl() requires one argument.", true)
	}
	if n, _ := lualib.ToNumber(l.Get(1)); lualib.ToInt(n)&^3 != 0 {
		return e.giveError(l, "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.", true)
	}
	return 0
}

func (e *Engine) aclCheck(l *lua.LState) int {
	if problem := e.takeArgs(l); problem != "" {
		return e.giveError(l, problem, true)
	}
	allowed, known := true, true
	if e.o.CheckACL != nil {
		allowed, known = e.o.CheckACL(e.argv)
	}
	if !known {
		return e.giveError(l, "ERR Invalid command passed to redis.acl_check_cmd()", true)
	}
	l.Push(lua.LBool(allowed))
	return 1
}
