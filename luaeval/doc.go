// Package luaeval runs Lua scripts as Redis does. It is a leaf: it knows Lua values, RESP and nothing of commands,
// sessions or sockets. A script reaches commands through one function the caller gives, [Options.Call].
//
//	EVAL body ──> Engine.Load ──────────> Script (its text is kept by SHA1)
//	               scan: nesting            │
//	               parse: gopher-lua        v
//	               rewrite the tree     Engine.Run(script, keys, args, reply)
//	               compile                  │  redis.call ──> Options.Call ──> raw RESP ──> Lua values
//	                                        └──> the returned value as one RESP reply
//
// FUNCTION LOAD's libraries are Lua as well: [Engine.LoadLibrary] runs a text once, under rules of its own (see scope), and keeps
// the functions that it registers in [Libraries]; [Engine.RunFunction] calls one.
//
// # Who may use it
//
// One goroutine, the one that executes commands: an [Engine] is one Lua state and has no locks. Run does not nest;
// Redis refuses EVAL inside a script and so must the caller. Options.Call and Options.Poll run on the same goroutine,
// inside Run.
//
// # What gopher-lua lacks, and how it is made up for from outside
//
// gopher-lua is Lua 5.1 in most respects. No fork is needed for the rest, since its parser hands out the tree and its
// compiler takes one. [Engine.Load] rewrites the tree in between:
//
//   - The chunk becomes the body of a function without parameters. A chunk is a vararg function, for which each call
//     builds a table; this one change was worth 39 % of a short script.
//   - Global names are resolved before the script runs. What is known (`redis.call`, `tonumber`, `KEYS`) becomes an upvalue of
//     that function, which costs an index instead of one or two map lookups. That is sound because globals cannot change: an
//     assignment to one is turned into an assignment to a table that refuses it with Redis's message.
//   - The three values of a numeric for are made numbers (Lua takes `for i = "3", 1, -1`), and `..` becomes a call of a
//     function that prints numbers by %.14g and counts the bytes it makes.
//   - What pcall and xpcall call runs on a stack of its own: see guard.
//   - goto, which Lua 5.1 has not, is refused; so is depth, before the parser and the compiler can recurse on it.
//
// tostring, tonumber, the string library and everything else that is bounded by nothing in gopher-lua is written anew here.
// Tables that a script may not change (libraries, _G, the strings' metatable) are shown as empty tables with a metatable that
// reads through and refuses to be written; rawset, table.insert and the like know them.
//
// # What bounds a script
//
// A script without loops and without functions of its own ends by itself; the tree tells. It runs without a context, because a
// context costs up to 70 % per instruction. The others run with one whose Done method counts: every so many instructions it looks
// at the clock, every millisecond it calls Options.Poll (which may let the server answer -BUSY meanwhile, and ends the
// script by returning an error) and compares the heap with the budget.
//
// Library functions are single instructions. Each counts its work, the elements and bytes that it goes through, and looks at
// the clock in between, with a context or without: see limits.tick. What they build is counted as it grows: see output.
// table.sort is our own for that reason.
//
// # What is kept
//
// The text of each script stays until SCRIPT FLUSH, its compiled form while it is among those used last. A script's own values go
// when it ends.
package luaeval
