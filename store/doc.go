// Package store is the keyspace: values, types, expiry and memory accounting. It is a state machine
// without a clock and without sockets. Its owner sets the time (Keyspace.Now) and the seed, so the
// same commands under the same seed give the same state and the same replies.
//
// Only the goroutine that executes commands may call this package. There is no lock, as in Redis.
//
//	Keyspace ── DB 0 ── Table[entry] ── one node for each key: name, value, LRU clock
//	         ├─ DB 1    wheel        ── one timer for each key with a TTL: deadline, links
//	         └─ ...    fields       ── one timer for each hash with fields that expire: the earliest of them
//
// A command looks a key up with DB.Lookup, or with Read and Write if it wants a collection. After
// each command the executor calls Keyspace.Settle, which accounts for the collections that the
// command changed. A Capture is the keyspace at one moment, for a file that is written meanwhile: its
// one seam is DB.keep, and every change of a key goes through it. Keyspace.OnTouch has the same seam.
//
// What Redis does differently:
//
//   - A key with a TTL has a second dictionary entry there (db.c: db->expires), and sampling finds
//     overdue keys (expire.c: activeExpireCycle). Here a timing wheel deletes each key at its
//     millisecond. So does a second wheel for the fields of hashes: see field_ttl.go.
//   - An object's header, its dictionary entry and its name are three allocations there. Here they
//     are one node, in a chunk of up to 128 nodes: see nodes.go. A key of 14 bytes takes 48 bytes,
//     and 16 more if it has a TTL. The value of a small collection is one block, and all else about
//     it is in the node too.
//   - A large sorted set is a dictionary and a skiplist there. Here it is a table and a B+-tree.
package store
