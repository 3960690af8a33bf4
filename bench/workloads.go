package main

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// workload is one command that is sent repeatedly. __rand_int__ in an argument stands for the
// number of a random key, as in redis-benchmark.
type workload struct {
	name   string
	args   []string
	batch  [][]string // in place of args: several commands that make one request
	fill   []string   // sent before each turn, for every key number in place of __rand_int__
	drain  bool       // each request takes something away: fill for every request, not every key
	once   bool       // with drain: each request has a number of its own, so that it finds what was filled in
	load   string     // a script for EVALSHA
	weight int        // how many times more a request costs than a SET, for turns of like length
	most16 float64    // bound of the CPU ratio at pipeline 16
}

// own reports whether redis-benchmark cannot make this load.
func (w workload) own() bool { return w.once || w.batch != nil }

var value = strings.Repeat("x", 32)

func loadWorkloads() []workload {
	mset := []string{"MSET"}
	for range 10 {
		mset = append(mset, "key:__rand_int__", value)
	}
	return []workload{
		{name: "set", args: []string{"SET", "key:__rand_int__", value}, most16: 0.60},
		{name: "get", args: []string{"GET", "key:__rand_int__"}, fill: []string{"SET", "key:__rand_int__", value},
			most16: 0.60},
		{name: "incr", args: []string{"INCR", "counter:__rand_int__"}, most16: 0.60},
		{name: "hset", args: []string{"HSET", "myhash", "element:__rand_int__", value}, most16: 0.60},
		{name: "sadd", args: []string{"SADD", "myset", "element:__rand_int__"}, most16: 0.60},
		{name: "lpush", args: []string{"LPUSH", "mylist", value}, most16: 0.60},
		{name: "rpop", args: []string{"RPOP", "mylist"}, fill: []string{"LPUSH", "mylist", value}, drain: true,
			most16: 0.60},
		{name: "zadd", args: []string{"ZADD", "myzset", "__rand_int__", "element:__rand_int__"}, most16: 0.60},
		{name: "mset10", args: mset, weight: 5, most16: 0.80},
		{name: "lrange100", args: []string{"LRANGE", "mylist", "0", "99"}, fill: []string{"LPUSH", "mylist", value},
			weight: 10, most16: 0.80},
		{name: "evalunlock", args: unlock("EVAL", unlockScript), fill: held(), drain: true, once: true, weight: 3,
			most16: 0.70},
		{name: "evalshaunlock", args: unlock("EVALSHA", sha(unlockScript)), load: unlockScript, fill: held(),
			drain: true, once: true, weight: 3, most16: 0.70},
		{name: "evallock", args: lock("EVAL", lockScript), weight: 4, most16: 0.70},
		{name: "evalshalock", args: lock("EVALSHA", sha(lockScript)), load: lockScript, weight: 4, most16: 0.70},
		{name: "multi10", batch: multi10(), weight: 8, most16: 0.70},
	}
}

// lockScript takes a lock that is free or that the caller already holds. Otherwise it returns how
// long the lock is held. Redisson's script does the same.
const lockScript = `if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then ` +
	`redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; ` +
	`return redis.call('pttl', KEYS[1]);`

func sha(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

func held() []string { return []string{"SET", "lock:__rand_int__", value, "PX", "600000"} }

func unlock(command, script string) []string {
	return []string{command, script, "1", "lock:__rand_int__", value}
}

func lock(command, script string) []string {
	return []string{command, script, "1", "rlock:__rand_int__", "600000", "6b1e9bd4-5b5a-4b5e-8c5d-0123456789ab:1"}
}

func multi10() [][]string {
	batch := [][]string{{"MULTI"}}
	for range 10 {
		batch = append(batch, []string{"SET", "key:__rand_int__", value})
	}
	return append(batch, []string{"EXEC"})
}

// bounds are for columns of loadColumns: the CPU, and without pipeline p99.
func (w workload) bounds(pipeline int) []bound {
	switch pipeline {
	case 16:
		return []bound{{column: 1, most: w.most16}}
	case 1:
		return []bound{{column: 1, most: 0.90}, {column: 3, most: 1.0}}
	}
	return nil
}

// prepare empties the server and fills in the data of the workload.
func (w workload) prepare(addr string, keys, n int) error {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.pipe([][]string{{"FLUSHALL"}}); err != nil {
		return err
	}
	if w.load != "" {
		if err := c.pipe([][]string{{"SCRIPT", "LOAD", w.load}}); err != nil {
			return err
		}
	}
	if w.fill == nil {
		return nil
	}
	count := keys
	if w.drain {
		count = n
	}
	return c.pipeN(count, func(i int) []string { return numbered(w.fill, i) })
}

func numbered(args []string, i int) []string {
	out := slices.Clone(args)
	for j, a := range out {
		out[j] = strings.ReplaceAll(a, "__rand_int__", fmt.Sprintf("%012d", i))
	}
	return out
}

func workloadNames() []string {
	var names []string
	for _, w := range loadWorkloads() {
		names = append(names, w.name)
	}
	for _, s := range specials() {
		names = append(names, s.name)
	}
	return names
}

func (b *bench) selected() (loads []workload, other []special, err error) {
	names := strings.Split(b.workloads, ",")
	if b.workloads == "all" {
		names = workloadNames()
	}
	for _, n := range names {
		i := slices.IndexFunc(loadWorkloads(), func(w workload) bool { return w.name == n })
		j := slices.IndexFunc(specials(), func(s special) bool { return s.name == n })
		switch {
		case i >= 0:
			loads = append(loads, loadWorkloads()[i])
		case j >= 0:
			other = append(other, specials()[j])
		default:
			return nil, nil, fmt.Errorf("-w %s: not one of %s", n, strings.Join(workloadNames(), " "))
		}
	}
	return loads, other, nil
}
