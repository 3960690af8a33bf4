// Package aof reads and writes append only files: the commands that changed the data, in their order (aof.c). It reads
// the folder of Redis 7 and the single file of older versions, and writes the folder.
//
// It runs in the goroutine of its caller, and knows no clock, no sockets and no keys. Its files are on a disk.FS.
//
//	ReadManifest   appendonly.aof.manifest ──> which parts there are
//	Loading        parts, in order ──> Base, Command, Stamp
//	Folder         parts, and the manifest that names them
//	Rewrite        a new base in place of all parts, while commands go on
//	Writer         commands ──> the new part, and when they are on the disk
//
// # A folder
//
//	appendonlydir/
//	  appendonly.aof.manifest      a line for each part: file NAME seq NUMBER type LETTER
//	  appendonly.aof.2.base.rdb    type b: the data at one moment, as an RDB file or as commands; at most one
//	  appendonly.aof.2.incr.aof    type i: the commands after it; several while a rewrite runs or after one that failed
//	  appendonly.aof.1.incr.aof    type h, history: what a newer base has replaced, about to be removed
//
// The base is loaded first, then each incr in the order of its number. History is not loaded. A part that the
// manifest does not name does not count.
//
// # A part
//
//	REDIS0011 ...                              a whole RDB file: only at the beginning, and often missing
//	#TS:1700000000\r\n                         what follows was written in this second, or later
//	*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n          a command, as a client sends it
//	*1\r\n$5\r\nMULTI\r\n ... EXEC\r\n         commands that are executed together, or not at all
//
// # Damage
//
// A crash often leaves half a command at the end of the last part, or a transaction without its EXEC. That is a
// truncated tail. A server may cut it off: the offset of the last whole command or transaction is known. Everything
// else is damage, with file, offset and reason. So is a tail of any part but the last: what follows it was executed
// after commands that are lost.
//
// No file makes a reader take more memory than a small multiple of its own length. No length is believed before the
// file has the bytes.
//
// Redis's loader looks at less than its redis-check-aof: it takes any two bytes for the end of an argument, and a
// line of any form for a number. This package judges as redis-check-aof does, with three exceptions. A command without
// a name is damage, as the loader says. Numbers have no leading zeros. And a line that begins with # and does not end
// is a truncated tail: Redis would append the next command to it, and then take both for one annotation.
//
// # Writing
//
// A new part is created and fsynced before the manifest names it. The manifest is replaced as a whole: temporary name,
// fsync, rename, fsync of the folder. In the same manifest the old parts become history. They are removed after that.
// So a crash leaves the old manifest with all its parts, or the new one.
//
// A start appends to the last part, without its torn tail. A rewrite begins a new part, and nothing is written there
// before the old one is fsynced. So only the last part can have a torn tail, and what a crash loses is the end.
//
// Keys of an RDB base are loaded even if their time is over. A later command may rename them or make them persist
// (rdb.c: RDBFLAGS_AOF_PREAMBLE).
package aof
