package luaeval

import (
	"container/list"
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
	"github.com/miniredisd/miniredisd/luaeval/lualib"
	"github.com/miniredisd/miniredisd/resp"
)

// Options say what an engine runs in. Call is required; everything else may be zero.
type Options struct {
	// Call executes one command of the running script. It appends the reply to w, in the protocol
	// w.Proto. Args are valid until it returns.
	Call func(args [][]byte, w *resp.Writer)
	// Poll is called about every millisecond while a script runs. An error ends the script with its
	// text.
	Poll func(ran time.Duration) error
	// Failed is called for every error in a script's reply. ofCommand is true for the error of a
	// command, which the caller has seen before.
	Failed func(text string, ofCommand bool)
	// CheckACL reports whether the user may run a command. known is false when there is no such
	// command.
	CheckACL func(args [][]byte) (allowed, known bool)
	// Log takes a message of redis.log and its level: 0 (debug) to 3 (warning).
	Log func(level int, text string)
	// Clock is a monotonic clock in nanoseconds.
	Clock func() int64
	// Held returns the bytes of the data set, which do not count as the script's memory.
	Held func() int64

	Version    string // redis.REDIS_VERSION, "7.2.6"
	VersionNum int    // redis.REDIS_VERSION_NUM, 0x00070206

	// Server has the versions of a server that is no Redis. Its scripts know redis by a second name, too.
	Server Server

	Budget   int64  // bytes a script may hold; 0 for 256 MB
	MaxBulk  int64  // bytes of the longest string a script may build; 0 for 512 MB
	Seed     uint32 // of math.random
	OSClock  bool   // scripts have os.clock, and nothing else of os
	MaxSteps int64  // steps of pattern matching in one script; 0 for 2^28
}

// Server is what scripts see of a server that is no Redis. The zero value is for Redis.
type Server struct {
	Name       string // redis.SERVER_NAME, "valkey"; "" for Redis
	Version    string // redis.VALKEY_VERSION
	VersionNum int    // redis.VALKEY_VERSION_NUM

	OwnWords  bool // errors name the server, and its library, in place of Redis
	Anonymous bool // errors do not name the script
	LateNames bool // the names of functions are checked when the text of their library has run
}

// inWords returns the text of an error in the words of the server.
func (s *Server) inWords(text string) string {
	if !s.OwnWords {
		return text
	}
	return strings.NewReplacer(" redis.", " server.", "this redis lib call", "this call",
		"Lua redis lib command", "Command", "Invalid debug level", "Invalid log level").Replace(text)
}

// Engine is a Lua state and the scripts compiled for it.
type Engine struct {
	o       Options
	l       *lua.LState // runs scripts
	maker   *lua.LState // makes functions
	scripts cache

	globals *lua.LTable // environment of every function
	gproxy  *lua.LTable // _G as scripts see it
	known   map[string]lua.LValue

	undefined                 *lua.LTable // metatable of the globals
	scriptScope, libraryScope scope
	loading                   *Library // the library that is being loaded
	guards                    []guard  // by the depth of pcalls
	guardedCall, watchedCall  *lua.LFunction

	operators map[string]lua.LValue // functions for operators
	unused    map[string]lua.LValue // redis.call and redis.pcall as statements
	handler   *lua.LFunction
	lib       *lualib.Lib
	limits    limits.Limits

	run    run
	reply  resp.Writer
	copied copied // of reply
	large  largeStrings
	argv   [][]byte
	argb   []byte
	json   struct{ scripts, functions lualib.JSONSettings }
}

// run is the state of the running script.
type run struct {
	script  *Script
	name    string // in errors: a script's SHA1, or a function's name
	proto   int    // protocol of redis.call, set by redis.setresp
	fail    failure
	replied int   // length of the output when the reply was last charged
	cut     error // why the reply was cut short
}

// failure is how and where a script ended. It is noted before the stack is unwound.
type failure struct {
	text, source string
	line         int
	counted      bool // a command has counted it
}

// Script is a compiled script.
type Script struct {
	SHA    string
	Body   string
	Header Header

	fn         *lua.LFunction
	keys, argv *lua.Upvalue
	keyTable   *lua.LTable // kept from run to run when the script only reads it
	argTable   *lua.LTable
	global     bool // it may read KEYS in _G
	exact      bool // the library keeps the shapes of its tables
	long       bool // it may run for long: it needs a context
	place      *list.Element
}

