package command

import (
	"strings"

	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/store"
)

func functionRows() []Row {
	const (
		run    = NoScript | Stale | SkipMonitor | NoMandatoryKeys
		call   = "function numkeys [key ...] [arg ...]"
		calls  = "Depends on the function."
		change = Write | NoScript | RequestAllShards | ResponseAllSucceeded
		number = "O(N) for N functions"
	)
	return []Row{
		{"fcall", call,
			-3, run | MayReplicate, script(functionName, RW|Access|Update), "scripting", "7.0.0",
			calls,
			"Calls a function of a library.", fcall},
		{"fcall_ro", call,
			-3, run | ReadOnly, script(functionName, RO|Access), "scripting", "7.0.0",
			calls,
			"Calls a function that must not write.", fcall},
		{"function", "",
			-2, 0, nil, "scripting", "7.0.0",
			"See the subcommands.",
			"Manages libraries of functions.", nil},
		{"function|delete", "library-name",
			3, change, nil, "scripting", "7.0.0",
			"O(1)",
			"Deletes one library.", functionDelete},
		{"function|dump", "",
			2, NoScript, nil, "scripting", "7.0.0",
			number,
			"Returns all libraries as a byte string for FUNCTION RESTORE.", functionDump},
		{"function|flush", "[flush-type: ASYNC | SYNC]",
			-2, change, nil, "scripting", "7.0.0",
			number + " deleted",
			"Deletes every library.", functionFlush},
		{"function|help", "",
			2, Loading | Stale, nil, "scripting", "7.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
		{"function|kill", "",
			2, NoScript | AllowBusy | RequestAllShards | ResponseOneSucceeded, nil, "scripting", "7.0.0",
			"O(1)",
			"Stops the running function.", functionKill},
		{"function|list", "[LIBRARYNAME library-name-pattern] [WITHCODE]",
			-2, NoScript | NondeterministicOrder, nil, "scripting", "7.0.0",
			number,
			"Describes the libraries.", functionList},
		{"function|load", "[REPLACE] function-code",
			-3, change | DenyOOM, nil, "scripting", "7.0.0",
			"O(S) to compile a library of S bytes",
			"Loads a library from its source text.", functionLoad},
		{"function|restore", "serialized-value [policy: FLUSH | APPEND | REPLACE]",
			-3, change | DenyOOM, nil, "scripting", "7.0.0",
			number + " on the payload",
			"Loads the libraries in a byte string of FUNCTION DUMP.", functionRestore},
		{"function|stats", "",
			2, NoScript | AllowBusy | NondeterministicOutput | RequestAllShards | ResponseSpecial, nil,
			"scripting", "7.0.0",
			"O(1)",
			"Describes the running function, and counts libraries and functions.", functionStats},
	}
}

const (
	errNoFunction    store.Error = "ERR Function not found"
	errNoLibrary     store.Error = "ERR Library not found"
	errBadKeys       store.Error = "ERR Bad number of keys provided"
	errFunctionFlush store.Error = "ERR FUNCTION FLUSH only supports SYNC|ASYNC option"
	errNoLibraryName store.Error = "ERR library name argument was not given"
	errRestorePolicy store.Error = "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE."
)

// FCALL function numkeys [key ...] [arg ...] (functions.c: fcallCommand)
// FCALL_RO function numkeys [key ...] [arg ...] (functions.c: fcallroCommand)
// The function runs as a script of EVAL does.
func fcall(c *Call) error {
	c.showScript()
	sc, args := &c.Ex.Scripts, c.Args
	f := sc.functions.Find(args[1])
	if f == nil {
		return errNoFunction
	}
	n, err := numKeys(args)
	if err == errNotInt {
		return errBadKeys
	}
	if err != nil {
		return err
	}
	if err := sc.begin(c, f.Name, f.Flags); err != nil {
		return err
	}
	sc.run.function = true
	sc.engine.RunFunction(f, args[3:3+n], args[3+n:], c.Writer)
	sc.end(c.Cmd)
	return nil
}

// FUNCTION LOAD [REPLACE] function-code (functions.c: functionLoadCommand)
func functionLoad(c *Call) error {
	code := c.Args[len(c.Args)-1]
	replace := false
	for _, option := range c.Args[2 : len(c.Args)-1] {
		if !is(option, "replace") {
			return errorf("ERR Unknown option given: %s", option)
		}
		replace = true
	}
	library, err := c.Ex.Scripts.lua().LoadLibrary(c.Ex.Scripts.functions, code, replace)
	if err != nil {
		return store.Error(err.Error())
	}
	c.Count(1)
	c.BulkString(library.Name)
	return nil
}

// FUNCTION DELETE library-name (functions.c: functionDeleteCommand)
func functionDelete(c *Call) error {
	if !c.Ex.Scripts.functions.Delete(string(c.Args[2])) {
		return errNoLibrary
	}
	c.Count(1)
	c.OK()
	return nil
}

// FUNCTION FLUSH [ASYNC | SYNC] (functions.c: functionFlushCommand)
// Both modes do the same: the garbage collector frees the functions.
func functionFlush(c *Call) error {
	if len(c.Args) > 3 {
		return errFunctionArguments(c)
	}
	if len(c.Args) == 3 && !is(c.Args[2], "async") && !is(c.Args[2], "sync") {
		return errFunctionFlush
	}
	c.Ex.Scripts.functions = luaeval.NewLibraries()
	c.Count(1)
	c.OK()
	return nil
}

func errFunctionArguments(c *Call) error {
	return errorf("ERR unknown subcommand or wrong number of arguments for '%s'. Try FUNCTION HELP.", c.Args[1])
}

// FUNCTION LIST [LIBRARYNAME library-name-pattern] [WITHCODE] (functions.c: functionListCommand)
func functionList(c *Call) error {
	var pattern []byte
	withCode := false
	for i := 2; i < len(c.Args); i++ {
		switch {
		case !withCode && is(c.Args[i], "withcode"):
			withCode = true
		case pattern == nil && is(c.Args[i], "libraryname"):
			if i++; i == len(c.Args) {
				return errNoLibraryName
			}
			pattern = c.Args[i]
		default:
			return errorf("ERR Unknown argument %s", c.Args[i])
		}
	}
	mark, n := c.Defer(), 0
	for _, library := range c.Ex.Scripts.functions.All() {
		if pattern == nil || store.Match(pattern, []byte(library.Name), true) {
			c.describeLibrary(library, withCode)
			n++
		}
	}
	c.EndArray(mark, n)
	return nil
}

func (c *Call) describeLibrary(library *luaeval.Library, withCode bool) {
	fields := 3
	if withCode {
		fields++
	}
	c.Map(fields)
	c.BulkString("library_name")
	c.BulkString(library.Name)
	c.BulkString("engine")
	c.BulkString("LUA")
	c.BulkString("functions")
	c.Array(len(library.Functions))
	for _, f := range library.Functions {
		c.Map(3)
		c.BulkString("name")
		c.BulkString(f.Name)
		c.BulkString("description")
		if f.Described {
			c.BulkString(f.Description)
		} else {
			c.Null()
		}
		c.BulkString("flags")
		flags := f.Flags.Names()
		c.Set(len(flags))
		for _, flag := range flags {
			c.Status(flag)
		}
	}
	if withCode {
		c.BulkString("library_code")
		c.BulkString(library.Code)
	}
}

// FUNCTION STATS (functions.c: functionStatsCommand)
// This command may run while a function is busy. For a busy script it is refused, as in Redis.
func functionStats(c *Call) error {
	run := &c.Ex.Scripts.run
	if run.busy && !run.function {
		return errBusyEval
	}
	c.Map(2)
	c.BulkString("running_script")
	if run.busy {
		c.Map(3)
		c.BulkString("name")
		c.BulkString(run.name)
		c.BulkString("command")
		c.Array(len(run.args))
		for _, arg := range run.args {
			c.Bulk(arg)
		}
		c.BulkString("duration_ms")
		c.Int((c.Ex.Clock.Mono() - run.started) / 1e6)
	} else {
		c.Null()
	}
	libraries, functions := c.Ex.Scripts.functions.Len()
	c.BulkString("engines")
	c.Map(1)
	c.BulkString("LUA")
	c.Map(2)
	c.BulkString("libraries_count")
	c.Int(int64(libraries))
	c.BulkString("functions_count")
	c.Int(int64(functions))
	return nil
}

// FUNCTION KILL (functions.c: functionKillCommand)
func functionKill(c *Call) error { return c.killScript(true) }

// FUNCTION DUMP (functions.c: functionDumpCommand)
// The dump holds the source code of the libraries, as in Redis.
func functionDump(c *Call) error {
	var code []string
	for _, library := range c.Ex.Scripts.functions.All() {
		code = append(code, library.Code)
	}
	c.Bulk(rdb.DumpLibraries(code, c.Ex.Table.Dialect.DumpVersion))
	return nil
}

// FUNCTION RESTORE serialized-value [FLUSH | ...] (functions.c: functionRestoreCommand)
// All libraries of the payload are compiled before an existing one is changed.
func functionRestore(c *Call) error {
	if len(c.Args) > 4 {
		return errFunctionArguments(c)
	}
	policy := "append"
	if len(c.Args) == 4 {
		policy = strings.ToLower(string(c.Args[3]))
	}
	if policy != "append" && policy != "replace" && policy != "flush" {
		return errRestorePolicy
	}
	restored, err := c.Ex.Scripts.restoreLibraries(c.payload(c.Args[2]))
	if err != nil {
		return err
	}
	if policy == "flush" {
		c.Ex.Scripts.functions = restored
	} else if err := c.Ex.Scripts.functions.Join(restored, policy == "replace"); err != nil {
		return store.Error(err.Error())
	}
	c.Count(1)
	c.OK()
	return nil
}
