package command

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

var captureSeeds = flag.Uint64("capture.seeds", uint64(amount.Count(12, 60)),
	"under how many seeds commands change what a capture copies")

// captureChanges are requests that change values in each way that there is. In each word a letter behind a %
// stands for a key, a number, a text and so on: see changer.word.
func captureChanges() []string {
	return []string{
		"SET %s %t", "SET %s %n", "SET %s %L", "SET %s %t PX %p", "SET %s %t KEEPTTL", "MSET %s %t %s %n", "SETNX %s %t",
		"GETSET %s %t", "GETDEL %s", "GETEX %s PX %p", "GETEX %s PERSIST", "APPEND %s %t", "APPEND %s %L",
		"SETRANGE %s %n %t", "SETBIT %s %n 1", "SETBIT %s %n 0", "BITFIELD %s SET u8 %n 7 INCRBY i5 3 1", "INCR %s",
		"INCRBY %s 300", "DECRBY %s 7", "INCRBYFLOAT %s 1.5", "BITOP NOT %s %s", "PFADD %f %t", "PFMERGE %f %f %f",
		"PFCOUNT %f", "PFADD %f %t %t %t", "DELEX %s IFEQ %t",

		"DEL %k", "UNLINK %k %k", "RENAME %k %k", "RENAMENX %k %k", "COPY %k %k", "COPY %k %k DB %d REPLACE",
		"MOVE %k %d",
		"PEXPIRE %k %p", "PEXPIRE %k -1", "PERSIST %k", "PERSIST %k", "PERSIST %k",
		"PEXPIREAT %k 1700000000100 GT", "TOUCH %k", "GET %s", "TYPE %k",
		"SELECT %d", "SELECT %d", "SWAPDB %d %d", "FLUSHDB", "SCAN 0", "RANDOMKEY", "SORT %l ALPHA STORE %l", "SORT %i",

		"LPUSH %l %t %n", "RPUSH %l %t", "RPUSH %l %L", "LPUSHX %l %n", "LPOP %l", "RPOP %l 3", "LSET %l 0 %t",
		"LSET %l -2 %n",
		"LINSERT %l BEFORE %n %t", "LREM %l 1 %n", "LTRIM %l 1 -2", "LMOVE %l %l LEFT RIGHT",
		"LMPOP 2 %l %l RIGHT COUNT 2",
		"RPUSH %l %N", "RPUSH %l %N", "BLPOP %l 0.1",

		"SADD %i %n %n", "SADD %i %t", "SREM %i %n", "SPOP %i", "SPOP %i 3", "SMOVE %i %i %n", "SADD %i %N", "SADD %i %N",
		"SUNIONSTORE %i %i %i", "SDIFFSTORE %i %i %i",

		"ZADD %z %n %t", "ZADD %z %n %n", "ZINCRBY %z 2 %t", "ZINCRBY %z 2 %n", "ZREM %z %n", "ZPOPMIN %z",
		"ZPOPMAX %z 2",
		"ZREMRANGEBYRANK %z 0 1", "ZREMRANGEBYSCORE %z 1 5", "ZADD %z %Z", "ZADD %z %Z", "ZUNIONSTORE %z 2 %z %i",
		"ZRANGESTORE %z %z 0 5", "ZADD %z INCR 1 %n", "ZMPOP 1 %z MIN", "GEOADD %z 13.3 38.1 %t", "ZRANGE %z 0 -1",
		"GEOSEARCHSTORE %z %z FROMLONLAT 13 38 BYRADIUS 500 km ASC",

		"HSET %h %n %t", "HSET %h %n %n", "HSET %h %t %L", "HDEL %h %n", "HINCRBY %h %n 5", "HINCRBYFLOAT %h %n 0.5",
		"HSETNX %h %n %t", "HSET %h %N", "HSET %h %N", "HGETALL %h", "HMSET %h %n %t %t %n",
		"HPEXPIRE %h %p FIELDS 2 %n %n", "HPEXPIRE %h %p NX FIELDS 1 %n", "HPERSIST %h FIELDS 1 %n",
		"HGETEX %h PX %p FIELDS 1 %n", "HSETEX %h PX %p FIELDS 1 %n %t", "HGETDEL %h FIELDS 1 %n",

		"XADD %x * f %t", "XADD %x MAXLEN 5 * f %t g %n", "XADD %x * a %n", "XADD %x NOMKSTREAM MINID ~ 5 * f %L",
		"XDEL %x 1-1",
		"XADD %x %n-%n f v", "XTRIM %x MAXLEN 3", "XSETID %x 99999999999999-9", "XGROUP CREATE %x g 0 MKSTREAM",
		"XGROUP CREATE %x h $", "XGROUP SETID %x g 0", "XGROUP DESTROY %x h", "XGROUP CREATECONSUMER %x g %n",
		"XGROUP DELCONSUMER %x g %n", "XREADGROUP GROUP g %n COUNT 2 STREAMS %x >", "XREADGROUP GROUP h c STREAMS %x >",
		"XACK %x g 1-1 2-2", "XCLAIM %x g %n 0 1-1 2-2 FORCE", "XAUTOCLAIM %x g %n 0 0 COUNT 2", "XREAD STREAMS %x 0",

		"MULTI", "EXEC", "SETRANGE %s 0 %t", "SETRANGE %s 9 %t",
		"EVAL redis.pcall('rename',KEYS[1],KEYS[2]);redis.pcall('setrange',KEYS[2],5,'xyz') 2 %s %s",
		"EVAL redis.call('append',KEYS[1],'x');return+redis.call('rpush',KEYS[2],'y') 2 %s %l",
	}
}

