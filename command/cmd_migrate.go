package command

import (
	"math"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func migrateRows() []Row {
	const syntax = `host port:integer (key-selector: key | empty-string:"") destination-db:integer timeout ` +
		`[COPY@3.0.0] [REPLACE@3.0.0] [authentication: AUTH auth@4.0.7/password | (auth2@6.0.0: AUTH2 username password)] ` +
		`[KEYS keys@3.0.6:key/key ...]`
	const cost = "O(S) for values of S bytes, and RESTORE on the other server"
	one := KeySpec{Flags: RW | Access | Delete, Index: 3, Step: 1, Find: migrateOne}
	many := KeySpec{
		Flags: RW | Access | Delete | Incomplete, Index: -2, Keyword: "KEYS", Last: -1, Step: 1, Find: migrateMany,
	}
	arguments := &Arguments{Keys: []KeySpec{one, many}, Secrets: migrateSecrets}
	return []Row{
		{"migrate", syntax,
			-6, Write | Dangerous | NondeterministicOutput, arguments, "generic", "2.6.0",
			cost,
			"Moves keys to another server.", migrate},
	}
}

const errMigrateKeys store.Error = "ERR When using MIGRATE KEYS option, " +
	"the key argument must be set to the empty string"

// Transfer describes what MIGRATE sends to another server.
type Transfer struct {
	Host, Port string
	Timeout    time.Duration // for connecting, for sending each 64 KiB, and for each reply
	DB         int64         // the database to select there
	Auth       []byte        // an AUTH request, empty for none
	Restore    []byte        // one RESTORE request for each key
	Keys       int
}

// migrateOptions are the options of MIGRATE, and its keys.
type migrateOptions struct {
	copies, replace bool
	auth            [][]byte // the arguments of AUTH
	keys            [][]byte
}

func parseMigrate(args [][]byte) (o migrateOptions, err error) {
	o.keys = args[3:4]
	for i := 6; i < len(args); i++ {
		left := len(args) - 1 - i
		switch {
		case is(args[i], "copy"):
			o.copies = true
		case is(args[i], "replace"):
			o.replace = true
		case is(args[i], "auth") && left >= 1:
			if len(o.auth) == 0 {
				o.auth = [][]byte{nil}
			}
			o.auth[len(o.auth)-1] = args[i+1] // after AUTH2 this keeps the user name
			i++
		case is(args[i], "auth2") && left >= 2:
			o.auth = [][]byte{args[i+1], args[i+2]}
			i += 2
		case is(args[i], "keys") && len(args[3]) > 0:
			return o, errMigrateKeys
		case is(args[i], "keys"):
			o.keys = args[i+1:]
			return o, nil
		default:
			return o, errSyntax
		}
	}
	return o, nil
}

// MIGRATE host port (key | "") destination-db timeout [COPY] ... (cluster.c: migrateCommand)
// The server waits for the other server, and all clients wait with it, as in Redis.
func migrate(c *Call) error {
	o, err := parseMigrate(c.Args)
	if err != nil {
		return err
	}
	timeout, err := parseInt(c.Args[5])
	if err != nil {
		return err
	}
	db, err := parseInt(c.Args[4])
	if err != nil {
		return err
	}
	if timeout <= 0 {
		timeout = 1000
	}
	here, requests, err := c.restoreRequests(&o)
	if err != nil {
		return err
	}
	if len(here) == 0 {
		c.Status("NOKEY")
		return nil
	}
	t := Transfer{
		Host: string(c.Args[1]), Port: string(c.Args[2]), DB: db, Restore: requests, Keys: len(here),
		Timeout: time.Duration(min(timeout, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond,
	}
	if len(o.auth) > 0 {
		t.Auth = resp.AppendRequest(nil, append([][]byte{[]byte("AUTH")}, o.auth...)...)
	}
	gone := [][]byte{[]byte("DEL")}
	err = c.Ex.Host.Transfer(&t, func(i int) {
		if !o.copies {
			c.DB.Delete(here[i])
			c.Changed(ClassGeneric, "del", here[i]) // a key that is named twice is counted twice, as in Redis
			gone = append(gone, here[i])
		}
	})
	if len(gone) > 1 {
		c.Propagate(gone...)
	}
	if err != nil {
		return err
	}
	c.OK()
	return nil
}

// restoreRequests returns the keys that exist, with a RESTORE request for each.
func (c *Call) restoreRequests(o *migrateOptions) (here [][]byte, requests []byte, err error) {
	var at [20]byte
	name := []byte("RESTORE")
	if c.Ex.Cluster != nil {
		name = []byte("RESTORE-ASKING")
	}
	for _, key := range o.keys {
		found := c.DB.Lookup(key, store.LookupNone)
		if !found.Exists() {
			continue
		}
		here = append(here, key)
		ttl := int64(0)
		if at := found.Expire(); at != 0 {
			ttl = max(at-c.Now, 1) // 0 would mean no expiry
		}
		if !rdb.CanDump(found.Value(), c.Ex.Table.Dialect.DumpVersion) {
			return nil, nil, errTimedDump
		}
		payload := rdb.Dump(nil, found.Value(), c.Ex.Table.Dialect.DumpVersion)
		words := [][]byte{
			name, key, strconv.AppendInt(at[:0], ttl, 10), payload, []byte("REPLACE"),
		}
		if !o.replace {
			words = words[:4]
		}
		requests = resp.AppendRequest(requests, words...)
	}
	return here, requests, nil
}

// migrateOne and migrateMany return the positions of MIGRATE's keys: the third argument, or those
// after KEYS. If both are given there are none (db.c: migrateGetKeys).
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

// migrateList returns the position of the first argument after KEYS, or 0.
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
