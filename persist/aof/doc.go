// Package aof reads append only files: the commands that changed the data, in their order (aof.c). It reads the folder
// of Redis 7 and the single file of older versions.
//
// It runs in the goroutine of its caller, and knows no clock, no sockets and no keys. Its files are on a disk.FS.
//
//	ReadManifest   appendonly.aof.manifest ──> which parts there are
//	Loading        parts, in order ──> Base, Command, Stamp
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
// No length is believed before the file has the bytes. The memory for a command is at most fifteen times its length in
// the file, and so much only if its arguments have one byte or none.
//
// Redis's loader looks at less than its redis-check-aof: it takes any two bytes for the end of an argument, and a
// line of any form for a number. This package judges as redis-check-aof does, with three exceptions. A command without
// a name is damage, as the loader says. Numbers have no leading zeros. And a line that begins with # and does not end
// is a truncated tail: Redis would append the next command to it, and then take both for one annotation.
//
// # Writing
//
// Nothing here writes yet. These are the steps of Redis, in their order. A crash after any of them leaves a folder
// that loads.
//
//   - The manifest is replaced as a whole: temporary name, fsync, rename, fsync of the folder (writeAofManifestFile).
//   - A file exists before the manifest names it, and the manifest names it before anything is appended to it
//     (openNewIncrAofForAppend). A crash between the two leaves a file without a name in the manifest. The next start
//     takes the same number again, and has to remove that file: disk.FS.Create does not replace it.
//   - A rewrite begins with a new incr, at the moment of the snapshot. The base is written under a temporary name,
//     fsynced and renamed. Then one new manifest names it, and calls the old base and the older incrs history
//     (backgroundRewriteDoneHandler). Then history is removed, and a third manifest forgets it (aofDelHistoryFiles).
//   - A rewrite that fails removes its base. The incr that it began with stays: both are loaded (Manifest.Incr).
//   - appendonly yes at run time has no base yet. Commands go to a temporary incr, which gets its name together with
//     the base (startAppendOnly).
//   - A file appendonly.aof beside the folder becomes the base: first the manifest names it, then it moves into the
//     folder. A start finds either half of that (loadAppendOnlyFiles, aofUpgradePrepare).
//
// # Loading into a server
//
//   - Commands behind MULTI are queued. What is queued when Load returns is dropped.
//   - If Load reports a truncated tail and aof-load-truncated allows it, the file is cut at DamageError.Whole before
//     anything is appended. disk.FS has no operation for that yet, and none to open a file for appending.
//   - Keys of an RDB base are loaded even if their time is over, because later commands may use them. A Loading of
//     persist/rdb leaves them out (rdb.c: RDBFLAGS_AOF_PREAMBLE).
//   - The parts of a manifest may all be empty. Then there is nothing to load, and no error.
package aof
