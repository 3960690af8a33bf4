// Package compile makes code for the virtual machine of gopher-lua. It takes the tree that gopher-lua's
// parser makes of a text, and returns a lua.FunctionProto. It walks the tree once, as the compiler of
// Lua 5.1 walks the text (lparser.c, lcode.c):
//
//	tree ──> stmt, loop ──> expr ──> operator ──> value ──> emit ──> instructions
//	                          │                      │
//	                          └─> globals, function  └─> names: "local 'x'" for errors
//
// gopher-lua has a compiler of its own. It differs from Lua in the order of assignments, in `and` and
// `or`, in long constructors, in variables that functions capture, and in all limits. A text that has
// no end can keep it busy for minutes.
//
// # Expressions
//
// An exp says where a value is: in a literal, a variable, a field, a register, or in an instruction
// whose target register is still open (lparser.h: expdesc). The code for a value is added when it is known
// where the value has to go. The jumps out of `and`, `or` and comparisons form lists. Each jump
// holds the distance to the next one until its target is known.
//
// Lua reads the operands of an operator when it computes the operator, not before. So `a + f()` sees
// what f does to the local variable a. The code here takes the same steps in the same order.
//
// # Globals
//
// A text is a function without parameters. Every global that never changes is an upvalue of it, and so
// is every field of a known library, such as redis.call. Code.Bound lists them; the caller sets their
// values. All other globals are fields of the environment, which is an upvalue too.
//
// A text that names _G, getfenv, setfenv, load or loadstring can reach environments. All its globals
// are fields of the environment, which is the first upvalue of each of its functions. A function passes
// its environment on to the functions that it makes, as in Lua. See [SetEnvironment].
//
// # Lengths
//
// The length of a table with holes is one of several numbers. Lua's choice depends on how it keeps the table, and so
// on all that happened to it. An exact text calls Text.Operators for `#`, assignments to fields and
// constructors. Other texts use instructions. A text is compiled again to be exact when it asks for lengths
// and may make a hole: see holes.
//
// # The virtual machine
//
// It is Lua's, but for these habits:
//
//   - OP_GETGLOBAL, OP_SELF and instructions whose names end in KS read a list of constants that
//     only gopher-lua's compiler can fill. OP_GETTABLE and OP_SETTABLE take their place.
//   - OP_CALL and OP_VARARG empty all registers after the values that they set. So both are only used
//     with the first free register.
//   - A tail call does not copy the last register of a function. So every function has one more.
//   - OP_MOD, OP_POW, OP_CONCAT and OP_FORPREP compute or convert differently from Lua. So `%`, `^`
//     and `..` are calls of Text.Operators, and so is the conversion of the values of a numeric for.
//   - OP_MOVEN is several moves in one instruction.
//
// # Steps
//
// The compiler counts the steps that a text can take: see maxUnwatched. The caller watches a text only
// when it may run for long. A function of a library that ends by itself is brief: see [Code.IsBrief].
package compile
