// Package command turns a parsed request into an effect on the keyspace and one
// reply: the table of commands, the executor that runs them one at a time, and
// every command as one function and one row.
//
// All of it belongs to the goroutine of the event loop. That goroutine calls
// Executor.Do with a client's Session, its arguments and the buffer its reply
// goes to, and gets back when the command has run: no queue, no lock, no
// goroutine in between, as in Redis (server.c: processCommand and call).
//
//	server's pass ──> Executor.Do ──> lookup, arity, permission, memory ──> run ──> Row.Do(*Call)
//	                                  (executor.go)                      (clock, counters)  │
//	                                                                    store.DB <──────────┘
//
// A script runs inside the command that starts it, on the same goroutine. Its redis.call
// comes back to the table with a writer of its own, as the commands of EXEC do:
//
//	EVAL ──> luaeval.Engine.Run ──> callFromScript ──> lookup, may a script? ──> run ──> Row.Do(*Call)
//	                         └────> pollScript: has it been running too long? then the server
//	                                serves the others in between (cmd_script.go, script_busy.go)
//
// A command function either returns an error or has appended exactly one reply.
// On an error the executor takes back what was appended and writes the error, so
// half a reply cannot happen and errors are counted in one place.
//
// A command that blocks has appended nothing and set Session.Hold; it runs again when
// what it waits for is there (block.go).
//
// The tests of the commands are in server/testdata/transcripts. For t_hash*.go they are in the folder
// hash, for cmd_scan.go in the files key/scan*.txt.
//
// To add a command: write the function, add its row at the top of its group's
// file. Everything else that knows commands (arity, permissions, keys, COMMAND,
// statistics, docs/commands.md) reads the row.
package command
