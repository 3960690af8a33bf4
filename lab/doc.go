// Package lab decides what goes wrong: which request of which client, how, and how
// often; and it remembers what happened. It is a state machine without sockets and
// without a clock. The server asks it before it executes a request, does what it says,
// and tells it what came of that.
//
//	a request                       Plan                              Log
//	   │                             │                                 │
//	   ├─ Request{client, calls} ───>│ rules, in the order of ADD:     │
//	   │                             │   does it match? (CMD KEY ...)  │
//	   │<── the rule that fires, ────│   is it its turn? (NTH TIMES    │
//	   │    or nil                   │   PROB)                         │
//	   │                                                               │
//	   ├─ executed or not, answered or not ── Entry ──────────────────>│ numbered
//
// # Rules
//
// A rule is what LAB FAULT ADD is given: a name, what a request must have, when it is
// the rule's turn, and what happens then.
//
//	LAB FAULT ADD lost  CMD set KEY lock:*  NTH 2  ACTION DROP-REPLY
//
// What is not given, matches anything. A request is what a client sends outermost: what
// a script calls is the script's business, and a transaction is its EXEC, which matches
// by any one of the commands that were queued.
//
// Every rule looks at every request, counts what it matches and throws its own dice,
// whatever the others do; so to add a rule does not change what another one does. The
// first in the order of ADD whose turn it is, fires.
//
// # The same again
//
// Dice are seeded with the server's seed and the rule's name. Entries hold no addresses
// and no ports, and nothing here ranges over a map. So two servers with one seed and a
// clock that stands still, which get the same requests in the same order, write the same
// log, byte for byte.
package lab
