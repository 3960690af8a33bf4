// Package luaeval runs Lua scripts as Redis does. It knows Lua values and RESP, and nothing of
// commands, sessions or sockets. A script reaches commands through one function that the caller
// gives: [Options.Call].
//
//	EVAL body ──> Engine.Load ──────────> Script (its text is kept by SHA1)
//	               scan: nesting, constants │
//	               parse: gopher-lua        v
//	               rewrite the tree     Engine.Run(script, keys, args, reply)
//	               compile                  │  redis.call ──> Options.Call ──> raw RESP ──> Lua values
//	                                        └──> the returned value as one RESP reply
//
// The libraries of FUNCTION LOAD are Lua as well. [Engine.LoadLibrary] runs their text once and
// keeps the functions that it registers in [Libraries]. [Engine.RunFunction] calls one of them.
// See scope for what each of the two may name.
//
// Two packages belong to this one. Package lualib is what Lua programs call, such as the string
// library. Package limits ends scripts that run too long.
//
// # Who may use it
//
// One goroutine may use an [Engine]: the one that executes commands. An Engine is one Lua state
// and has no locks. Options.Call and Options.Poll run on that goroutine, inside Run. Run does not
// nest: the caller must refuse EVAL inside a script, as Redis does.
//
// # What gopher-lua lacks, and how the rewriter adds it
//
// gopher-lua is Lua 5.1 in most respects. Its parser returns the tree of a text and its compiler
// takes one, so no fork is needed for the rest. [Engine.Load] rewrites the tree in between:
//
//   - The text becomes the body of a function without parameters. A text by itself is a vararg
//     function, and each call of one makes a table: that took 39 % of the time of a short script.
//   - A known global (`redis.call`, `tonumber`, `KEYS`) becomes an upvalue of that function. An
//     upvalue costs an index, a global one or two look-ups in a map. Globals never change, because
//     an assignment to one becomes an assignment to a table that refuses it.
//   - A call of redis.call that is a statement makes no Lua value of the reply.
//   - The three values of a numeric for are converted to numbers, as in Lua: `for i = "3", 1, -1`.
//   - `..` becomes a call of a function that prints numbers by %.14g and counts the bytes.
//   - Calls inside pcall and xpcall run on a stack of their own: see guard.
//   - goto is refused, because Lua 5.1 has none. Deep nesting is refused before the parser and the
//     compiler recurse on it.
//   - Code that gopher-lua compiles wrongly is written differently: see assign, constructor and
//     markLoop.
//
// load and loadstring take the same way while a script runs: see loadText.
//
// # What bounds a script
//
// A script that takes few steps ends by itself. It runs without a context, because a context costs
// 10 to 30 % of a script's time. The rewriter counts the steps: see maxUnwatched. A loop is counted
// when its bounds are literals, or when its iterator is pairs or ipairs, which count their own turns.
// Every other script has a context that counts instructions and looks at the clock: see package
// limits. Library functions count their work themselves, with a context or without.
//
// # What is kept
//
// The text of a script stays until SCRIPT FLUSH. Its compiled form stays while the script is among
// those used last. The values of a script go when it ends.
package luaeval
