// Package rdb saves a keyspace in the file that Redis 7.2 writes, and loads the files of all Redis versions up to it
// (rdb.c). Package internal/rdb has the values in such a file; DUMP and RESTORE use them too.
//
// Like package store, it belongs to the goroutine that executes commands. Only a Writer may be another goroutine's: its
// values are copies then. The package knows no clock and no sockets. Its files are on a disk.FS.
//
//	Save   keyspace ──> Sink ──> temp-PID.rdb ── fsync, rename, fsync of the folder ──> dump.rdb
//	Load   dump.rdb ──> Source ──> keyspace
//	Survey dump.rdb ──> Source ──> numbers: what the file has, and whether it is whole
//
// # A file
//
//	REDIS0011
//	fa name value     an auxiliary field: who wrote the file, and when
//	f5 code           a function library
//	fe n              the keys after it are in database n
//	fb keys expires   how many there are
//	  fd 4 bytes      the next key expires then, in seconds
//	  fc 8 bytes      or in milliseconds
//	  f8 seconds      the next key was idle for so long
//	  f9 1 byte       or was used so often
//	  type name value a key
//	ff                the end
//	8 bytes           CRC-64 of all before it, from version 5 on; 0 for none
//
// # Promise
//
// Save leaves the old file or the new one, whatever fails and whenever the power goes. When it returns nil, the new
// file is there after any crash. A damaged file is refused with its name, the place and the reason. No file makes Load
// take more memory than its own size and the keys in it, except what LZF compresses: at most 264 times.
package rdb
