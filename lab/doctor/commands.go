package doctor

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// effect is the meaning of a command for a lock. A command may have several.
type effect uint16

const (
	takes     effect = 1 << iota // creates an absent key, whose value names the owner
	sets                         // gives a key a value that names the owner, whoever had it
	damages                      // changes or replaces the value, and names no owner
	renews                       // changes the TTL
	removes                      // deletes the key
	moves                        // gives the key another name or database
	clears                       // deletes keys that it does not name
	reads                        // shows the value
	looks                        // shows whether the key exists
	counts                       // writes a field of a hash: a re-entrant lock counts in one
	uncounts                     // deletes a field of a hash
	leases                       // gives fields of a hash an expiry of their own, or deletes such fields
	publishes                    // sends a message, perhaps to waiters
	runs                         // runs a script
	steers                       // changes what the doctor knows of a client or a script
)

func (e effect) has(any effect) bool { return e&any != 0 }

// meaning is the row of a command: what it does to a lock, and to which keys.
type meaning struct {
	does effect

	// The words of the command that are such keys: from first to last in steps. A last of -1 is the last
	// word. A first of 0 means that the command names none.
	first, last, step int

	unit string // of the TTL in its last word but the value: ex, px, exat, pxat; "" if there is none
	ttl  int    // the word with that TTL
}

// one is the row of a command with one key.
func one(does effect) meaning { return meaning{does: does, first: 1, last: 1, step: 1} }

// all is the row of a command whose words are keys, in steps.
func all(does effect, step int) meaning { return meaning{does: does, first: 1, last: -1, step: step} }

// at is the row of a command with one key in another place.
func at(does effect, word int) meaning { return meaning{does: does, first: word, last: word, step: 1} }

func timed(does effect, unit string) meaning {
	m := one(does)
	m.unit, m.ttl = unit, 2
	return m
}

// commands is the table of all commands that mean something to a lock. Everything that asks for the
// meaning of a command reads it. Commands that can neither create a key nor change a string or a hash are
// not here. A test compares the table with the server's.
func commands() map[string]meaning {
	return map[string]meaning{
		"set": one(takes | sets), "setnx": one(takes), "msetnx": all(takes, 2),
		"msetex": {does: takes | sets, first: 2, last: -1, step: 2},
		"getset": one(sets), "mset": all(sets, 2), "setex": timed(sets, "ex"), "psetex": timed(sets, "px"),

		"append": one(damages), "setrange": one(damages), "setbit": one(damages), "bitfield": one(damages),
		"incr": one(damages), "incrby": one(damages), "incrbyfloat": one(damages), "increx": one(damages),
		"decr": one(damages), "decrby": one(damages),
		"pfadd": one(damages), "pfmerge": one(damages), "bitop": at(damages, 2), "copy": at(damages, 2),
		"restore": one(damages), "restore-asking": one(damages),
		"sdiffstore": one(damages), "sinterstore": one(damages), "sunionstore": one(damages),
		"zdiffstore": one(damages), "zinterstore": one(damages), "zunionstore": one(damages),
		"zrangestore": one(damages), "geosearchstore": one(damages),
		"lpush": one(damages), "rpush": one(damages), "sadd": one(damages), "zadd": one(damages), "zincrby": one(damages),
		"geoadd": one(damages), "xadd": one(damages), "xgroup|create": at(damages, 2), "smove": at(damages, 2),
		"rpoplpush": at(damages, 2), "brpoplpush": at(damages, 2), "lmove": at(damages, 2), "blmove": at(damages, 2),
		"sort": {does: damages}, "georadius": {does: damages}, "georadiusbymember": {does: damages},

		"expire": timed(renews, "ex"), "pexpire": timed(renews, "px"),
		"expireat": timed(renews, "exat"), "pexpireat": timed(renews, "pxat"),
		"persist": one(renews), "getex": one(renews | reads),

		"del": all(removes, 1), "unlink": all(removes, 1), "getdel": one(removes),
		"delex": one(removes), "delifeq": one(removes),
		"rename":   {does: moves, first: 1, last: 2, step: 1},
		"renamenx": {does: moves, first: 1, last: 2, step: 1}, "move": one(moves),
		"migrate":  {does: moves},
		"flushall": {does: clears}, "flushdb": {does: clears}, "swapdb": {does: clears},

		"get": one(reads), "getrange": one(reads), "hget": one(reads), "hexists": one(reads),
		"exists": all(looks, 1), "pttl": one(looks), "ttl": one(looks), "type": one(looks),

		"hset": one(counts), "hmset": one(counts), "hsetnx": one(counts), "hincrby": one(counts),
		"hincrbyfloat": one(counts), "hdel": one(uncounts),
		"hexpire": timed(leases, "ex"), "hpexpire": timed(leases, "px"),
		"hexpireat": timed(leases, "exat"), "hpexpireat": timed(leases, "pxat"),
		"hpersist": one(leases), "hgetex": one(leases), "hsetex": one(leases), "hgetdel": one(leases),

		"publish": {does: publishes}, "spublish": {does: publishes},
		"eval": {does: runs}, "evalsha": {does: runs}, "fcall": {does: runs},
		"eval_ro": {does: runs}, "evalsha_ro": {does: runs}, "fcall_ro": {does: runs},
		"watch": {does: steers}, "unwatch": {does: steers}, "exec": {does: steers}, "discard": {does: steers},
		"time": {does: steers},
		"wait": {does: steers}, "waitaof": {does: steers},
		"script|load": {does: steers}, "script|flush": {does: steers},
	}
}

