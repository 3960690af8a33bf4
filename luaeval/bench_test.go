package luaeval

import (
	"fmt"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/resp"
)

// BenchmarkLockScripts runs the scripts of a lock client with commands that cost nothing, so it
// measures the engine.
func BenchmarkLockScripts(b *testing.B) {
	e := New(Options{Call: func(args [][]byte, w *resp.Writer) {
		switch string(args[0]) {
		case "get":
			w.BulkString("value")
		case "exists":
			w.Int(0)
		default:
			w.Int(1)
		}
	}})
	for _, c := range []struct {
		name, script string
		keys, args   []string
	}{
		{"unlock", `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`,
			[]string{"lock"}, []string{"value"}},
		{"reentrant", `if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then ` +
			`redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; ` +
			`return redis.call('pttl', KEYS[1]);`, []string{"lock"}, []string{"30000", "6b1e9bd4-5b5a-4b5e:1"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			keys, args := words(c.keys), words(c.args)
			body := []byte(c.script)
			w := resp.Writer{Proto: 2}
			b.ReportAllocs()
			for b.Loop() {
				w.Buf = w.Buf[:0]
				s, err := e.Load(body)
				if err != nil {
					b.Fatal(err)
				}
				e.Run(s, keys, args, &w)
			}
		})
		b.Run(c.name+" as a function", func(b *testing.B) {
			body := strings.NewReplacer("KEYS", "keys", "ARGV", "args").Replace(c.script)
			libraries := NewLibraries()
			if _, err := e.LoadLibrary(libraries, []byte("#!lua name=l\nredis.register_function('f', function(keys, "+
				"args)\n"+body+"\nend)"), false); err != nil {
				b.Fatal(err)
			}
			keys, args := words(c.keys), words(c.args)
			w := resp.Writer{Proto: 2}
			b.ReportAllocs()
			for b.Loop() {
				w.Buf = w.Buf[:0]
				e.RunFunction(libraries.Find([]byte("f")), keys, args, &w)
			}
		})
	}
}

// BenchmarkTables measures tables that have no holes, and tables that may have some.
func BenchmarkTables(b *testing.B) {
	e := alone(Options{})
	for _, c := range []struct{ name, script string }{
		{"append", `local t = {} for i = 1, 1000 do t[#t + 1] = i end return #t`},
		{"fill", `local t = {} for i = 1, 1000 do t[i] = i end return #t`},
		{"fill and delete", `local t = {} for i = 1, 1000 do t[i] = i end for i = 1, 1000 do t[i] = nil end return #t`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				evalOn(e, 2, c.script, nil)
			}
		})
	}
}

// BenchmarkPcall measures protected calls, with and without an error.
func BenchmarkPcall(b *testing.B) {
	e := alone(Options{})
	for _, c := range []struct{ name, script string }{
		{"script of one pcall", `return pcall(redis.call, "get", "x")`},
		{"thousand pcalls", `local f = function(x) return x end for i = 1, 1000 do pcall(f, i) end`},
		{"thousand errors", `local f = function(x) error(x) end for i = 1, 1000 do pcall(f, i) end`},
		{"thousand handlers", `local f = function(x) error(x) end for i = 1, 1000 do xpcall(f, type) end`},
		{"hundred inside each other", `local function f(n) if n > 0 then return pcall(f, n - 1) end end return f(100)`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				evalOn(e, 2, c.script, nil)
			}
		})
	}
}

// BenchmarkCompile shows that the time grows linearly with the number of constants.
func BenchmarkCompile(b *testing.B) {
	e := alone(Options{})
	lock := `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`
	scripts := []struct{ name, text string }{{"unlock", lock}}
	for _, n := range []int{100, 1000, 10000, 100000} {
		scripts = append(scripts, struct{ name, text string }{fmt.Sprint("strings/", n), "return #{" + numbered(n, ",",
			"'k%d'") + "}"})
	}
	for _, c := range scripts {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Flush()
				if _, err := e.Load([]byte(c.text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkComputing runs scripts that compute, with commands that cost nothing. The scripts that call
// nothing of Redis also run in gopher-lua alone: the difference is the price of the limits.
func BenchmarkComputing(b *testing.B) {
	e := New(Options{Call: func(args [][]byte, w *resp.Writer) { w.Int(1) }})
	keys, args := words([]string{"c"}), words([]string{"abc"})
	for _, c := range []struct{ name, script string }{
		{"fib", `local function f(n) if n<2 then return n end return f(n-1)+f(n-2) end return f(20)`},
		{"loop", `local s=0 for i=1,1000 do s=s+i end return s`},
		{"table", `local t={} for i=1,1000 do t[i]=i*2 end local s=0 for _,v in ipairs(t) do s=s+v end return s`},
		{"format", `local t={} for i=1,20 do t[#t+1]=string.format('%d:%s',i,ARGV[1]) end return table.concat(t,',')`},
		{"calls", `for i=1,10 do redis.call('INCR',KEYS[1]) end return 1`},
		{"while", `local i=0 while i<1000 do i=i+1 if i%3==0 then i=i+1 end end return i`},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := resp.Writer{Proto: 2}
			b.ReportAllocs()
			for b.Loop() {
				w.Buf = w.Buf[:0]
				s, err := e.Load([]byte(c.script))
				if err != nil {
					b.Fatal(err)
				}
				e.Run(s, keys, args, &w)
			}
		})
		if !strings.Contains(c.script, "KEYS") && !strings.Contains(c.script, "ARGV") {
			b.Run(c.name+" in gopher-lua alone", func(b *testing.B) { runAlone(b, c.script) })
		}
	}
}

// runAlone runs a script in gopher-lua with its own libraries and without a context.
func runAlone(b *testing.B, script string) {
	l := lua.NewState()
	defer l.Close()
	f, err := l.LoadString(script)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Push(f)
		l.Call(0, 1)
		l.Pop(1)
	}
}
