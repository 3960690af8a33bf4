package command

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"

	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/store"
)

// Script is the script that a request would run, by its SHA1 and text, or the function's
// name and the text of its library; "" for none.
func (ex *Executor) Script(c *Command, args [][]byte) (name, text string) {
	if len(args) < 2 {
		return "", ""
	}
	switch c.Name {
	case "eval", "eval_ro":
		sum := sha1.Sum(args[1])
		return hex.EncodeToString(sum[:]), string(args[1])
	case "evalsha", "evalsha_ro":
		if script := ex.lua().Find(args[1]); script != nil {
			return script.SHA, script.Body
		}
		return string(args[1]), ""
	case "fcall", "fcall_ro":
		return string(args[1]), ex.functionText(args[1])
	}
	return "", ""
}

func (ex *Executor) functionText(name []byte) string {
	f := ex.functions.Find(name)
	for _, library := range ex.functions.All() {
		if f != nil && slices.ContainsFunc(library.Functions, func(other *luaeval.Function) bool { return other == f }) {
			return library.Code
		}
	}
	return ""
}

// Code is what clients have loaded: the texts of scripts, and of function libraries.
type Code struct{ Scripts, Libraries []string }

// Code returns what is loaded now.
func (ex *Executor) Code() (code Code) {
	if ex.engine != nil {
		code.Scripts = ex.engine.Bodies()
	}
	for _, library := range ex.functions.All() {
		code.Libraries = append(code.Libraries, library.Code)
	}
	return code
}

// LoadCode has code take the place of what is loaded. It has been loaded before, so none of
// it can be refused.
func (ex *Executor) LoadCode(code Code) {
	if ex.engine != nil {
		ex.engine.Renew()
	}
	ex.functions = luaeval.NewLibraries()
	for _, body := range code.Scripts {
		_, _ = ex.lua().Load([]byte(body))
	}
	for _, text := range code.Libraries {
		_, _ = ex.lua().LoadLibrary(ex.functions, []byte(text), false)
	}
}

// FunctionMemory is how many libraries and functions there are, and about how many
// bytes they take and the interpreter because of them.
func (ex *Executor) FunctionMemory() (libraries, functions, bytes, interpreter int) {
	libraries, functions = ex.functions.Len()
	if ex.engine != nil {
		interpreter = ex.engine.LibraryStateMem()
	}
	return libraries, functions, ex.functions.Mem(), interpreter
}

func (ex *Executor) restoreLibraries(payload []byte) (*luaeval.Libraries, error) {
	code, err := rdb.RestoreLibraries(ex.payload(payload))
	restored := luaeval.NewLibraries()
	for _, text := range code {
		if _, err := ex.lua().LoadLibrary(restored, text, false); err != nil {
			return nil, store.Error(err.Error())
		}
	}
	return restored, err
}
