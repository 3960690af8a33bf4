package luaeval

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/resp"
)

// Options say what an engine runs in. Call is required; the zero value of everything else is usable.
type Options struct {
	// Call executes one command for the running script and appends its reply, in the protocol w.Proto, to w. Args are
	// valid until it returns.
	Call func(args [][]byte, w *resp.Writer)
	// Poll is called about every millisecond while a script runs. A non-nil error ends the script with that text.
	Poll func(ran time.Duration) error
	// Failed is told every error in the script's reply. Those that came from a command have been seen by the caller before.
	Failed func(text string, ofCommand bool)
	// CheckACL says whether the user may run a command; known is false when there is no such command.
	CheckACL func(args [][]byte) (allowed, known bool)
	// Log takes the messages of redis.log with the level the script gave, 0 (debug) to 3 (warning).
	Log func(level int, text string)
	// Clock is a monotonic clock in nanoseconds.
	Clock func() int64
	// Held is the number of bytes the data set takes, which a script may let grow without its own budget paying.
	Held func() int64

	Version    string // redis.REDIS_VERSION, "7.2.6"
	VersionNum int    // redis.REDIS_VERSION_NUM, 0x00070206

	Budget   int64  // bytes a script may hold; 256 MB when 0
	MaxBulk  int64  // longest string a script may build; 512 MB when 0
	Seed     uint32 // of math.random
	MaxSteps int64  // steps of pattern matching in one script; 2^28 when 0
}

// Engine is a Lua state and the scripts compiled for it.
type Engine struct {
	o  Options
	l  *lua.LState
	by struct {
		sha, body map[string]*Script
	}
	bytes int // of the bodies kept

	globals *lua.LTable // the environment of every function
	gproxy  *lua.LTable // what scripts see as _G
	known   map[string]lua.LValue

	scriptScope, libraryScope scope
	loading                   *Library // whose text runs

	hidden    map[string]lua.LValue // functions the rewritten tree calls, under names no script can spell
	real      map[*lua.LTable]*lua.LTable
	readOnly  *lua.LFunction
	handler   *lua.LFunction
	following *lua.LFunction            // the iterator of ipairs
	lib       map[string]lua.LGFunction // gopher-lua's own, where they are called from ours

	run    run
	reply  resp.Writer
	argv   [][]byte
	argb   []byte
	ints   [256]lua.LValue
	null   *lua.LUserData // cjson.null
	json   struct{ scripts, functions jsonSettings }
	words  []vmError
	random uint64 // state of math.random
}

// run is the state of the script being run.
type run struct {
	script  *Script
	name    string // of what runs, for its errors: the script's SHA1, the function's name
	proto   int    // of redis.call, by redis.setresp
	limits  limits
	calls   calls
	threads int
	fail    failure
	replied int   // length of the output when the reply was last counted
	cut     error // why the reply was not written to its end
}

// failure is where and how the script ended, noted before the stack is unwound.
type failure struct {
	text, source string
	line         int
	counted      bool // it came from a command
}

// Script is a compiled script.
type Script struct {
	SHA    string
	Body   string
	Header Header

	fn         *lua.LFunction
	keys, argv *lua.Upvalue
	keyTable   *lua.LTable // kept when the script only looks into it
	argTable   *lua.LTable
	global     bool // it may look for KEYS in _G
	long       bool // it may run for long: give it a context
}

// largestHole bounds the memory one assignment takes: `t[n] = 1` makes an array of n elements below this index, and an
// entry of a map above. gopher-lua has it as a variable of the package; all engines agree on the value.
const largestHole = 1 << 20

var boundHoles = sync.OnceFunc(func() { lua.MaxArrayIndex = largestHole })

// New returns an engine without scripts.
func New(o Options) *Engine {
	boundHoles()
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
	e := &Engine{o: o, real: map[*lua.LTable]*lua.LTable{}, words: vmErrors()}
	e.random = seed(o.Seed)
	e.Renew()
	e.l = lua.NewState(lua.Options{
		CallStackSize: 16000, RegistrySize: 16 << 10, RegistryMaxSize: 1 << 20, RegistryGrowStep: 64 << 10, SkipOpenLibs: true,
	})
	// Coroutines inherit these, and there may be many.
	e.l.Options.CallStackSize, e.l.Options.RegistrySize, e.l.Options.RegistryGrowStep = 200, 256, 4<<10
	for i := range e.ints {
		e.ints[i] = lua.LNumber(i)
	}
	e.openLibs()
	e.run.limits.init(&e.o)
	return e
}

func orDefault(n, def int64) int64 {
	if n == 0 {
		return def
	}
	return n
}