// changer changes a keyspace by random requests.
type changer struct {
	d     *driver
	r     *rand.Rand
	reply int
}

func newChanger(seed uint64) *changer {
	cfg, clk := config.Default(), clock.New()
	clk.Lab = clk.NewLab()
	clk.Lab.Freeze(0)
	clk.Lab.Set(0, 1_700_000_000_000*1e6)
	ks := store.NewKeyspace(store.Options{Databases: 3, Seed: seed})
	ks.Limits.HashMaxListpackEntries, ks.Limits.SetMaxListpackEntries, ks.Limits.ZSetMaxListpackEntries = 6, 6, 6
	ks.Limits.SetMaxIntsetEntries, ks.Limits.ListMaxListpackSize, ks.Limits.StreamNodeMaxEntries = 6, 5, 4
	d := &driver{
		ex: New(cfg, ks, clk, &testHost{}, CommandsOf(dialect.Named("redis-8.10"))),
		s:  Session{Authenticated: true, Proto: 2}, w: resp.Writer{Proto: 2},
	}
	return &changer{d: d, r: rand.New(rand.NewPCG(seed, 1))}
}

func (c *changer) word(kind byte) string {
	switch kind {
	case 'k': // a key of any type
		return c.word("sflizhx"[c.r.IntN(7)])
	case 'd':
		return strconv.Itoa(c.r.IntN(3))
	case 'n':
		return strconv.Itoa(c.r.IntN(12))
	case 'p':
		return strconv.Itoa(1 + c.r.IntN(60)*(1+c.r.IntN(2)*100))
	case 't':
		return strings.Repeat(string(rune('a'+c.r.IntN(6))), 1+c.r.IntN(60))
	case 'L':
		return strings.Repeat("long ", []int{30, 300, 5000}[c.r.IntN(3)])[1:]
	case 'N', 'Z':
		return ""
	}
	return string(kind) + strings.Repeat("k", []int{0, 0, 130}[c.r.IntN(3)]) + strconv.Itoa(c.r.IntN(4))
}

func (c *changer) request(template string) (args [][]byte) {
	for _, word := range strings.Fields(template) {
		if word == "%N" || word == "%Z" {
			for i := range 10 {
				args = append(args, fmt.Append(nil, i), fmt.Append(nil, c.r.IntN(40)))
			}
			continue
		}
		for at := strings.IndexByte(word, '%'); at >= 0; at = strings.IndexByte(word, '%') {
			word = word[:at] + c.word(word[at+1]) + word[at+2:]
		}
		args = append(args, []byte(word))
	}
	return args
}

// change executes some random requests, moves the clock, and evicts.
func (c *changer) change() {
	ex, all := c.d.ex, captureChanges()
	for range 1 + c.r.IntN(12) {
		c.d.w.Buf = c.d.w.Buf[:0]
		ex.Do(&c.d.s, c.request(all[c.r.IntN(len(all))]), &c.d.w)
		if c.d.s.Hold != NotHeld {
			ex.Leave(&c.d.s)
			c.d.s = Session{Authenticated: true, Proto: 2}
		}
	}
	if c.d.s.InMulti() {
		return
	}
	switch c.r.IntN(20) {
	case 0:
		ex.KS.EvictOne(store.Policy{By: store.EvictRandom}, 5)
	case 1, 2, 3:
		ex.Clock.Lab.Set(0, (ex.KS.Now+c.r.Int64N(30))*1e6)
		ex.Tick()
		ex.KS.ExpireDue()
	case 4:
		if c.r.IntN(20) == 0 {
			ex.KS.Replace(ex.KS.Databases(ex.KS.Snapshot()))
		}
	}
}

// all returns everything that is in the keyspace.
func (c *changer) all() map[string]string {
	found := map[string]string{}
	for _, db := range c.d.ex.KS.DBs {
		for name, v := range db.Values() {
			found[fmt.Sprint(db.ID, " ", name)] = picture(v)
		}
	}
	return found
}

func picture(v store.Value) string {
	return fmt.Sprintf("%s %d %x", v.Encoding(), v.Expire(), rdb.Dump(nil, v, rdb.VersionTimed))
}

// A capture is the keyspace at the moment in which it began, whatever commands do until it has copied the last key.
func TestACaptureIsTheKeyspaceAtOneMoment(t *testing.T) {
	for seed := range *captureSeeds {
		c := newChanger(seed)
		for range 60 {
			c.change()
		}
		for range 4 {
			for c.d.s.InMulti() {
				c.change()
			}
			want, got := c.all(), map[string]string{}
			capture := c.d.ex.KS.Capture()
			require.Equal(t, len(want), capture.Keys)
			pace := 1 + c.r.IntN(3)
			var waiting []*store.Batch
			write := func() {
				for _, k := range waiting[0].Keys {
					name := fmt.Sprint(k.DB, " ", k.Name)
					require.NotContains(t, got, name, "seed %d", seed)
					got[name] = picture(k.Value)
				}
				capture.Reuse(waiting[0])
				waiting = waiting[1:]
			}
			for more := true; more; {
				c.change()
				if c.r.IntN(2) == 0 {
					more = capture.Step(pace)
				}
				if b := capture.Take(0); b != nil {
					waiting = append(waiting, b)
				}
				if len(waiting) > 0 && c.r.IntN(4) == 0 {
					write()
				}
			}
			c.change() // no copy changes any more
			require.Equal(t, capture.Keys, capture.Copied)
			for len(waiting) > 0 {
				write()
			}
			if !maps.Equal(want, got) {
				require.Equal(t, want, got, "seed %d", seed)
			}
			capture.Return()
		}
	}
}
