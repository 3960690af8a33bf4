// Package snapshot saves the keyspace of one moment in a file, while commands go on to change it. Redis forks a child
// for that (rdb.c: rdbSaveBackground). A Go process cannot fork its heap, so two goroutines share the work:
//
//	the goroutine that executes commands            the writer
//
//	Begin ── store.Capture: the moment
//	Advance ── copies of the next keys ───┐
//	a command ── the old values of what   ├─ queue ──> values in the format of Redis, compressed,
//	    it is about to change ────────────┘            with a checksum, to the file
//	                                                   fsync, rename, fsync of the folder
//	Wait, or what Begin got as ended  <─────────────── the end
//
// With Stream there is no file: the bytes come back to the first goroutine through a pipe of bounded size, which hands
// them to the replicas that ask for all keys (rdb.c: rdbSaveToSlavesSockets).
//
// The methods of a Snapshot belong to the first goroutine. The writer does not touch the keyspace: it reads copies
// that nobody changes.
//
// What Redis does differently: its child shares the pages of memory with the server, and the kernel copies those that
// change. So a BGSAVE there begins with a pause for the page tables, and can double the memory. Here it takes the
// memory of the copies that wait for the disk: Advance stops while they are 8 MB. The memory of
// copies that are written is used for the next ones, because garbage would make the heap grow.
package snapshot
