package luaeval

// moreLibs opens the libraries that Redis adds to Lua.
func (e *Engine) moreLibs() {
	e.null = e.l.NewUserData()
	e.library("cjson", e.jsonLib(&e.json.scripts))
	e.library("cmsgpack", e.msgpackLib())
	e.library("bit", e.bitLib())
	e.library("struct", e.structLib())
}
