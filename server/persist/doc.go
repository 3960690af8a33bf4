// Package persist keeps the data of a server in files: the RDB file and the append only file.
//
//	files.go      the files of a server, and their place in a pass
//	load.go       loads them at the start (loading.go: while clients are answered)
//	bgsave.go     saves while commands go on; commands.go: SAVE, LASTSAVE
//	aof.go        the append only file; switch.go begins and ends it, rewrite.go makes it shorter
//	reload.go     DEBUG RELOAD
//	shutdown.go   SHUTDOWN, and the end that waits
//	hooks.go      what replication and a lab see and change
//
// The goroutine that executes commands owns all of it. Two things happen beside it: a goroutine of persist/snapshot
// writes a file, and one syncs the append only file:
//
//	executePhase                                       a goroutine
//	beginSave ─── copies of keys, batch by batch ────> persist/snapshot: write
//	advance <──────────────── post ────────────────────┘
//	Flush ─────── elsewhere ─────────────────────────> fsync
//	the next Flush <───────── post, to wake the loop ──┘
//
// Redis forks for the first (rdb.c: rdbSaveBackground), and has a thread for the second (bio.c: bioCreateFsyncJob).
// The packages below persist have the formats, and know no server.
package persist
