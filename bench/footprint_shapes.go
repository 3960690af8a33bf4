package main

import (
	"fmt"
	"strconv"
	"strings"
)

// shapes are the rows of `bench memory`. share makes all of them smaller.
func shapes(share float64) (list []shape) {
	add := func(name string, n int, fill func(n int) data) {
		n = max(1, int(float64(n)*share))
		list = append(list, shape{name, n, fill(n)})
	}
	add("500k strings of 32 B", 500_000, func(n int) data {
		return each(n, func(i int) []string { return []string{"SET", fmt.Sprintf("key:%010d", i), value} })
	})
	add("500k locks", 500_000, func(n int) data {
		return each(n, func(i int) []string {
			return []string{"SET", fmt.Sprintf("lock:%010d", i), value, "NX", "PX", "3600000"}
		})
	})
	add("200k Redisson locks", 200_000, redissonLocks)
	add("1000 strings of 100 KB", 1_000, func(n int) data {
		return each(n, func(i int) []string {
			return []string{"SET", numberedKey("b", i),
				strings.Repeat("x", 100_000)}
		})
	})
	addMany(add)
	addOne(add)
	return list
}

// addMany adds shapes of many small keys. Their elements are the keys.
func addMany(add func(name string, n int, fill func(n int) data)) {
	many := func(name string, n, size int, command, prefix string, element func(key, i int) []string) {
		add(name, n, func(n int) data {
			return each(n, func(key int) []string {
				args := []string{command, numberedKey(prefix, key)}
				for i := range size {
					args = append(args, element(key, i)...)
				}
				return args
			})
		})
	}
	field := func(key, i int) []string {
		return []string{"field" + strconv.Itoa(i), fmt.Sprintf("value%d-%d", i, key)}
	}
	member := func(key, i int) string { return fmt.Sprintf("m%d-%d", i, key) }
	only := func(arg string) []string { return []string{arg} }
	many("100k hashes of 10", 100_000, 10, "HSET", "h", field)
	many("20k hashes of 200", 20_000, 200, "HSET", "h", field)
	many("100k sets of 10", 100_000, 10, "SADD", "s", func(key, i int) []string { return only(member(key, i)) })
	many("100k intsets of 20", 100_000, 20, "SADD", "s", func(key, i int) []string {
		return only(strconv.Itoa(key + i))
	})
	many("100k sorted sets of 10", 100_000, 10, "ZADD", "z", func(key, i int) []string {
		return []string{strconv.Itoa(i), member(key, i)}
	})
	many("100k lists of 10", 100_000, 10, "RPUSH", "l", func(_, i int) []string {
		return only("element-" + strconv.Itoa(i))
	})
}

// addOne adds shapes of one large key.
func addOne(add func(name string, n int, fill func(n int) data)) {
	one := func(name string, n int, command ...string) {
		add(name, n, func(n int) data {
			return each(n, func(i int) []string {
				args := make([]string, len(command))
				for j, word := range command {
					args[j] = strings.ReplaceAll(word, "{i}", strconv.Itoa(i))
				}
				return args
			})
		})
	}
	one("one hash of 1M", 1_000_000, "HSET", "h", "field{i}", "value{i}")
	one("one set of 1M", 1_000_000, "SADD", "s", "member-{i}")
	one("one sorted set of 500k", 500_000, "ZADD", "z", "{i}.5", "member-{i}")
	one("one list of 1M", 1_000_000, "RPUSH", "l", "element-{i}")
	one("one stream of 500k", 500_000, "XADD", "x", "*", "field", "value{i}")
}

// redissonLocks are locks as Redisson keeps them: a hash with one field and an expiry.
func redissonLocks(n int) data {
	return each(2*n, func(at int) []string {
		i := at / 2
		if at%2 == 1 {
			return []string{"PEXPIRE", numberedKey("rlock", i), "3600000"}
		}
		return []string{"HINCRBY", numberedKey("rlock", i),
			fmt.Sprintf("285475da-9152-4c83-822a-67ee2f116a79:%d", i%97), "1"}
	})
}

func numberedKey(prefix string, i int) string { return prefix + ":" + strconv.Itoa(i) }
