package differential

// table has a line for each form of a command. All lines of a group are equally likely. grammar.go
// explains the notation, and makers.go has the words in lower case. The first character of a line may
// say how to compare the replies:
//
//	~   elements in any order
//	%   pairs in any order
//	@   a time, with a tolerance
//	#   the list of XPENDING, with its times
//	&   a log of commands, with its times
//	?   a random pick: compared by type, and looked up in the collection
//	!   not for an oracle that is older than 7.2: its reply or its data differ
//	V   not for Valkey: its data differ
func table() []struct {
	group string
	lines []string
} {
	return []struct {
		group string
		lines []string
	}{
		{"string", []string{
			"SET str value [NX|XX] [GET] [EX ttl|PX pttl|EXAT at|PXAT pat|KEEPTTL]",
			"SET str value", "SET str int", "GET str", "GETSET str value", "GETDEL str",
			"GETEX str [EX ttl|PX pttl|EXAT at|PXAT pat|PERSIST]",
			"SETNX str value", "SETEX str ttl value", "PSETEX str pttl value",
			"MSET (str value)+", "MSETNX (str value)+", "MGET key+",
			"APPEND str value", "STRLEN str", "GETRANGE str index index", "SETRANGE str offset value",
			"SUBSTR str index index",
			"INCR str", "DECR str", "INCRBY str int", "DECRBY str int", "INCRBYFLOAT str float",
			"LCS str str [LEN] [IDX] [MINMATCHLEN small] [WITHMATCHLEN]",
		}},
		{"bitmap", []string{
			"SETBIT str offset bit", "SETBIT str offset bit", "GETBIT str offset",
			"BITCOUNT str [index index [BYTE|BIT]]", "BITPOS str bit [index [index [BYTE|BIT]]]",
			"BITOP (AND|OR|XOR) str str+", "BITOP NOT str str", "BITOP (AND|NOT) str str str",
			"BITFIELD str (GET width boffset|SET width boffset int|INCRBY width boffset int|OVERFLOW (WRAP|SAT|FAIL))+",
			"BITFIELD_RO str (GET width boffset)+", "APPEND str value", "GET str",
		}},
		{"hash", []string{
			"HSET hash (field value)+", "HSET hash (field value)+", "HMSET hash (field value)+",
			"HSETNX hash field value",
			"HGET hash field", "HMGET hash field+", "HDEL hash field+", "HLEN hash", "HEXISTS hash field",
			"HSTRLEN hash field",
			"HINCRBY hash field int", "HINCRBYFLOAT hash field float",
			"~ HKEYS hash", "~ HVALS hash", "% HGETALL hash",
			"~ HRANDFIELD hash 1000", "% HRANDFIELD hash 1000 WITHVALUES", "? HRANDFIELD hash",
			"? HRANDFIELD hash small",
			"% HSCAN hash 0 [MATCH pattern] COUNT 1000",
		}},
		// For an oracle and a dialect that have them. Relative times are not compared, because a millisecond
		// may pass on one side only.
		{newerStrings, []string{
			"SET str value [GET] IFEQ value [GET] [EX ttl|PX pttl|EXAT at|PXAT pat|KEEPTTL]", "SET str int IFEQ int",
			"SET str value [NX|XX|IFEQ value|GET]+ [KEEPTTL]", "SET hash value [GET] IFEQ value",
			"DELIFEQ str value", "DELIFEQ str int", "DELIFEQ key value", "SET str int", "SET str value",
			"MSETEX 1 str value [NX|XX] [EX ttl|PX pttl|EXAT at|PXAT pat|KEEPTTL]",
			"MSETEX 2 str value str value [EX ttl|PX pttl|EXAT at|PXAT pat|KEEPTTL] [NX|XX]",
			"MSETEX 2 key value str value [NX|XX]", "MSETEX small (str value)+ [NX|XX] [EX ttl|KEEPTTL] [NX|XX]",
			"GET str", "DEL str", "EXPIRE str ttl", "APPEND str value", "INCR str", "SETRANGE str offset value",
			"GETEX key [EX ttl|PX pttl|EXAT at|PXAT pat|PERSIST]", "BITCOUNT key [index [index [BYTE|BIT]]]",
			"BITPOS key bit [index [index [BYTE|BIT]]]", "EVAL passon 0 DELIFEQ str value",
			"EVAL passon 0 SET str value IFEQ value [GET]", "EVAL passon 0 MSETEX 2 str value str value [NX|XX]",
			"EVAL passon 0 HSETEX hash [FNX|FXX] EX ttl FIELDS 1 field value", "EVAL passon 0 HGETDEL hash FIELDS 1 field",
		}},
		{newerHashes, []string{
			"HEXPIRE hash ttl [NX|XX] FIELDS 1 field", "HEXPIRE hash ttl [NX|XX] FIELDS 2 field field",
			"HPEXPIRE hash pttl [NX|XX] FIELDS 2 field field", "HEXPIREAT hash at [NX|XX|GT|LT] FIELDS 1 field",
			"HPEXPIREAT hash pat [NX|XX|GT|LT] [NX|XX|GT|LT] FIELDS 3 field field field",
			"HEXPIRE hash ttl FIELDS small field+",
			"@ HTTL hash FIELDS 2 field field", "@ HPTTL hash FIELDS 1 field", "@ HEXPIRETIME hash FIELDS 1 field",
			"@ HPEXPIRETIME hash FIELDS 3 field field field", "@ HTTL hash FIELDS small field+",
			"HPERSIST hash FIELDS 1 field", "HPERSIST hash FIELDS 2 field field", "HPERSIST hash FIELDS small field+",
			"HGETEX hash [EX ttl|PX pttl|EXAT at|PXAT pat|PERSIST] FIELDS 1 field",
			"HGETEX hash [EX ttl|PX pttl|EXAT at|PXAT pat|PERSIST] [EX ttl|PERSIST] FIELDS 2 field field",
			"HGETEX hash [PERSIST] FIELDS small field+",
			"HSETEX hash [NX|XX] [FNX|FXX] [EX ttl|PX pttl|EXAT at|PXAT pat|KEEPTTL] FIELDS 1 field value",
			"HSETEX hash [FNX|FXX] [EX ttl|PX pttl|EXAT at|PXAT pat|KEEPTTL] FIELDS 2 field value field value",
			"HSETEX hash [EX ttl|KEEPTTL] [XX|FXX] [EX ttl|KEEPTTL] FIELDS small (field value)+",
			"HSETEX hash EX ttl FIELDS 3 field value field value field value",
			"HGETDEL hash FIELDS 1 field", "HGETDEL hash FIELDS 2 field field", "HGETDEL hash FIELDS small field+",
			"HSET hash (field value)+", "HSETNX hash field value", "HDEL hash field+", "HLEN hash", "HGET hash field",
			"HINCRBY hash field int", "HINCRBYFLOAT hash field float", "HMGET hash field+", "~ HKEYS hash",
			"% HGETALL hash", "RENAME hash hash", "COPY hash hash [REPLACE]", "DEL hash",
			"% HRANDFIELD hash 1000 WITHVALUES", "% HSCAN hash 0 COUNT 1000", "EXPIRE hash ttl", "PERSIST hash",
		}},
		{"list", []string{
			"LPUSH list value+", "RPUSH list value+", "RPUSH list value+", "LPUSHX list value+", "RPUSHX list value+",
			"LPOP list [small]", "RPOP list [small]", "LLEN list", "LINDEX list index", "LSET list index value",
			"LRANGE list index index", "LTRIM list index index", "LINSERT list (BEFORE|AFTER) value value",
			"LREM list index value",
			"LPOS list value [RANK index] [COUNT small] [MAXLEN small]",
			"LMOVE list list (LEFT|RIGHT) (LEFT|RIGHT)", "RPOPLPUSH list list",
			"LMPOP 2 list list (LEFT|RIGHT) [COUNT small]",
		}},
		{"set", []string{
			"SADD set member+", "SADD set member+", "SADD set member+", "SREM set member+", "SISMEMBER set member",
			"SMISMEMBER set member+",
			"SCARD set", "~ SMEMBERS set", "SMOVE set set member",
			"~ SUNION set+", "~ SINTER set+", "~ SDIFF set+",
			"SUNIONSTORE set set+", "SINTERSTORE set set+", "SDIFFSTORE set set+", "SINTERCARD 2 set set [LIMIT small]",
			"~ SPOP set 1000", "? SRANDMEMBER set", "? SRANDMEMBER set small", "? SRANDMEMBER set -4",
			"~ SRANDMEMBER set 1000",
			"~ SSCAN set 0 [MATCH pattern] COUNT 1000",
		}},
		{"zset", []string{
			"ZADD zset [NX|XX] [GT|LT] [CH] [INCR] (score member)+", "ZADD zset (score member)+",
			"ZADD zset (score member)+",
			"ZINCRBY zset score member", "ZREM zset member+", "ZSCORE zset member", "ZMSCORE zset member+",
			"ZCARD zset",
			"ZCOUNT zset smin smax", "ZRANK zset member", "ZREVRANK zset member",
			"ZRANGE zset index index [REV] [WITHSCORES]",
			"ZRANGE zset smin smax BYSCORE [LIMIT first index] [WITHSCORES]",
			"ZRANGE zset smax smin BYSCORE REV [LIMIT first index] [WITHSCORES]",
			"ZREVRANGE zset index index [WITHSCORES]", "ZRANGEBYSCORE zset smin smax [WITHSCORES] [LIMIT first index]",
			"ZREVRANGEBYSCORE zset smax smin [WITHSCORES] [LIMIT first index]",
			"ZRANGESTORE zset zset index index [REV]", "ZRANGESTORE zset zset smin smax BYSCORE [LIMIT first index]",
			"ZREMRANGEBYRANK zset index index", "ZREMRANGEBYSCORE zset smin smax",
			"ZPOPMIN zset [small]", "ZPOPMAX zset [small]", "ZMPOP 2 zset zset (MIN|MAX) [COUNT small]",
			"(ZUNION|ZINTER) 2 scored scored [WEIGHTS weight weight] [AGGREGATE (SUM|MIN|MAX)] [WITHSCORES]",
			"ZDIFF 2 scored scored [WITHSCORES]", "ZDIFFSTORE zset 2 scored scored",
			"ZINTERCARD 2 scored scored [LIMIT small]",
			"(ZUNIONSTORE|ZINTERSTORE) zset 2 scored scored [WEIGHTS weight weight] [AGGREGATE (SUM|MIN|MAX)]",
			"~ ZRANDMEMBER zset 1000", "% ZRANDMEMBER zset 1000 WITHSCORES", "? ZRANDMEMBER zset",
			"? ZRANDMEMBER zset small",
			"% ZSCAN zset 0 [MATCH pattern] COUNT 1000",
		}},
		// Lexical ranges are defined for equal scores only. No other group writes to these keys.
		{"lex", []string{
			"ZADD lex (0 member)+", "ZADD lex (0 member)+", "ZREM lex member", "ZLEXCOUNT lex lmin lmax",
			"ZRANGE lex lmin lmax BYLEX [LIMIT first index]", "ZRANGE lex lmax lmin BYLEX REV [LIMIT first index]",
			"ZRANGEBYLEX lex lmin lmax [LIMIT first index]", "ZREVRANGEBYLEX lex lmax lmin [LIMIT first index]",
			"ZRANGESTORE lex lex lmin lmax BYLEX", "ZREMRANGEBYLEX lex lmin lmax",
		}},
		{"stream", []string{
			"XADD stream id (field value)+", "XADD stream id (field value)+", "XADD stream partial field value",
			"XADD stream [NOMKSTREAM] [MAXLEN [=] small|MINID [=] id] id field value",
			"XLEN stream", "XINFO STREAM stream", "XRANGE stream xmin xmax [COUNT index]",
			"XREVRANGE stream xmax xmin [COUNT index]", "XDEL stream id+",
			"XTRIM stream MAXLEN [=] small", "XTRIM stream MINID [=] id",
			"XTRIM stream (MAXLEN|MINID) ~ small [LIMIT 4]",
			"XREAD [COUNT index] STREAMS stream id", "XREAD STREAMS stream stream id id",
			"XSETID stream later [ENTRIESADDED small MAXDELETEDID id]",
		}},
		{"group", []string{
			"XADD stream id (field value)+", "XADD stream id field value", "XADD stream id field value",
			"XDEL stream id+", "XTRIM stream MAXLEN small",
			"XSETID stream later [ENTRIESADDED small MAXDELETEDID id]", "COPY stream stream REPLACE",
			"XGROUP CREATE stream group (0|id|$) [MKSTREAM] [ENTRIESREAD small]",
			"XGROUP CREATE stream group 0 MKSTREAM",
			"XGROUP SETID stream group (0|id|$|later) [ENTRIESREAD small]",
			"XGROUP CREATECONSUMER stream group consumer",
			"XGROUP DELCONSUMER stream group consumer", "XGROUP DESTROY stream group",
			"XREADGROUP GROUP group consumer [COUNT small] [NOACK] STREAMS stream >",
			"XREADGROUP GROUP group consumer COUNT 2 STREAMS stream >",
			"XREADGROUP GROUP group consumer [COUNT small] [NOACK] STREAMS stream stream (>|id) (>|id)",
			"XREADGROUP GROUP group consumer STREAMS stream 0",
			"XACK stream group id+", "XPENDING stream group",
			"# XPENDING stream group [IDLE idle] xmin xmax small [consumer]", "# XPENDING stream group - + 1000",
			"XCLAIM stream group consumer idle id+ [IDLE idle|TIME 1000] [RETRYCOUNT small] [FORCE] [JUSTID] " +
				"[LASTID id]",
			"XCLAIM stream group consumer 0 id+ FORCE",
			"XAUTOCLAIM stream group consumer idle xmin [COUNT small] [JUSTID]",
			"XINFO GROUPS stream", "XINFO STREAM stream",
		}},
		{"hll", []string{
			"PFADD hll element+ element+ element+ element+ element+", "PFADD hll element+ element+ element+",
			"PFADD hll element+", "PFADD hll",
			"PFCOUNT hll", "PFCOUNT hll hll+", "PFMERGE hll hll+", "PFMERGE hll",
			"PFDEBUG (ENCODING|DECODE|TODENSE) hll", "PFDEBUG DECODE hll",
			"GET hll", "COPY hll hll REPLACE", "EXPIRE hll ttl", "DEL hll", "SETRANGE hll broken byte",
			"! V APPEND hll byte", "SET hll value",
		}},
		// No line stores distances, because 7.2 writes the shortest form and 7.0 writes 17 digits. Results go
		// to another key, so that the places stay.
		{"geo", []string{
			"GEOADD geo (lon lat place)+", "GEOADD geo (lon lat place)+",
			"GEOADD geo (lon lat place lon lat place)+", "GEOADD geo (lon lat place lon lat place)+",
			"GEOADD geo [NX|XX] [CH] (lon lat place)+",
			"GEODIST geo place place [unit]", "GEOHASH geo place+", "GEOPOS geo place+", "ZRANGE geo 0 -1 WITHSCORES",
			"GEOSEARCH geo (FROMLONLAT lon lat|FROMMEMBER place) (BYRADIUS metres unit|BYBOX metres metres unit) " +
				"[ASC|DESC] [COUNT small [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]",
			"GEOSEARCH geo FROMMEMBER place BYRADIUS metres ('m|'km)",
			"GEOSEARCH geo FROMMEMBER place BYBOX metres metres ('m|'km)",
			"GEOSEARCH geo FROMLONLAT lon lat BYRADIUS metres ('m|'km) [ASC] WITHDIST",
			"GEOSEARCH geo FROMLONLAT lon lat BYBOX metres metres ('m|'km) [DESC] WITHDIST",
			"GEOSEARCHSTORE 'p3 geo (FROMLONLAT lon lat|FROMMEMBER place) (BYRADIUS metres 'km|BYBOX metres metres " +
				"'km) [ASC|DESC] [COUNT small [ANY]]",
			"(GEORADIUS|GEORADIUS_RO) geo lon lat metres unit [WITHDIST] [WITHHASH] [WITHCOORD] [COUNT small [ANY]] " +
				"[ASC|DESC]",
			"(GEORADIUSBYMEMBER|GEORADIUSBYMEMBER_RO) geo place metres unit [WITHDIST] [WITHHASH] [WITHCOORD] [COUNT " +
				"small [ANY]] [ASC|DESC]",
			"GEORADIUS geo lon lat metres 'km [COUNT small] STORE 'p3", "ZRANGE 'p3 0 -1 WITHSCORES",
		}},
		// The script calls the command after it. Commands whose reply has no order are left out.
		{"script", []string{
			"EVAL passon 0 SET str value [NX|XX] [GET]", "EVAL passon 0 (GET|INCR|DECR|STRLEN|TYPE) str",
			"EVAL passon 0 APPEND str value", "EVAL passon 0 MGET key+",
			"EVAL passon 0 INCRBYFLOAT str float", "EVAL passon 0 SETRANGE str offset value",
			"EVAL passon 0 EXPIRE key ttl [NX|XX]", "EVAL passon 0 (DEL|EXISTS) key+",
			"EVAL passon 0 LRANGE list index index", "EVAL passon 0 (RPUSH|LPUSH) list value+",
			"EVAL passon 0 LPOP list [small]", "EVAL passon 0 LLEN key",
			"EVAL passon 0 ZADD zset [XX] [CH] [INCR] (score member)+",
			"EVAL passon 0 ZRANGE zset index index [WITHSCORES]", "EVAL passon 0 ZSCORE zset member",
			"EVAL passon 0 ZMSCORE zset member+", "EVAL passon 0 ZPOPMIN zset [small]",
			"EVAL passon 0 HSET hash (field value)+", "EVAL passon 0 HMGET hash field+",
			"EVAL passon 0 HINCRBY hash field int", "EVAL passon 0 HDEL hash field+",
			"EVAL passon 0 SADD set member+", "EVAL passon 0 SMISMEMBER set member+",
			"EVAL passon 0 SISMEMBER key member",
			"EVAL passon 0 XADD stream id field value", "EVAL passon 0 XRANGE stream xmin xmax COUNT small",
			"EVAL_RO passon 0 (GET|INCR|STRLEN) key", "EVAL_RO passon 0 SET str value", "EVAL passon small GET str",
			"EVAL passon 0 (GET|WATCH|'nosuch|CONFIG) [str] [value]", "EVAL passon 0",
		}},
		// Scripts that fail, and functions. Some of them change the tables that all scripts of Redis 7.2 share.
		{failingScripts, []string{
			"EVAL failing 0 [value]", "EVAL failing 1 key [value]", "EVAL failing small [key] [value]",
			"SCRIPT LOAD failing", "EVAL_RO failing 1 key value", "EVALSHA sha 0 [value]", "EVALSHA sha small [key]",
			"EVALSHA_RO sha 1 key", "SCRIPT EXISTS sha+", "SCRIPT KILL",
			"SCRIPT ('nosuch|LOAD|EXISTS) [value] [value]",
			"FUNCTION LOAD [REPLACE] library", "FUNCTION LOAD REPLACE library", "FUNCTION LOAD library",
			"FUNCTION LOAD [REPLACE|'x] (failing|value|library)",
			"FCALL function 0 [value]", "FCALL function 1 key value", "FCALL function 1 key value", "FCALL function small",
			"FCALL_RO function 1 key value", "FUNCTION DELETE ('la|'lb|'lc)", "FUNCTION KILL",
			"~ FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE]", "FUNCTION STATS",
			"FUNCTION RESTORE value [FLUSH|APPEND|REPLACE|'x]", "FUNCTION ('nosuch|DELETE|LOAD) [value] [value]",
			"SET str value", "RPUSH list value+", "MULTI",
		}},
		{"multi", []string{
			"MULTI", "MULTI", "MULTI", "EXEC", "DISCARD", "WATCH key+", "WATCH key", "UNWATCH", "WATCH", "SWAPDB 0 1",
			"SET str value", "INCR str", "RPUSH list value+", "HSET hash (field value)+", "DEL key", "EXPIRE key ttl",
			"GET key", "'nosuch value", "GET", "LPOP list [small]", "EVAL passon 0 SET str value", "CLIENT REPLY ON",
			"EXEC (IFEQ|NX|'x) [key] [value]", "CLIENT GETNAME",
		}},
		{newerLogs, []string{
			"CONFIG SET 'commandlog-execution-slower-than (-1|0|1000000000|'x)", "CONFIG SET 'slowlog-log-slower-than 0",
			"CONFIG SET 'commandlog-execution-slower-than 0", "CONFIG SET 'commandlog-slow-execution-max-len small",
			"CONFIG SET 'commandlog-request-larger-than (-1|0|60|'x)", "CONFIG SET 'commandlog-request-larger-than 60",
			"CONFIG SET 'commandlog-large-request-max-len small", "CONFIG SET 'slowlog-max-len small",
			"CONFIG SET 'commandlog-reply-larger-than (-1|0)", "CONFIG SET 'commandlog-reply-larger-than 0",
			"~ CONFIG GET 'commandlog-*", "CONFIG GET 'slowlog-*",
			"& COMMANDLOG GET (-1|small|128) (SLOW|LARGE-REQUEST|LARGE-REPLY)", "& COMMANDLOG GET -1 (SLOW|LARGE-REQUEST)",
			"& COMMANDLOG GET -1 LARGE-REPLY", "COMMANDLOG LEN (SLOW|LARGE-REQUEST|'x)",
			"COMMANDLOG (RESET|LEN|'nosuch) (SLOW|LARGE-REQUEST|'x)", "COMMANDLOG RESET (SLOW|LARGE-REQUEST|LARGE-REPLY)",
			"& SLOWLOG GET [index]", "SLOWLOG LEN", "SLOWLOG (RESET|'nosuch)",
			"SET str value", "EVAL passon 0 SET str value", "EVAL passon 0 LRANGE list 0 -1", "RPUSH list value+",
			"LRANGE list 0 -1", "EVAL failing 1 key value", "MULTI", "EXEC", "GETRANGE str index index",
		}},
		{"keys", []string{
			"DEL key+", "UNLINK key+", "EXISTS key+", "TOUCH key+", "TYPE key", "RENAME key key", "RENAMENX key key",
			"COPY key key [REPLACE]",
			"EXPIRE key ttl [NX|XX]", "PEXPIRE key pttl [NX|XX]", "EXPIREAT key at [NX|XX|GT|LT]",
			"PEXPIREAT key pat [NX|XX|GT|LT]",
			"@ TTL key", "@ PTTL key", "@ EXPIRETIME key", "@ PEXPIRETIME key", "PERSIST key",
			"~ KEYS pattern", "DBSIZE", "? RANDOMKEY", "~ SCAN 0 [MATCH pattern] COUNT 1000 [TYPE type]",
			"MOVE key 1", "OBJECT ENCODING key",
			"V SORT sortable [LIMIT index index] [ASC|DESC] [ALPHA] [STORE list]", "SORT_RO sortable [ALPHA] [DESC]",
			"SORT sortable BY 's* [GET #] [GET 's*]", "~ SORT list BY 'nosort [GET 'h*->f1] [GET #]",
			"V SORT sortable BY ('s*|'h*->1|'z*) [LIMIT index index] [DESC] [GET # GET 's*] [STORE list]",
			"SORT sortable BY ('s*|'h*->1|'z*) [LIMIT index index] [DESC] [GET # GET 's*]",
			// without STORE, sets have no order
			"SORT key BY 'nosort [LIMIT index index] [DESC] [ALPHA] [GET # GET 'h*->f1] STORE list",
		}},
		// These lines never get the focus. They occur in every second sequence.
		{"bounds", []string{
			"! CONFIG SET ('zset-max-listpack-entries|'zset-max-listpack-value) bound",
			"! CONFIG SET ('hash-max-listpack-entries|'hash-max-listpack-value) bound",
			// With fewer integers in an intset, or more members in a listpack, the encoding of a union would
			// depend on the order of a hash table.
			"! CONFIG SET 'set-max-listpack-entries ('0|'1|'2|'6)", "! CONFIG SET 'set-max-listpack-value bound",
			"! CONFIG SET 'list-max-listpack-size fill",
		}},
	}
}

// sourceOf returns the command that reads the collection of c's random pick.
func sourceOf(c command) command {
	switch c.args[0] {
	case "HRANDFIELD":
		return command{'^', []string{"HKEYS", c.args[1]}}
	case "SRANDMEMBER":
		return command{'^', []string{"SMEMBERS", c.args[1]}}
	case "ZRANDMEMBER":
		return command{'^', []string{"ZRANGE", c.args[1], "0", "-1"}}
	}
	return command{'^', []string{"KEYS", "*"}}
}
