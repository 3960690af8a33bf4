// Package command has the commands: each is one function and one row of a table. It also has the
// executor, which runs requests one at a time.
//
// The goroutine of the event loop owns all of it. It calls Executor.Do with a client's Session, the
// arguments of a request and the client's output. Do returns when the command has run. There is no
// queue, no lock and no other goroutine, as in Redis (server.c: processCommand, call).
//
//	package server         command: Executor                        a row's function
//	Server.execute ──> Do ──> admit: known? allowed? memory?
//	                    │       └─ no: refuse ────────────────┐
//	                    ├─ inside MULTI: Transaction.add      │
//	                    ├─ run ──> calls[Depth] ──────────────┼──> get(c *Call) ──> store.DB
//	                    │                                     │      appends one reply
//	                    ├─ finish: the reply is complete <────┘
//	                    ├─ sendPending: messages after the reply
//	                    └─ Waiters.ServeReady: blocked clients whose keys have something new
//
// The executor calls the server through Host (host.go), and a lab through Observer (observer.go).
//
// A command's function either returns an error or appends exactly one reply. After an error the
// executor removes what the function has appended, and writes the error. So no reply is ever half
// written, and errors are counted in one place.
//
// A command that blocks appends nothing and sets Session.Hold. It runs again when its key has
// something for it (block.go).
//
// EXEC and scripts run commands inside a command, at a greater Executor.Depth. Their commands use the
// same run, with a Call of their own. A script runs on the same goroutine:
//
//	EVAL ──> Scripts.begin ──> luaeval.Engine.Run ──> Scripts.call ──> admitCall ──> run
//	                                 └──────────────> Scripts.poll: a slow script lets the server serve
//	                                                  other clients (script_busy.go)
//
// # Time
//
//	Clock.Mono      monotonic ns              durations: SLOWLOG, LATENCY, the trace
//	Executor.Now    Moment{Mono, Wall} in ns  the end of the last command is the start of the next
//	Keyspace.Now    Now.Wall in ms            expiry and LRU; commands get it as Call.Now
//	Clock.Timeline  ns                        timeouts: BLPOP, CLIENT PAUSE; in a lab Now.Wall, else Now.Mono
//
// # Tests
//
// The tests of the commands are in node/testdata/transcripts. For t_hash*.go they are in the folder
// hash, for cmd_scan.go in the files key/scan*.txt.
//
// To add a command: write its function, and its row at the top of the file of its group. Arity, ACL
// rules, keys, COMMAND, statistics and docs/commands.md all read the row (row.go).
//
// Files that begin with t_ have the commands of one type of values, and files with cmd_ the other
// commands. The files without a prefix are the executor. Read executor.go, admission.go, reply.go and
// call.go first, in this order.
package command
