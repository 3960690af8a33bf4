// Package store is the keyspace: values, types, expiry and memory accounting,
// as a state machine without a clock and without sockets. Whoever owns a
// Keyspace tells it the time (Keyspace.Now) and gives it its seed, so the same
// commands under the same seed leave the same state and the same answers.
//
// Only the goroutine that executes commands may call anything in here: there is
// no lock, as in Redis.
//
//	Keyspace ── DB 0 ── Table[entry] ── one 64-byte node a key: name, value, TTL, LRU clock
//	         ├─ DB 1    wheel        ── the same nodes again, linked by their deadline
//	         └─ ...
//
// What Redis does differently: a key with a TTL has a second dictionary entry
// there (db.c: db->expires) and is found by sampling (expire.c:
// activeExpireCycle); here its node sits in a timing wheel and leaves at its
// millisecond. An object's header and the dictionary entry are one node.
package store
