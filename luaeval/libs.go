package luaeval

// moreLibs opens the libraries that Redis adds to Lua.
func (e *Engine) moreLibs() {}
