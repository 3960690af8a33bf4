package luaeval

// longestError bounds the texts that are looked through: a script may raise one as long as memory.
const longestError = 16 << 10

// sayAsLua replaces gopher-lua's words for an error by Lua's. See named for the variables at fault.
func (e *Engine) sayAsLua(text string) string {
	if len(text) > longestError {
		return text
	}
	if e.words == nil {
		e.words = vmErrors()
	}
	for _, m := range e.words {
		if m.found.MatchString(text) {
			return m.found.ReplaceAllString(text, m.say)
		}
	}
	return text
}