// Find returns the script with this SHA1 in hexadecimal, in any case, or nil.
func (e *Engine) Find(sha []byte) *Script {
	if s := e.by.sha[string(sha)]; s != nil || len(sha) != 2*sha1.Size {
		return s
	}
	var lower [2 * sha1.Size]byte
	for i, c := range sha {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	return e.by.sha[string(lower[:])]
}

// Load returns the script with this body, compiled and kept. The text of the error is the reply, without '-'.
func (e *Engine) Load(body []byte) (*Script, error) {
	if s := e.by.body[string(body)]; s != nil {
		return s, nil
	}
	s := &Script{SHA: sha1hex(body), Body: string(body)}
	var err error
	var code string
	if s.Header, code, err = parseHeader(s.Body); err != nil {
		return nil, err
	}
	if err := e.compile(s, code); err != nil {
		return nil, err
	}
	e.by.sha[s.SHA], e.by.body[s.Body] = s, s
	e.bytes += len(s.Body)
	return s, nil
}

// Flush forgets all scripts, and what they have set.
func (e *Engine) Flush() {
	e.json.scripts = defaultJSON()
	e.by.sha, e.by.body, e.bytes = map[string]*Script{}, map[string]*Script{}, 0
}

// Renew is Flush for an engine that is to be as new: it forgets what functions have set, too.
func (e *Engine) Renew() {
	e.Flush()
	e.json.functions = defaultJSON()
}

// Bodies are the scripts kept, sorted.
func (e *Engine) Bodies() []string { return slices.Sorted(maps.Keys(e.by.body)) }

// Len is the number of scripts kept.
func (e *Engine) Len() int { return len(e.by.sha) }

// StateMem is about what a state without scripts takes: measured, Go does not tell whose memory is whose.
const StateMem = 180 << 10

// Mem is about what the scripts take that are kept: measured, too.
func (e *Engine) Mem() int { return e.bytes*8 + len(e.by.sha)*(5<<10) }

// Run runs s and appends one reply to w.
func (e *Engine) Run(s *Script, keys, args [][]byte, w *resp.Writer) {
	r := &e.run
	r.script, r.name, r.proto, r.fail, r.calls, r.threads = s, s.SHA, 2, failure{}, calls{}, 0
	r.limits.begin()
	if s.long {
		e.l.SetContext(&r.limits)
		r.limits.base = r.limits.heap()
	}
	if s.keys != nil {
		s.keyTable = e.fill(s.keys, s.keyTable, keys)
	}
	if s.argv != nil {
		s.argTable = e.fill(s.argv, s.argTable, args)
	}
	if s.global {
		e.globals.RawSetString("KEYS", e.stringTable(keys))
		e.globals.RawSetString("ARGV", e.stringTable(args))
	}
	e.l.Push(s.fn)
	e.answer(0, w)
	if s.long {
		e.l.RemoveContext()
	}
	if s.global {
		e.globals.RawSetString("KEYS", lua.LNil)
		e.globals.RawSetString("ARGV", lua.LNil)
	}
	e.finish()
}

// RunFunction runs f and appends one reply to w.
func (e *Engine) RunFunction(f *Function, keys, args [][]byte, w *resp.Writer) {
	r := &e.run
	r.name, r.proto, r.fail, r.calls, r.threads = f.Name, 2, failure{}, calls{}, 0
	r.limits.begin()
	if f.long {
		e.l.SetContext(&r.limits)
		r.limits.base = r.limits.heap()
	}
	e.l.Push(f.call)
	e.l.Push(e.stringTable(keys))
	e.l.Push(e.stringTable(args))
	e.answer(2, w)
	if f.long {
		e.l.RemoveContext()
	}
	e.finish()
}

// answer calls the function that was pushed with n arguments and appends what it returns, or its failure.
func (e *Engine) answer(n int, w *resp.Writer) {
	start := len(w.Buf)
	err := e.l.PCall(n, 1, e.handler)
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

func (e *Engine) finish() {
	if cap(e.argb) > 64<<10 {
		e.argb = nil
	}
	if cap(e.reply.Buf) > 64<<10 {
		e.reply.Buf = nil
	}
	e.run.script = nil
}

// fill gives the script its keys or arguments: in the table it had before when it cannot have kept it or changed it, in
// a new one otherwise.
func (e *Engine) fill(up *lua.Upvalue, kept *lua.LTable, words [][]byte) *lua.LTable {
	if kept == nil {
		up.SetValue(e.stringTable(words))
		return nil
	}
	old := kept.Len()
	if old > 64 || len(words) > 64 {
		kept = e.stringTable(words)
		up.SetValue(kept)
		return kept
	}
	for i, word := range words {
		if was, ok := kept.RawGetInt(i + 1).(lua.LString); ok && string(was) == string(word) {
			continue // clients come back with their name and their time
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
