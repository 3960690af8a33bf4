// Package rewrite writes keys as the commands that make them (aof.c: rewriteAppendOnlyFileRio). That is the base of an
// append only file with aof-use-rdb-preamble no.
//
//	libraries ──> FUNCTION LOAD
//	database  ──> SELECT
//	string    ──> SET
//	list      ──> RPUSH, 64 elements each
//	set       ──> SADD
//	zset      ──> ZADD
//	hash      ──> HMSET, and HPEXPIREAT for fields that expire
//	stream    ──> XADD, XSETID, XGROUP CREATE, XGROUP CREATECONSUMER, XCLAIM
//	expiry    ──> PEXPIREAT
//
// The writer of a snapshot calls it, on its own goroutine.
//
// Redis loses a pending entry whose message was deleted, because XCLAIM drops it. A stream that has one is a RESTORE
// here, which Redis loads as well.
package rewrite
