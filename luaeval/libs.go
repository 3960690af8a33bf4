package luaeval

// moreLibs opens the libraries that Redis adds to Lua.
func (e *Engine) moreLibs() {
	e.library("cjson", e.jsonLib())
	e.library("cmsgpack", e.msgpackLib())
	e.library("bit", e.bitLib())
	e.library("struct", e.structLib())
}
