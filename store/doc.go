// Package store is the keyspace: values, types, expiry and memory accounting. It is a state machine
// without a clock and without sockets. Its owner sets the time (Keyspace.Now) and the seed, so the
// same commands under the same seed give the same state and the same replies.
//
// Only the goroutine that executes commands may call this package. There is no lock, as in Redis.
//
//	Keyspace ── DB 0 ── Table[entry] ── one node of 64 bytes for each key: name, value, TTL, LRU clock
//	         ├─ DB 1    wheel        ── the same nodes again, linked by their deadline
//	         └─ ...
//
// A command looks a key up with DB.Lookup, or with Read and Write if it wants a collection. After
// each command the executor calls Keyspace.Settle, which accounts for the collections that the
// command changed.
//
// What Redis does differently:
//
//   - A key with a TTL has a second dictionary entry there (db.c: db->expires), and sampling finds
//     overdue keys (expire.c: activeExpireCycle). Here a timing wheel deletes each key at its
//     millisecond.
//   - An object's header and its dictionary entry are two allocations there. Here they are one
//     node, in a chunk that holds 128 nodes. The value of a small set, sorted set or hash is one
//     block, and all else about it is in the node too.
//   - A large sorted set is a dictionary and a skiplist there. Here it is a table and a B+-tree.
package store
