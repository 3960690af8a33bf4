package command

import (
	"strings"

	"github.com/miniredisd/miniredisd/internal/dialect"
)

// changes lists the changes of commands for COMMAND DOCS: one line for each command, with the
// versions that changed it.
const changes = `
acl|getuser: 6.2.0 lists channel patterns; 7.0.0 lists selectors, and patterns as the rules that set them
acl|log: 7.2.0 entries have an ID and the times of their first and last occurrence
acl|setuser: 6.2.0 channel patterns; 7.0.0 selectors and %R~ and %W~ patterns
auth: 6.0.0 the name of a user
bgsave: 3.2.2 SCHEDULE
bitcount: 7.0.0 BYTE and BIT
bitpos: 7.0.0 BYTE and BIT
blpop: 6.0.0 the timeout may have a fraction
brpop: 6.0.0 the timeout may have a fraction
brpoplpush: 6.0.0 the timeout may have a fraction
bzpopmax: 6.0.0 the timeout may have a fraction
bzpopmin: 6.0.0 the timeout may have a fraction
client|kill: 2.8.12 filters; 2.8.12 ID; 3.2.0 TYPE master; 5.0.0 TYPE replica, in place of slave; 6.2.0 LADDR
client|list: 2.8.12 id; 5.0.0 TYPE; 6.0.0 user; 6.2.0 ID, argv-mem, laddr, redir; 7.0.0 resp, multi-mem, rbs; 7.0.3 ssub
client|pause: 6.2.0 WRITE and ALL
cluster|meet: 4.0.0 cluster-bus-port
cluster|slots: 4.0.0 the IDs of nodes; 7.0.0 more network addresses of nodes
command|info: 7.0.0 all commands when none is named
config|get: 7.0.0 several patterns
config|set: 7.0.0 several directives
exists: 3.0.3 several keys
expire: 7.0.0 NX, XX, GT and LT
expireat: 7.0.0 NX, XX, GT and LT
flushall: 4.0.0 ASYNC; 6.2.0 SYNC
flushdb: 4.0.0 ASYNC; 6.2.0 SYNC
geoadd: 6.2.0 CH, NX and XX
georadius: 6.2.0 ANY; 7.0.0 units in upper case
georadius_ro: 6.2.0 ANY
georadiusbymember: 7.0.0 units in upper case
geosearch: 7.0.0 units in upper case
geosearchstore: 7.0.0 units in upper case
hdel: 2.4.0 several fields
hello: 6.2.0 protover is optional
hset: 4.0.0 several fields
info: 7.0.0 several sections
lpop: 6.2.0 count
lpush: 2.4.0 several elements
lpushx: 4.0.0 several elements
migrate: 3.0.0 COPY and REPLACE; 3.0.6 KEYS; 4.0.7 AUTH; 6.0.0 AUTH2
pexpire: 7.0.0 NX, XX, GT and LT
pexpireat: 7.0.0 NX, XX, GT and LT
pttl: 2.8.0 replies -2 for a missing key
renamenx: 3.2.0 both names may be the same
restore: 3.0.0 REPLACE; 5.0.0 ABSTTL; 5.0.0 IDLETIME and FREQ
restore-asking: 3.0.0 REPLACE; 5.0.0 ABSTTL; 5.0.0 IDLETIME and FREQ
rpop: 6.2.0 count
rpush: 2.4.0 several elements
rpushx: 4.0.0 several elements
sadd: 2.4.0 several members
scan: 6.0.0 TYPE
script|flush: 6.2.0 ASYNC and SYNC
set: 2.6.12 EX, PX, NX and XX; 6.0.0 KEEPTTL; 6.2.0 GET, EXAT and PXAT; 7.0.0 NX and GET together` +
	`; 8.4.0,8.1.0 IFEQ; 8.4.0,9.2.0 IFNE; 8.4.0, IFDEQ and IFDNE
shutdown: 7.0.0 NOW, FORCE and ABORT
slowlog|get: 4.0.0 the address and the name of the client
spop: 3.2.0 count
srandmember: 2.6.0 count
srem: 2.4.0 several members
ttl: 2.8.0 replies -2 for a missing key
xadd: 6.2.0 NOMKSTREAM, MINID and LIMIT; 7.0.0 IDs of the form ms-*
xautoclaim: 7.0.0 returns the IDs of deleted entries
xgroup|create: 7.0.0 ENTRIESREAD
xgroup|setid: 7.0.0 ENTRIESREAD
xinfo|consumers: 7.2.0 inactive
xinfo|groups: 7.0.0 entries-read and lag
xinfo|stream: 6.0.0 FULL; 7.0.0 entries-added, max-deleted-entry-id, entries-read and lag; 7.2.0 active-time
xpending: 6.2.0 IDLE and exclusive ranges
xrange: 6.2.0 exclusive ranges
xrevrange: 6.2.0 exclusive ranges
xsetid: 7.0.0 ENTRIESADDED and MAXDELETEDID
xtrim: 6.2.0 MINID and LIMIT
zadd: 2.4.0 several members; 3.0.2 XX, NX, CH and INCR; 6.2.0 GT and LT
zrange: 6.2.0 REV, BYSCORE, BYLEX and LIMIT
zrangebyscore: 2.0.0 WITHSCORES
zrank: 7.2.0 WITHSCORE
zrem: 2.4.0 several members
zrevrangebyscore: 2.1.6 exclusive bounds
zrevrank: 7.2.0 WITHSCORE
`

// history returns the changes of a command that the dialect has, as pairs of version and change.
func history(name string, d dialect.Dialect) (pairs [][2]string) {
	line := noteOf(changes, name)
	if line == "" {
		return nil
	}
	for change := range strings.SplitSeq(line, "; ") {
		version, what, _ := strings.Cut(change, " ")
		if since := dialect.Since(version); d.Has(since) {
			pairs = append(pairs, [2]string{since.In(d.Family), what})
		}
	}
	return pairs
}
