package command

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"

	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/store"
)

// flags returns the flags of a request that runs a script. A script with a shebang replaces some of
// the command's flags by those that it declares
// (eval.c: evalGetCommandFlags; script.c: scriptFlagsToCmdFlags).
func (sc *Scripts) flags(cmd *Command, args [][]byte) Flag {
	declared, found := sc.declared(cmd, args)
	if !found || declared&luaeval.Compat != 0 {
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

// declared returns the flags in the shebang of the script that a request runs.
func (sc *Scripts) declared(cmd *Command, args [][]byte) (flags luaeval.Flags, found bool) {
	switch cmd.Script {
	case scriptText:
		return luaeval.Declared(args[1]), true
	case scriptSHA:
		if script := sc.lua().Find(args[1]); script != nil {
			return script.Header.Flags, true
		}
	case functionName:
		if f := sc.functions.Find(args[1]); f != nil {
			return f.Flags, true
		}
	}
	return 0, false
}

// Source returns the script that a request would run: its SHA1 and text, or the function's name and
// the text of its library. Both are empty for a request that runs no script.
func (sc *Scripts) Source(cmd *Command, args [][]byte) (name, text string) {
	if len(args) < 2 {
		return "", ""
	}
	switch cmd.Script {
	case scriptText:
		sum := sha1.Sum(args[1])
		return hex.EncodeToString(sum[:]), string(args[1])
	case scriptSHA:
		if script := sc.lua().Find(args[1]); script != nil {
			return script.SHA, script.Body
		}
		return string(args[1]), ""
	case functionName:
		return string(args[1]), sc.libraryOf(args[1])
	}
	return "", ""
}

// libraryOf returns the text of the library with the function called name.
func (sc *Scripts) libraryOf(name []byte) string {
	f := sc.functions.Find(name)
	for _, library := range sc.functions.All() {
		if f != nil && slices.Contains(library.Functions, f) {
			return library.Code
		}
	}
	return ""
}

// Code is what clients have loaded: the texts of scripts and of function libraries.
type Code struct{ Scripts, Libraries []string }

// Code returns what is loaded now.
func (sc *Scripts) Code() (code Code) {
	if sc.engine != nil {
		code.Scripts = sc.engine.Bodies()
	}
	for _, library := range sc.functions.All() {
		code.Libraries = append(code.Libraries, library.Code)
	}
	return code
}

// LoadCode replaces all scripts and libraries. code was loaded before, so no part of it fails.
func (sc *Scripts) LoadCode(code Code) {
	if sc.engine != nil {
		sc.engine.Renew()
	}
	sc.functions = luaeval.NewLibraries()
	for _, body := range code.Scripts {
		_, _ = sc.lua().Load([]byte(body))
	}
	for _, text := range code.Libraries {
		_, _ = sc.lua().LoadLibrary(sc.functions, []byte(text), false)
	}
}

// LoadLibrary loads a library of functions. It replaces one that exists, or fails.
func (sc *Scripts) LoadLibrary(code []byte, replace bool) error {
	_, err := sc.lua().LoadLibrary(sc.functions, code, replace)
	return err
}

// restoreLibraries loads the libraries of a payload of FUNCTION DUMP.
func (sc *Scripts) restoreLibraries(payload []byte) (*luaeval.Libraries, error) {
	code, err := rdb.RestoreLibraries(payload, sc.ex.Table.Dialect.DumpVersion)
	restored := luaeval.NewLibraries()
	for _, text := range code {
		if _, err := sc.lua().LoadLibrary(restored, text, false); err != nil {
			return nil, store.Error(err.Error())
		}
	}
	return restored, err
}

// SeedRandom restarts math.random from the seed, as a restart of the server does.
func (sc *Scripts) SeedRandom() {
	if sc.engine != nil {
		sc.engine.SeedRandom(uint32(sc.ex.Cfg.Seed))
	}
}

// Memory returns the number of cached scripts and, roughly, the bytes of their texts and of the
// interpreter.
func (sc *Scripts) Memory() (scripts, kept, interpreter int) {
	if sc.engine == nil {
		return 0, 0, 0
	}
	return sc.engine.Len(), sc.engine.Mem(), sc.engine.StateMem()
}

// FunctionMemory returns the number of libraries and of functions and, roughly, the bytes of the
// libraries and of the interpreter for them.
func (sc *Scripts) FunctionMemory() (libraries, functions, bytes, interpreter int) {
	libraries, functions = sc.functions.Len()
	if sc.engine != nil {
		interpreter = sc.engine.LibraryStateMem()
	}
	return libraries, functions, sc.functions.Mem(), interpreter
}
