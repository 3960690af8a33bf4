package replicas

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

const library = "#!lua name=lib\n" +
	"redis.register_function('add', function(keys, args) return redis.call('INCRBY', keys[1], args[1]) end)"

// mischief are commands that change much at once, expire soon, or do more than one thing. A word like {n} is random.
const mischief = `
SWAPDB 0 1
SWAPDB 2 3
SELECT {db}
SELECT {db}
SELECT {db}
FUNCTION FLUSH
FUNCTION DELETE lib
SCRIPT FLUSH
PUBLISH channel {text}
SPUBLISH channel {text}
WATCH {string}
UNWATCH
SET {string} {text} PX {ms}
SET {string} {text} EX 100
GETEX {string} PX {ms}
PEXPIRE {key} {ms}
PEXPIRE {key} {ms}
EXPIREAT {list} 1
PEXPIREAT {zset} 99999999999999
COPY {key} {key} DB 1 REPLACE
MOVE {key} 3
RENAME {key} {key}
UNLINK {key}
INCRBYFLOAT {string}f 0.1
SPOP {set} 3
SADD {set} {text} {n} {n}
SORT {set} BY nosort STORE {list}
EVAL redis.call('SELECT',ARGV[1]);redis.call('SET',KEYS[1],ARGV[2]) 1 {string} {db} {text}
EVAL redis.call('RPUSH',KEYS[1],ARGV[1]);redis.call('INCR',KEYS[1]) 1 {list} {text}
EVAL redis.pcall('INCR',KEYS[1]);redis.call('SADD',KEYS[2],ARGV[1]) 2 {list} {set} {text}
EVAL redis.call('INCR',KEYS[1]);redis.call('PEXPIRE',KEYS[1],ARGV[1]) 1 {string}c {ms}
EVAL return{redis.call('SPOP',KEYS[1]),redis.call('TIME')} 1 {set}
EVAL redis.call('DEL',KEYS[1]);redis.call('LPUSH',KEYS[1],'v','w') 1 {list}
FCALL add 1 {string}c {n}
BLPOP {list} {list} 0.01
BLMOVE {list} {list} LEFT RIGHT 0.01
BZPOPMIN {zset} {zset} 0.01
XADD {stream} * f {text}
XADD {stream} MAXLEN ~ 20 * f {text}
XGROUP CREATE {stream} g 0 MKSTREAM
XGROUP SETID {stream} g $
XGROUP DESTROY {stream} g
XREADGROUP GROUP g {n} COUNT 3 NOACK STREAMS {stream} >
XREADGROUP GROUP g {n} COUNT 2 STREAMS {stream} >
XAUTOCLAIM {stream} g {n} 0 0 COUNT 2
LPUSH {list} {text} {text} {text} {text}
PFADD {string}h {text} {text}
PFMERGE {string}m {string}h {string}h
`

// blocking are commands that wait, and a few that wake them up.
const blocking = `
BLPOP {list} {list} {list} 0.2
BRPOP {list} {list} 0.1
BLMOVE {list} {list} RIGHT LEFT 0.2
BRPOPLPUSH {list} {list} 0.1
BLMPOP 0.2 2 {list} {list} LEFT COUNT 3
BZPOPMAX {zset} {zset} 0.2
BZMPOP 0.1 2 {zset} {zset} MIN COUNT 2
XREADGROUP GROUP g {n} BLOCK 100 STREAMS {stream} >
XREAD BLOCK 50 STREAMS {stream} $
SELECT {db}
LPUSH {list} {text}
ZADD {zset} {n} {text}
`

// randomCommands returns a function that makes commands of a list.
func randomCommands(r *rand.Rand, list string) func() []string {
	lines := strings.Split(strings.TrimSpace(list), "\n")
	return func() (args []string) {
		for _, arg := range strings.Fields(lines[r.IntN(len(lines))]) {
			if rest, found := strings.CutPrefix(arg, "{"); found {
				name, after, _ := strings.Cut(rest, "}")
				arg = randomWord(r, name) + after
			}
			args = append(args, arg)
		}
		return args
	}
}

func randomWord(r *rand.Rand, name string) string {
	switch name {
	case "text":
		return randomText(r)
	case "ms":
		return strconv.Itoa(1 + r.IntN(300))
	case "db":
		return strconv.Itoa(r.IntN(databases))
	case "n":
		return strconv.Itoa(r.IntN(100))
	case "key":
		return fmt.Sprint("key:", r.IntN(3000))
	}
	return name + strconv.Itoa(r.IntN(6))
}

func randomText(r *rand.Rand) string {
	switch r.IntN(3) {
	case 0:
		return fmt.Sprint(r.Int64() >> r.IntN(64))
	case 1:
		return strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(200))
	}
	b := make([]byte, r.IntN(60))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// rareCommands returns a function that makes commands of mischief, collections of any size, large values, and some
// commands that make a database empty.
func rareCommands(r *rand.Rand) func() []string {
	some := randomCommands(r, mischief)
	return func() []string {
		switch n := r.IntN(20_000); {
		case n == 0:
			return []string{"FLUSHALL"}
		case n < 5:
			return []string{"FLUSHDB", []string{"SYNC", "ASYNC"}[r.IntN(2)]}
		case n == 5:
			return []string{"EVAL", "redis.call('FLUSHDB')", "0"}
		case n < 30:
			return []string{"SET", "large" + strconv.Itoa(n), strings.Repeat(randomText(r), 1+r.IntN(5000))}
		case n < 70:
			return []string{"APPEND", "large" + strconv.Itoa(n%30), strings.Repeat("x", r.IntN(40_000))}
		case n < 300:
			return []string{"FUNCTION", "LOAD", "REPLACE", library}
		case n < 6000:
			return randomValue(r, randomWord(r, "key"))
		}
		return some()
	}
}

// randomValue is a command that stores something in a key.
func randomValue(r *rand.Rand, key string) []string {
	most := 8
	switch n := r.IntN(40); {
	case n == 0:
		most = 700
	case n < 6:
		most = 100
	}
	command := [][]string{
		{"SET", key}, {"RPUSH", key}, {"SADD", key}, {"ZADD", key}, {"HSET", key}, {"XADD", key, "*"},
	}[r.IntN(6)]
	if command[0] == "SET" {
		return append(command, strings.Repeat(randomText(r), 1+r.IntN(most)))
	}
	for range 1 + r.IntN(most) {
		switch command[0] {
		case "ZADD":
			command = append(command, fmt.Sprint(float64(r.IntN(2e6)-1e6)/64))
		case "HSET", "XADD":
			command = append(command, randomText(r))
		}
		command = append(command, randomText(r))
	}
	return command
}

// randomBatch makes some commands, which may be a transaction, and says how many replies they have.
func randomBatch(r *rand.Rand, command func() []string) (batch []byte, replies int) {
	n := 1 + r.IntN(20)
	atOnce := r.IntN(5) == 0
	if atOnce {
		batch = resp.AppendRequest(batch, "MULTI")
	}
	for range n {
		batch = resp.AppendRequest(batch, command()...)
	}
	if atOnce {
		batch = resp.AppendRequest(batch, "EXEC")
		n += 2
	}
	return batch, n
}
