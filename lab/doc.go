// Package lab decides which request goes wrong, and how. It also keeps the log of what happened. It
// is a state machine without sockets and without a clock. The server asks it about a request, does
// what the rule says, and reports the outcome. Only the goroutine that executes commands may call
// it.
//
//	a request                       Plan                              Log
//	   │                             │                                 │
//	   ├─ Request{client, calls} ───>│ for each rule, in order of ADD: │
//	   │                             │   does it match? (CMD KEY ...)  │
//	   │<── the rule that fires, ────│   does it fire?  (NTH TIMES     │
//	   │    or nil                   │   PROB)                         │
//	   │                                                               │
//	   ├─ executed or not, answered or not ── Entry ──────────────────>│ numbered
//
// # Rules
//
// A rule is the argument of LAB FAULT ADD: a name, conditions, a count, and an action.
//
//	LAB FAULT ADD lost  CMD set KEY lock:*  NTH 2  ACTION DROP-REPLY
//
// A condition that is left out matches everything. A request is a command that a client sends.
// Commands inside a script do not match. A transaction is its EXEC, and matches if a queued command
// does.
//
// Every rule counts its own matches and throws its own dice, whatever other rules do. So a new rule
// does not change an old one. If several rules would fire, only the one that was added first does.
//
// # Repeatable runs
//
// The dice of a rule depend on the server's seed and on the rule's name. Entries hold no addresses
// and no ports, and nothing here ranges over a map. So two servers with one seed and a frozen clock
// write the same log, byte for byte, if they get the same requests in the same order.
package lab
