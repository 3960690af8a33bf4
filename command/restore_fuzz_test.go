package command

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/rdb"
)

// makers store a key of each type and encoding, which a payload can come from.
var makers = []string{
	"SET k text", "SET k 12", "RPUSH k a 1 bcdefghijklmnopqrstuvwxyz -7000", "SADD k 1 2 70000", "SADD k a b 3",
	"ZADD k 1 a 2.5 b inf c", "HSET k a 1 b x c 300", "GEOADD k 13.4 52.5 berlin 2.3 48.8 paris", "PFADD k a b c",
	"XADD k 5-1 f v g w; XADD k 6-0 f v g w; XADD k 6-1 other field; XGROUP CREATE k g 0; " +
		"XREADGROUP GROUP g c COUNT 2 STREAMS k >; XDEL k 5-1; XGROUP CREATECONSUMER k g idle",
	"XGROUP CREATE k g $ MKSTREAM",
}

// uses are what a key of each type has to bear. Each begins with the key as it was restored.
var uses = map[string]string{
	"string": "STRLEN k; GETRANGE k 0 -1; SETRANGE k 3 zz; APPEND k x; INCR k; INCRBYFLOAT k 1.5; BITCOUNT k; " +
		"BITPOS k 1; GETBIT k 7; SETBIT k 100 1; BITFIELD k SET u8 0 255 GET i5 3; BITOP NOT d k; PFCOUNT k; " +
		"PFADD k z; PFMERGE d k; " +
		"LCS k k; GETEX k PERSIST; GETSET k v; GETDEL k",
	"list": "LLEN k; LRANGE k 0 -1; LINDEX k 0; LINDEX k -1; LPOS k a RANK -1 COUNT 0; LSET k 0 new; LSET k -1 " +
		strings.Repeat("long", 50) + "; LINSERT k BEFORE new x; LREM k -1 x; LMOVE k d LEFT RIGHT; LMOVE k k RIGHT LEFT; " +
		"RPUSH k 1 2; LTRIM k 1 -2; SORT k ALPHA; LMPOP 1 k RIGHT COUNT 2; RPOP k 2; LPOP k 100000",
	"set": "SCARD k; SMEMBERS k; SISMEMBER k a; SMISMEMBER k 1 a; SSCAN k 0 COUNT 1000; SRANDMEMBER k -3; " +
		"SRANDMEMBER k 2; " +
		"SADD k 5 text; SREM k 1 a; SINTER k k; SUNION k d; SDIFFSTORE d k none; SMOVE k d 2; SINTERCARD 1 k; " +
		"SORT k ALPHA; " +
		"SPOP k 2; SPOP k 100000",
	"zset": "ZCARD k; ZRANGE k 0 -1 WITHSCORES; ZRANGE k -inf +inf BYSCORE; ZRANGE k - + BYLEX REV; ZRANK k a; " +
		"ZREVRANK k c; " +
		"ZSCORE k a; ZCOUNT k -inf +inf; ZLEXCOUNT k - +; ZSCAN k 0 COUNT 1000; ZADD k 7 new; ZINCRBY k 1 a; ZREM k b; " +
		"ZRANDMEMBER k -3 WITHSCORES; ZUNION 2 k d WITHSCORES; ZINTERSTORE d 1 k; ZDIFF 2 k d; GEOPOS k paris; " +
		"GEODIST k a b; " +
		"GEOSEARCH k FROMLONLAT 2 48 BYRADIUS 9000 km ASC; GEOHASH k berlin; SORT k ALPHA; ZRANGESTORE d k 0 1; " +
		"ZREMRANGEBYRANK k 0 0; ZREMRANGEBYSCORE k 2 3; ZPOPMIN k; ZPOPMAX k 100000",
	"hash": "HLEN k; HGETALL k; HGET k a; HMGET k a b; HSTRLEN k a; HEXISTS k a; HKEYS k; HVALS k; " +
		"HSCAN k 0 COUNT 1000; " +
		"HRANDFIELD k -3 WITHVALUES; HRANDFIELD k 2; HSET k new v; HINCRBY k b 1; HINCRBYFLOAT k c 1.5; HDEL k a b; " +
		"HSET k long " + strings.Repeat("long", 50) + "; HDEL k c long",
	"stream": "XLEN k; XRANGE k - +; XREVRANGE k + - COUNT 3; XREAD STREAMS k 0; XINFO STREAM k FULL; XINFO GROUPS k; " +
		"XINFO CONSUMERS k g; XPENDING k g; XPENDING k g - + 100; XREADGROUP GROUP g c STREAMS k 0; " +
		"XREADGROUP GROUP g new COUNT 1 STREAMS k >; XCLAIM k g other 0 5-1 6-0 6-1; XAUTOCLAIM k g third 0 0; " +
		"XACK k g 5-1 6-0; " +
		"XADD k * f v; XADD k MAXLEN ~ 2 * f v; XDEL k 6-1; XTRIM k MAXLEN 1; XSETID k 18446744073709551615-1; " +
		"XGROUP SETID k g 0; XGROUP DELCONSUMER k g c; XGROUP DESTROY k g; XTRIM k MAXLEN 0",
	"all": "OBJECT ENCODING k; OBJECT IDLETIME k; MEMORY USAGE k SAMPLES 0; TYPE k; TOUCH k; EXPIRE k 100; " +
		"PERSIST k; COPY k c; " +
		"RENAME k r; RENAME r k; MOVE k 1; SCAN 0 TYPE hash; SORT k BY nosort; DUMP k; EXISTS k",
}