// New returns an engine without scripts.
func New(o Options) *Engine {
	o.Budget = orDefault(o.Budget, 256<<20)
	o.MaxBulk = orDefault(o.MaxBulk, 512<<20)
	o.MaxSteps = orDefault(o.MaxSteps, 1<<28)
	if o.Clock == nil {
		start := time.Now()
		o.Clock = func() int64 { return int64(time.Since(start)) }
	}
	if o.Version == "" {
		o.Version, o.VersionNum = "7.2.6", 0x070206
	}
	e := &Engine{o: o}
	e.limits.Init(limits.Options{
		Clock: o.Clock, Poll: o.Poll, Held: o.Held, Budget: o.Budget, MaxBulk: o.MaxBulk, MaxSteps: o.MaxSteps,
	})
	making := stacks()
	making.RegistrySize, making.RegistryGrowStep, making.MinimizeStackMemory = 256, 4<<10, true
	e.maker = lua.NewState(making)
	e.l = e.maker
	e.openLibs()
	e.Renew()
	e.newStacks()
	return e
}

func stacks() lua.Options {
	return lua.Options{
		CallStackSize: mostFrames, SkipOpenLibs: true,
		RegistrySize: 16 << 10, RegistryMaxSize: 1 << 20, RegistryGrowStep: 64 << 10,
	}
}

// coroutineStacks returns the options of a coroutine. Its stacks begin small and grow: a script may
// make many.
func coroutineStacks() lua.Options {
	o := stacks()
	o.CallStackSize, o.MinimizeStackMemory = coroutineFrames, true
	o.RegistrySize, o.RegistryGrowStep = 256, 4<<10
	return o
}

// newStacks gives scripts a new state. A used stack stays as large as it has become, and keeps
// alive what the last calls could reach.
func (e *Engine) newStacks() {
	e.maker.Options = stacks()
	l, _ := e.maker.NewThread()
	l.Options = coroutineStacks()
	e.maker.Options = coroutineStacks()
	e.guards = nil
	e.runOn(l)
}

func (e *Engine) runOn(l *lua.LState) {
	l.G.MainThread, l.G.CurrentThread = l, l
	e.l = l
}

// make switches to the state that makes functions, and returns how to switch back. A function keeps
// alive the stack of the state that it was made on.
func (e *Engine) make() (end func()) {
	running, current := e.l, e.l.G.CurrentThread
	e.runOn(e.maker)
	return func() {
		e.runOn(running)
		e.l.G.CurrentThread = current
	}
}

func orDefault(n, def int64) int64 {
	if n == 0 {
		return def
	}
	return n
}

// SeedRandom makes math.random begin anew.
func (e *Engine) SeedRandom(n uint32) { e.lib.SeedRandom(n) }

// Run runs s and appends one reply to w.
func (e *Engine) Run(s *Script, keys, args [][]byte, w *resp.Writer) {
	r := &e.run
	r.script, r.name, r.proto, r.fail = s, s.SHA, 2, failure{}
	e.limits.Begin()
	e.lib.Begin(s.exact)
	size := sizeOf(keys) + sizeOf(args)
	long := s.long || size > largeWords
	if long {
		e.l.SetContext(&e.limits)
		e.limits.Weigh()
	}
	s.keyTable = e.give("KEYS", s, s.keys, s.keyTable, keys)
	s.argTable = e.give("ARGV", s, s.argv, s.argTable, args)
	e.l.Push(s.fn)
	e.answer(0, long, w)
	if long {
		e.l.RemoveContext()
	}
	if s.global {
		e.globals.RawSetString("KEYS", lua.LNil)
		e.globals.RawSetString("ARGV", lua.LNil)
	}
	if size > keptWords {
		s.forget(e)
	}
	e.finish()
}

// RunFunction runs f and appends one reply to w.
func (e *Engine) RunFunction(f *Function, keys, args [][]byte, w *resp.Writer) {
	r := &e.run
	r.name, r.proto, r.fail = f.Name, 2, failure{}
	e.limits.Begin()
	e.lib.Begin(f.exact)
	if f.long {
		e.l.SetContext(&e.limits)
		e.limits.Weigh()
	}
	e.l.Push(f.call)
	e.l.Push(e.stringTable(keys))
	e.l.Push(e.stringTable(args))
	e.answer(2, f.long, w)
	if f.long {
		e.l.RemoveContext()
	}
	e.finish()
}

