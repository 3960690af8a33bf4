package luaeval

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

func TestTheStringLibraryCannotBeChangedThroughAString(t *testing.T) {
	e := alone(Options{})
	for _, script := range []string{
		`getmetatable('').__index.len = function() return 666 end`,
		`getmetatable('').__index.len = nil`,
		`getmetatable('').__index.new = 1`,
		`getmetatable('').__index = {}`,
		`getmetatable('').__add = nil`,
		`rawset(getmetatable('').__index, 'len', nil)`,
		`setmetatable(getmetatable('').__index, {})`,
		`table.insert(getmetatable('').__index, 1)`,
		`setmetatable({}, {__newindex = getmetatable('').__index}).len = nil`,
	} {
		require.Contains(t, evalOn(e, 2, script, nil), lualib.ReadOnlyText, script)
		require.Equal(t, "*2\r\n:3\r\n:3\r\n", evalOn(e, 2, `return {string.len('abc'), ('abc'):len()}`, nil), script)
	}
	require.Equal(t, "$7\r\n__index\r\n", evalOn(e, 2,
		`local names = '' for name in pairs(getmetatable('')) do names = names .. name end return names`, nil))
	require.Equal(t, ":1\r\n", evalOn(e, 2, `return getmetatable('').__index == string`, nil))
	require.Equal(t, "*3\r\n:1\r\n:1\r\n:3\r\n", evalOn(e, 2, `local like = setmetatable({}, getmetatable('')) `+
		`return {like.len == string.len, getmetatable(like) == getmetatable(''), like.len('abc')}`, nil))
	require.Contains(t, evalOn(e, 2, `getmetatable(setmetatable({}, getmetatable(''))).__index = 1`, nil),
		lualib.ReadOnlyText)
}
