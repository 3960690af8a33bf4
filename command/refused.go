package command

import (
	"strings"

	"github.com/miniredisd/miniredisd/store"
)

// refusedRows are commands of Redis that need files or other servers. They are here so
// that COMMAND, ACL and MULTI know them, and so that a client is told the reason: "unknown
// command" would read like a typing error.
func refusedRows() []Row {
	const (
		file  = Admin | NoScript | NoAsyncLoading
		link  = file | NoMulti
		disk  = "Is refused: data is kept in memory only."
		alone = "Is refused: this server does not replicate."
	)
	const migrateSyntax = `host port:integer (key | "") destination-db:integer timeout:integer ` +
		`[COPY] [REPLACE] [AUTH password | AUTH2 (username password)] [KEYS key ...]`
	one := KeySpec{Flags: RW | Access | Delete, Index: 3, Step: 1, Find: migrateOne}
	many := KeySpec{Flags: RW | Access | Delete | Incomplete, Index: -2, Keyword: "KEYS", Last: -1, Step: 1, Find: migrateMany}
	return []Row{
		{"save", "", 1, link, nil, "server", "1.0.0", "O(1)", disk, refuseFile},
		{"bgsave", "[SCHEDULE]", -1, file, nil, "server", "1.0.0", "O(1)", disk, refuseFile},
		{"bgrewriteaof", "", 1, file, nil, "server", "1.0.0", "O(1)", disk, refuseFile},
		{"sync", "", 1, link, nil, "server", "1.0.0", "O(1)", alone, refuseReplica},
		{"psync", "replicationid offset:integer", -3, link, nil, "server", "2.8.0", "O(1)", alone, refuseReplica},
		{"replconf", "", -1, Admin | NoScript | Loading | Stale | AllowBusy, nil, "server", "3.0.0", "O(1)", alone, refuseReplica},
		{"failover", "[TO (host port:integer [FORCE])] [ABORT] [TIMEOUT milliseconds]", -1, Admin | NoScript | Stale, nil, "server", "6.2.0", "O(1)", "Is refused as by a Redis without replicas.", failover},
		{"migrate", migrateSyntax, -6, Write | MovableKeys | Dangerous | NondeterministicOutput, keys(one, many), "generic", "2.6.0", "O(N) in the keys", "Is refused if there is something to move: this server connects to no other.", migrate},
	}
}

func refuseFile(c *Call) error {
	return errorf("ERR %s is not supported: this server keeps its data in memory only", strings.ToUpper(c.Cmd.Name))
}

func refuseReplica(c *Call) error {
	return errorf("ERR %s is not supported: this server does not replicate", strings.ToUpper(c.Cmd.Name))
}

const (
	errNoFailover      store.Error = "ERR No failover in progress."
	errFailoverTimeout store.Error = "ERR FAILOVER timeout must be greater than 0"
	errNoReplicas      store.Error = "ERR FAILOVER requires connected replicas."
	errMigrateKeys     store.Error = "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"
	errMigrate         store.Error = "ERR MIGRATE is not supported: this server connects to no other"
)

// failover answers as a master without replicas does (replication.c: failoverCommand).
func failover(c *Call) error {
	if len(c.Args) == 2 && is(c.Args[1], "abort") {
		return errNoFailover
	}
	timeout, target, force := false, false, false
	for i := 1; i < len(c.Args); i++ {
		left := len(c.Args) - 1 - i
		switch {
		case is(c.Args[i], "timeout") && left >= 1 && !timeout:
			ms, err := parseInt(c.Args[i+1])
			if err != nil {
				return err
			}
			if ms <= 0 {
				return errFailoverTimeout
			}
			timeout = true
			i++
		case is(c.Args[i], "to") && left >= 2 && !target:
			if _, err := parseInt(c.Args[i+2]); err != nil {
				return err
			}
			target = true
			i += 2
		case is(c.Args[i], "force") && !force:
			force = true
		default:
			return errSyntax
		}
	}
	return errNoReplicas
}

// migrate says what is wrong with a request, or that none of its keys is here. That much
// needs no other server (cluster.c: migrateCommand).
func migrate(c *Call) error {
	first, n := 3, 1
options:
	for i := 6; i < len(c.Args); i++ {
		left := len(c.Args) - 1 - i
		switch {
		case is(c.Args[i], "copy"), is(c.Args[i], "replace"):
		case is(c.Args[i], "auth") && left >= 1:
			i++
		case is(c.Args[i], "auth2") && left >= 2:
			i += 2
		case is(c.Args[i], "keys") && len(c.Args[3]) > 0:
			return errMigrateKeys
		case is(c.Args[i], "keys"):
			first, n = i+1, left
			break options
		default:
			return errSyntax
		}
	}
	for _, i := range [...]int{5, 4} { // timeout, then database
		if _, err := parseInt(c.Args[i]); err != nil {
			return err
		}
	}
	for _, key := range c.Args[first : first+n] {
		if c.DB.Touch(key) {
			return errMigrate
		}
	}
	c.Status("NOKEY")
	return nil
}

// migrateOne and migrateMany find the keys of MIGRATE: the one argument, or those behind
// KEYS, but none where both are given (db.c: migrateGetKeys).
func migrateOne(args [][]byte) []int {
	if migrateList(args) == 0 {
		return []int{3}
	}
	return nil
}

func migrateMany(args [][]byte) []int {
	first := migrateList(args)
	if first == 0 || len(args[3]) > 0 {
		return nil
	}
	var found []int
	for i := first; i < len(args); i++ {
		found = append(found, i)
	}
	return found
}

// migrateList is the place of the first argument behind the option KEYS, or 0.
func migrateList(args [][]byte) int {
	for i := 6; i+1 < len(args); i++ {
		switch {
		case is(args[i], "keys"):
			return i + 1
		case is(args[i], "auth"):
			i++
		case is(args[i], "auth2"):
			i += 2
		}
	}
	return 0
}