// known is a row of the table that was looked up.
type known struct {
	command string
	meaning
}

// meaning returns the row of a command. Most requests are for a few commands, and a comparison is faster than a hash.
func (d *Doctor) meaning(command string) *meaning {
	if command == "" {
		return &meaning{}
	}
	row := &d.recent[(len(command)+5*int(command[0])+3*int(command[len(command)-1]))%len(d.recent)]
	if row.command != command {
		*row = known{command, d.means[command]}
	}
	return &row.meaning
}

// keysOf adds the words that are keys which the command changes or shows. text returns a word.
func (m *meaning) keysOf(keys []int, command string, n int, text func(int) string) []int {
	switch {
	case command == "migrate":
		return append(keys, migrated(n, text)...)
	case m.does == damages && m.first == 0:
		for i := 2; i < n-1; i++ {
			if word := text(i); strings.EqualFold(word, "store") || strings.EqualFold(word, "storedist") {
				return append(keys, i+1)
			}
		}
		return keys
	case m.first == 0:
		return keys
	}
	last := m.last
	switch {
	case command == "msetex":
		last = pairsEnd(n, text) - 1
	case last < 0:
		last = n - 1
	}
	for i := m.first; i <= min(last, n-1); i += m.step {
		keys = append(keys, i)
	}
	return keys
}

// pairsEnd returns the first word behind the keys and values of MSETEX numkeys (key value) ...
func pairsEnd(n int, text func(int) string) int {
	pairs, err := strconv.Atoi(text(1))
	if err != nil || pairs < 1 || pairs > (n-2)/2 {
		return 2
	}
	return 2 + 2*pairs
}

// migrated returns the keys of MIGRATE host port key|"" db timeout [COPY] ... [KEYS key ...]. With COPY the
// keys stay.
func migrated(n int, text func(int) string) []int {
	for i := 6; i < n; i++ {
		switch strings.ToLower(text(i)) {
		case "copy":
			return nil
		case "auth":
			i++
		case "auth2":
			i += 2
		case "keys":
			var keys []int
			for i++; i < n; i++ {
				keys = append(keys, i)
			}
			return keys
		}
	}
	if n > 3 {
		return []int{3}
	}
	return nil
}

// Commands returns the names of all commands that mean something to a lock, sorted; for a subcommand
// script|load.
func Commands() []string { return slices.Sorted(maps.Keys(commands())) }
