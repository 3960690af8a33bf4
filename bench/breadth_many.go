package main

import (
	"fmt"
	"slices"
	"strings"
)

// sizeRows are values around the size of one read(2).
func sizeRows() (rows []breadthRow) {
	const keys = 10_000
	for _, kb := range []int{2, 4, 8, 16, 32} {
		text := strings.Repeat("x", kb<<10)
		set := request(fmt.Sprintf("SET of %d KB", kb), 40_000, 1, "SET v:__rand_int__ "+text)
		get := request(fmt.Sprintf("GET of %d KB", kb), 40_000, 1, "GET v:__rand_int__", stringKeys("v:", 1_000, text))
		set.keys, get.keys = keys, 1_000
		rows = append(rows, set, get)
	}
	return rows
}

// manyKeyRows have so many keys that no cache of the processor holds them.
func manyKeyRows() []breadthRow {
	const keys = 4_000_000
	strs := many("MSET", "k:", keys, value)
	ten := func(command string, behind ...string) string {
		args := []string{command}
		for range 10 {
			args = append(append(args, "k:__rand_int__"), behind...)
		}
		return strings.Join(args, " ")
	}
	fields := filled("HSET", "h", keys, func(i int) []string { return []string{"f:" + padded(i), value} })
	sets := each(keys, func(i int) []string { return []string{"SADD", "s:" + padded(i), "1", "2", "3"} })
	rows := []breadthRow{
		request("GET among 4M", 500_000, 16, "GET k:__rand_int__", strs),
		request("SET among 4M", 500_000, 16, "SET k:__rand_int__ "+value, strs),
		request("MGET of 10 among 4M", 150_000, 16, ten("MGET"), strs),
		request("EXISTS of 10 among 4M", 150_000, 16, ten("EXISTS"), strs),
		request("DEL of 10 among 4M", 50_000, 16, ten("DEL"), strs),
		request("MSET of 10 among 4M", 100_000, 16, ten("MSET", value), strs),
		request("HMGET of 10 among 4M", 100_000, 16,
			"HMGET h"+strings.Repeat(" f:__rand_int__", 10), fields),
		request("SINTER of 2 among 4M", 150_000, 16, "SINTER s:__rand_int__ s:__rand_int__", sets),
	}
	for i := range rows {
		rows[i].keys = keys
	}
	return rows
}

// many are n keys with one value, many in each command.
func many(command, prefix string, n int, value string) data {
	const pairs = 50 // in a command
	return each(n/pairs, func(at int) []string {
		return slices.Concat([]string{command}, repeated(2*pairs, func(i int) string {
			if i%2 == 1 {
				return value
			}
			return prefix + padded(at*pairs+i/2)
		}))
	})
}
