// Package luaeval runs Lua scripts as Redis does. It knows Lua values and RESP, and nothing of
// commands, sessions or sockets. A script reaches commands through one function that the caller
// gives: [Options.Call].
//
//	EVAL body ──> Engine.Load ──────> Script (its text is kept by SHA1)
//	               grammar: errors      │
//	               scan: nesting        │
//	               parse: gopher-lua    v
//	               package compile  Engine.Run(script, keys, args, reply)
//	                                    │  redis.call ──> Options.Call ──> raw RESP ──> Lua values
//	                                    └──> the returned value as one RESP reply
//
// The libraries of FUNCTION LOAD are Lua as well. [Engine.LoadLibrary] runs their text once and
// keeps the functions that it registers in [Libraries]. [Engine.RunFunction] calls one of them.
// See scope for what each of the two may name.
//
// Three packages belong to this one. Package compile makes code of the tree of a text. Package lualib
// is what Lua programs call, such as the string library. Package limits ends scripts that run too
// long.
//
// # Who may use it
//
// One goroutine may use an [Engine]: the one that executes commands. An Engine is one Lua state
// and has no locks. Options.Call and Options.Poll run on that goroutine, inside Run. Run does not
// nest: the caller must refuse EVAL inside a script, as Redis does.
//
// # What is gopher-lua's, and what is not
//
// The parser and the virtual machine are gopher-lua's, without changes. The compiler and nearly all
// functions are not, because scripts must do exactly what they do in Redis:
//
//   - A known global (`redis.call`, `tonumber`, `KEYS`) is an upvalue of the script. An upvalue costs an
//     index, a global one or two look-ups in a map. Globals never change, because an assignment to one
//     becomes an assignment to a table that refuses it.
//   - A text that names _G, getfenv, setfenv, load or loadstring may reach the environments of
//     functions. Its globals are fields of its environment. A text without these names cannot get at
//     them: no other value leads to the table of globals.
//   - A call of redis.call that is a statement makes no Lua value of the reply.
//   - `..`, `%`, `^` and the values of a numeric for are computed by functions of lualib, because the
//     virtual machine prints, rounds and converts differently from Lua.
//   - Calls inside pcall and xpcall run on a stack of their own: see guard.
//   - A text that may ask for the length of a table with holes changes tables by functions of lualib, which
//     keep what Lua's answer depends on. It is exact: see [compile.Code].
//   - The error of a failed operation names the variable at fault: see compile.NameOf.
//
// load and loadstring take the same way while a script runs: see loadText.
//
// # What bounds a script
//
// A script that takes few steps ends by itself. It runs without a context, because a context costs
// 10 to 30 % of a script's time. The compiler counts the steps. A loop is counted
// when its bounds are literals, or when its iterator is pairs or ipairs, which count their own turns.
// Every other script has a context that counts instructions and looks at the clock: see package
// limits. Library functions count their work themselves, with a context or without.
//
// # What is kept
//
// The text of a script stays until SCRIPT FLUSH. Its compiled form stays while the script is among
// those used last. The values of a script go when it ends.
package luaeval
