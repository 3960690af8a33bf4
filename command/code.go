package command

import (
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/store"
)

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

// ReplaceKeys has the keys of a snapshot take the place of all there are. Who watches or has
// cached keys learns of it as from FLUSHALL, who waits for a key that is there now gets it.
func (ex *Executor) ReplaceKeys(s store.Snapshot) {
	fresh := ex.KS.Databases(s)
	for i, db := range ex.KS.DBs {
		ex.replaced(db, fresh[i])
	}
	ex.invalidateAll()
	ex.KS.Replace(fresh)
	for _, db := range ex.KS.DBs {
		ex.exchanged(db)
	}
}