// attempt calls the pushed function with n arguments and notes its failure. Only what is long has
// functions of its own, and can fill the stack. On a full stack no error handler can run, and gopher-lua
// would then describe each frame, in quadratic time. So watchedCall takes the handler's place.
func (e *Engine) attempt(n, results int, long bool) error {
	if !long {
		return e.l.PCall(n, results, e.handler)
	}
	e.l.Insert(e.watchedCall, -(n + 1))
	return e.l.PCall(n+1, results, nil)
}

// answer calls the pushed function with n arguments. It appends the result, or the failure, to w.
func (e *Engine) answer(n int, long bool, w *resp.Writer) {
	start := len(w.Buf)
	err := e.attempt(n, 1, long)
	if err == nil {
		if err = e.writeReply(w, e.l.Get(-1)); err != nil {
			e.run.fail.text = "ERR " + err.Error()
		}
		e.l.SetTop(0)
	}
	if err != nil || e.run.fail.text != "" {
		w.Buf = w.Buf[:start]
		e.writeFailure(w, err)
		e.l.G.CurrentThread = e.l
	}
}

// finish gives back the memory of the script that has ended.
func (e *Engine) finish() {
	if cap(e.argb) > 64<<10 || e.large.lent {
		e.argb = nil
		clear(e.argv[:cap(e.argv)])
	}
	if cap(e.reply.Buf) > 64<<10 {
		e.reply.Buf = nil
	}
	if e.limits.Heavy {
		e.newStacks()
	}
	e.trimGuards()
	if r := &e.run; r.script == nil || r.script.global {
		e.ownEnvironments()
	}
	e.large.lent = false
	e.run.script = nil
	if e.run.fail.text != "" {
		e.run.cut, e.run.fail = nil, failure{}
	}
}

const (
	keptWords  = 4 << 10  // bytes of keys and arguments that a script may keep until it runs again
	largeWords = 64 << 10 // bytes from which on comparing or finding them takes long
)

func sizeOf(words [][]byte) int {
	n := 0
	for _, word := range words {
		n += len(word)
	}
	return n
}

// forget drops the keys and arguments that a script has kept.
func (s *Script) forget(e *Engine) {
	if s.keys != nil {
		s.keyTable = e.ownTable(s.keys, s.keyTable == nil)
	}
	if s.argv != nil {
		s.argTable = e.ownTable(s.argv, s.argTable == nil)
	}
}

// give sets the keys or arguments of a script, in _G if the script looks there.
func (e *Engine) give(name string, s *Script, up *lua.Upvalue, kept *lua.LTable, words [][]byte) *lua.LTable {
	switch {
	case s.global:
		e.globals.RawSetString(name, e.stringTable(words))
	case up != nil:
		return e.fill(up, kept, words)
	}
	return nil
}

// fill sets keys or arguments. It uses the kept table again, which the script can only read;
// without one it makes a new table.
func (e *Engine) fill(up *lua.Upvalue, kept *lua.LTable, words [][]byte) *lua.LTable {
	if kept == nil {
		up.SetValue(e.stringTable(words))
		return nil
	}
	kept.Metatable = lua.LNil
	old := kept.Len()
	if old > 64 || len(words) > 64 {
		kept = e.stringTable(words)
		up.SetValue(kept)
		return kept
	}
	for i, word := range words {
		if was, ok := kept.RawGetInt(i + 1).(lua.LString); ok && string(was) == string(word) {
			continue // clients return with the same name and time
		}
		kept.RawSetInt(i+1, lua.LString(word))
	}
	for i := old; i > len(words); i-- {
		kept.Remove(i)
	}
	return kept
}

func (e *Engine) stringTable(words [][]byte) *lua.LTable {
	t := e.l.CreateTable(len(words), 0)
	for i, word := range words {
		t.RawSetInt(i+1, lua.LString(word))
	}
	return t
}

func sha1hex(text []byte) string {
	sum := sha1.Sum(text)
	return hex.EncodeToString(sum[:])
}
