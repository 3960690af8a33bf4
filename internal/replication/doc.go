// Package replication is what a master and its replicas agree on: a stream of bytes, and the names of its history
// (replication.c). It knows no sockets, no clock and no commands. Its types belong to the goroutine that executes
// commands.
//
// A master writes all changes of its data, as requests, into one stream. Each byte of it has a number, from 1 on. A
// replica asks for the stream from a number on:
//
//	PSYNC <ID> 1001
//
//	    bytes that are gone        backlog              to come
//	   ┌──────────────────────┬──────────────────┬─ ─ ─ ─ ─ ─ ─ ─
//	   1                      First              Offset
//
// If the ID is that of this history, and the backlog has byte 1001 or it is the next one to come, the replica gets
// the bytes from there on: a partial resynchronization. Otherwise it gets all keys first, and the stream from the
// moment of that snapshot on.
//
// A history has a second ID. A replica that becomes a master begins a new history, and the old ID counts up to the
// byte where it did so. Then the other replicas of the old master can continue with the new one.
//
// The bytes are in memory once, however many replicas read them: each has a [Cursor], and its socket is written from
// the blocks of the stream. Redis does the same since version 7.0 (replication.c: feedReplicationBuffer).
package replication
