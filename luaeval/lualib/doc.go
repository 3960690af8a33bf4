// Package lualib is what Lua programs call: the library of Lua 5.1, and the libraries that Redis
// adds to it (bit, cjson, cmsgpack, struct).
//
// gopher-lua brings a library of its own. This one replaces most of it, for three reasons:
//
//   - Error texts, number formats and corner cases are those of Lua 5.1 in C, which Redis uses.
//   - Every function counts its work and the memory that it takes, so that a hostile script ends.
//     The counting is [limits.Limits]; [Lib.Tick], [Lib.Charge] and [Output] are the way to it.
//   - Tables that scripts may not change are empty tables that show the real ones: see [Lib.Show].
//
// The package knows nothing of scripts, commands or replies. Package luaeval runs scripts and adds
// the functions that must know how they run: error, pcall, xpcall, getmetatable, load, loadstring
// and the table redis.
//
// # The seam
//
//	luaeval                         lualib
//	 Engine ── New(state) ─────────> Lib ── Base, Tables ──> the globals of scripts
//	        ── Operators ──────────>      functions that compiled texts call
//	        ── Begin ──────────────>      before each script
//	        <───────── Raise, Tick ─      an error unwinds the Lua stack
//
// # Rules for a function
//
// A function takes its arguments with CheckString, CheckInt and their like, which raise Lua's
// errors. A loop whose length a script chooses calls Tick in each turn. A string is built in an
// [Output]; a table of known size is made by [Lib.NewTable]. luaeval's tests have a list of all
// functions: a new one stands there with a script that proves that it looks at the clock.
//
// One goroutine uses a Lib: the one that runs scripts.
package lualib
