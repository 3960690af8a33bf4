package luaeval

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// Words of scripts, and the white space between them.
const wellFormed = `local a , b = 1 , { x = 2 ; [ 3 ] = 'y' , f ( ) } NL
function t . u : v ( c , ... ) return c .. 'z' , ... end
if a == 1 then b . x = - 2 elseif not a then a = # b else a , b = b , a end while a do break end NL
repeat local d = a ^ 2 % 3 until d for i = 1 , 3 , 1 do f ( i ) : g ( "s" ) end
for k , v in pairs ( b ) do ( h or k ) { v } NL end do local function e ( ) end end
b [ a ] = function ( ... ) return ( ... ) end a . b . c = nil ;
return a and b or 0x1F , 1.5e3 , [[long]] , true`

// A text with a word too many, too few or in the wrong place has Lua's error.
func TestSyntaxErrorsHaveTheWordsOfRedis(t *testing.T) {
	s := newSides(t)
	turns := amount.Count(400, 6000)
	list := []string{
		"return 0x1p4", "return {0x1P-1*4, 0xAp0}", "return 0x", "return 0xg", "return 1..2", "return 5..'x'",
		"return 3x", "return 1_0", "return 0x1.8", "break", "do break end return 1",
		"while true do local function f() break end end", "local f=tostring f\n(1)", "local s='x'\n(s):len()",
		"return 'a\nb'", "return 'abc", "return [[abc", "return [==[a]]", "return '\\400'",
		"return '\\1\\65\\z'", "--[[ abc", "--[=[ a ]] ]=] return 1", "return [=abc", "return [[ [[ ]]",
		"return @", "return a!b", "return a ~ b", "return ~", "return 1;;", ";", "return {1;;2}",
		"return {1 2}", "a,b", "(a) = 1", "f() = 1", "return ...", "return function() return ... end",
		"return function(a,) end", "return function(...,a) end", "for i,j=1,2 do end", "return x.end",
		"if x then\nreturn 1", "f(\n1", "return {\n1,2", "return\n\n(", "\x01", "return 1 \\",
		"function a.b:c.d() end", "local function a.b() end", "return a:b", "return 'x':len()", "::a::",
		"goto a", "local a <const> = 1",
	}
	r := rand.New(rand.NewPCG(5, 1))
	for range turns {
		words := strings.Fields(wellFormed)
		from := r.IntN(len(words))
		words = words[from:min(len(words), from+2+r.IntN(30))]
		for range r.IntN(3) {
			at, other := r.IntN(len(words)), r.IntN(len(words))
			words[at], words[other] = words[other], words[at]
		}
		list = append(list, strings.ReplaceAll(strings.Join(words, " "), "NL", "\n"))
	}
	for _, script := range list {
		script = "do return 1 end " + script // what compiles must not run
		if ours := s.ours(2, script, nil); strings.HasPrefix(ours, ":") || strings.Contains(ours, "Error compiling") {
			if theirs := s.theirs(2, script, nil); theirs != ours {
				t.Errorf("%q\nredis:  %q\nengine: %q", script, theirs, ours)
			}
		} else {
			t.Errorf("%q: %q", script, ours)
		}
	}
}
