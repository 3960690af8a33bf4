// Package limits ends Lua scripts that run too long or take too much memory.
//
// A script is bounded in two ways, and both end in the same error:
//
//	an instruction ──> Done ──────────────┐
//	                    every 64th time   v
//	a library function ──> Tick, Charge ─> look at the clock
//	                    every 4096 units  │ every millisecond
//	                                      v
//	                              Options.Poll, and the heap against the budget
//
// [Limits] is the context.Context of a Lua state. gopher-lua asks its Done before each
// instruction. So Done does what Redis does in a hook of Lua (script_lua.c: luaMaskCountHook).
// Library functions are one instruction each, however long they take: they call
// [Limits.Tick] and [Limits.Charge] while they work.
//
// Once a script is over, it stays over. Done's channel is closed, so the next instruction
// fails too, whatever pcall catches.
//
// A Limits belongs to the goroutine that runs the scripts. It serves one script at a time;
// Begin starts the next one.
package limits