// perform executes requests, whatever they answer.
func (d *driver) perform(requests string) {
	for request := range strings.SplitSeq(requests, "; ") {
		d.w.Buf = d.w.Buf[:0]
		d.ex.Do(&d.s, words(request), &d.w)
	}
}

// FuzzARestoredKeyBearsEveryCommand restores any bytes with a right checksum. They are refused, or make a key that
// works.
// Neither takes more memory than the payload has bytes for.
func FuzzARestoredKeyBearsEveryCommand(f *testing.F) {
	d := newDriver()
	for _, maker := range makers {
		d.perform("FLUSHALL; " + maker + "; DUMP k")
		_, payload, _ := strings.Cut(string(d.w.Buf), "\r\n")
		f.Add([]byte(strings.TrimSuffix(payload, "\r\n")))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		d := newDriver()
		restore := [][]byte{[]byte("RESTORE"), []byte("k"), []byte("0"), rdb.SetChecksum(payload)}
		again := func() string {
			d.perform("FLUSHALL")
			d.w.Buf = d.w.Buf[:0]
			d.ex.Do(&d.s, restore, &d.w)
			return string(d.w.Buf)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		reply := again()
		runtime.ReadMemStats(&after)
		if !strings.Contains(string(payload), "\xc3") { // LZF makes 264 bytes of three
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20+1000*len(payload)))
		}
		if reply != "+OK\r\n" {
			require.Contains(t, reply, "-ERR ")
			return
		}
		d.perform("TYPE k")
		kind := strings.TrimSpace(string(d.w.Buf[1:]))
		require.Contains(t, uses, kind)
		for _, requests := range []string{uses["all"], uses[kind]} {
			for at := range len(strings.Split(requests, "; ")) { // each as the first one, too
				d.perform(strings.Join(strings.Split(requests, "; ")[at:], "; "))
				require.Equal(t, "+OK\r\n", again())
			}
		}
		for other, requests := range uses {
			if other != "all" {
				d.perform(requests)
				require.Equal(t, "+OK\r\n", again(), other)
			}
		}
		d.perform("DUMP k")
		_, dumped, _ := strings.Cut(string(d.w.Buf), "\r\n")
		restore[3] = []byte(strings.TrimSuffix(dumped, "\r\n"))
		require.Equal(t, "+OK\r\n", again(), "what was accepted can be dumped and restored")
	})
}
