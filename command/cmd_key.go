package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

// sharedIntegers is the number of integers, from 0 on, of which Redis keeps one shared copy
// (server.h: OBJ_SHARED_INTEGERS).
const sharedIntegers = 10_000

func keyRows() []Row {
	return []Row{
		{"del", "key ...",
			-2, Write | RequestMultiShard | ResponseSum, keys(span(1, -1, 1, RM|Delete)), "generic", "1.0.0",
			"O(N) for N keys",
			"Deletes keys.", del},
		{"unlink", "key ...",
			-2, Write | Fast | RequestMultiShard | ResponseSum, keys(span(1, -1, 1, RM|Delete)), "generic",
			"4.0.0",
			"O(N) for N keys",
			"Deletes keys and frees their memory in the background.", unlink},
		{"exists", "key ...",
			-2, ReadOnly | Fast | RequestMultiShard | ResponseSum, keys(span(1, -1, 1, RO)), "generic", "1.0.0",
			"O(N) for N keys",
			"Counts how many of the given keys exist.", exists},
		{"touch", "key ...",
			-2, ReadOnly | Fast | RequestMultiShard | ResponseSum, keys(span(1, -1, 1, RO)), "generic", "3.2.1",
			"O(N) for N keys",
			"Updates the access time of keys. Returns how many exist.", touch},
		{"type", "key",
			2, ReadOnly | Fast, keys(at(1, RO)), "generic", "1.0.0",
			"O(1)",
			"Returns the type of a value.", typeOf},
		{"keys", "pattern",
			2, ReadOnly | Dangerous | RequestAllShards | NondeterministicOrder, nil, "generic", "1.0.0",
			"O(N) for N keys in the database",
			"Lists all keys that match a pattern.", keysCommand},
		{"scan", "cursor [MATCH pattern] [COUNT count] [TYPE type@6.0.0]",
			-2, ReadOnly | TouchesAny | NondeterministicOutput | RequestSpecial | ResponseSpecial, nil, "generic", "2.8.0",
			"O(COUNT) for each call, O(N) for all calls together, for N elements",
			"Iterates over the keys: each call returns a few of them.", scan},
		{"randomkey", "",
			1, ReadOnly | TouchesAny | NondeterministicOutput | RequestAllShards | ResponseSpecial, nil, "generic", "1.0.0",
			"O(1)",
			"Returns a random key.", randomKey},
		{"rename", "key newkey",
			3, Write, keys(at(1, RW|Access|Delete), at(2, OW|Update)), "generic", "1.0.0",
			"O(1)",
			"Renames a key. An existing key of the new name is replaced.", rename},
		{"renamenx", "key newkey",
			3, Write | Fast, keys(at(1, RW|Access|Delete), at(2, OW|Insert)), "generic", "1.0.0",
			"O(1)",
			"Renames a key if the new name is free.", renameNX},
		{"copy", "source destination [DB destination-db:integer] [REPLACE]",
			-3, Write | DenyOOM, keys(at(1, RO|Access), at(2, OW|Update)), "generic", "6.2.0",
			"O(N) for a value of N elements",
			"Copies a value to another key.", copyKey},
		{"move", "key db:integer",
			3, Write | Fast, keys(at(1, RW|Access|Update)), "generic", "1.0.0",
			"O(1)",
			"Moves a key to another database.", move},
		{"object", "",
			-2, 0, nil, "generic", "2.2.3",
			"See the subcommands.",
			"Describes how a value is stored.", nil},
		{"object|encoding", "key",
			3, ReadOnly | NondeterministicOutput, keys(at(2, RO)), "generic", "2.2.3",
			"O(1)",
			"Returns the encoding of a value.", objectEncoding},
		{"object|refcount", "key",
			3, ReadOnly | NondeterministicOutput, keys(at(2, RO)), "generic", "2.2.3",
			"O(1)",
			"Returns the number of references to a value.", objectRefcount},
		{"object|idletime", "key",
			3, ReadOnly | NondeterministicOutput, keys(at(2, RO)), "generic", "2.2.3",
			"O(1)",
			"Returns the seconds since the last access to a key.", objectIdleTime},
		{"object|freq", "key",
			3, ReadOnly | NondeterministicOutput, keys(at(2, RO)), "generic", "4.0.0",
			"O(1)",
			"Returns the logarithmic access counter (LFU) of a key.", objectFreq},
		{"object|help", "",
			2, Loading | Stale, nil, "generic", "6.2.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// DEL key ... (db.c: delCommand)
func del(c *Call) error {
	if c.Ex.Cfg.LazyUserDel {
		return unlink(c)
	}
	return c.deleteKeys(c.DB.Delete)
}

// UNLINK key ... (db.c: unlinkCommand)
func unlink(c *Call) error { return c.deleteKeys(c.DB.Unlink) }

func (c *Call) deleteKeys(remove func(key []byte) bool) error {
	n := int64(0)
	for _, key := range c.Args[1:] {
		if remove(key) {
			c.Changed(ClassGeneric, "del", key)
			n++
		}
	}
	c.Int(n)
	return nil
}

// EXISTS key ... (db.c: existsCommand)
func exists(c *Call) error {
	n := int64(0)
	for _, key := range c.Args[1:] {
		if c.DB.Lookup(key, store.LookupNoTouch).Exists() {
			n++
		}
	}
	c.Int(n)
	return nil
}

// TOUCH key ... (expire.c: touchCommand)
// It obeys CLIENT NO-TOUCH in scripts only.
func touch(c *Call) error {
	if !c.Ex.Scripts.run.on {
		c.KS.NoTouch = false
	}
	n := int64(0)
	for _, key := range c.Args[1:] {
		if c.DB.Lookup(key, store.LookupNone).Exists() {
			n++
		}
	}
	c.Int(n)
	return nil
}

// TYPE key (db.c: typeCommand)
func typeOf(c *Call) error {
	key := c.DB.Lookup(c.Args[1], store.LookupNoTouch)
	if !key.Exists() {
		c.Status("none")
		return nil
	}
	c.Status(key.Type().String())
	return nil
}

// KEYS pattern (db.c: keysCommand)
func keysCommand(c *Call) error {
	pattern := c.Args[1]
	everything := len(pattern) == 1 && pattern[0] == '*'
	m, n := c.Defer(), 0
	c.DB.Each(func(key string, _ store.Type) {
		if everything || store.MatchString(pattern, key) {
			c.BulkString(key)
			n++
		}
	})
	c.EndArray(m, n)
	return nil
}

// RANDOMKEY (db.c: randomkeyCommand)
func randomKey(c *Call) error {
	key, ok := c.DB.RandomKey()
	if !ok {
		c.Null()
		return nil
	}
	c.BulkString(key)
	return nil
}

// RENAME key newkey (db.c: renameCommand)
func rename(c *Call) error {
	if _, err := renameGeneric(c, false); err != nil {
		return err
	}
	c.OK()
	return nil
}

// RENAMENX key newkey (db.c: renamenxCommand)
func renameNX(c *Call) error {
	renamed, err := renameGeneric(c, true)
	if err != nil {
		return err
	}
	c.Int(renamed)
	return nil
}

func renameGeneric(c *Call, onlyNew bool) (renamed int64, err error) {
	src, dst := c.Args[1], c.Args[2]
	from := c.DB.Lookup(src, store.LookupWrite)
	if !from.Exists() {
		return 0, errNoSuchKey
	}
	if string(src) == string(dst) {
		return 0, nil
	}
	to := c.DB.Lookup(dst, store.LookupWrite)
	if onlyNew && to.Exists() {
		return 0, nil
	}
	from.MoveTo(to, dst)
	c.Changed(ClassGeneric, "rename_from", src)
	c.Moved(ClassGeneric, "rename_to", dst)
	return 1, nil
}

// COPY source destination [DB destination-db] [REPLACE] (db.c: copyCommand)
func copyKey(c *Call) error {
	src, dst := c.Args[1], c.Args[2]
	to, replace := c.Sess.DB, false
	for args := c.Args[3:]; len(args) > 0; args = args[1:] {
		switch {
		case is(args[0], "replace"):
			replace = true
		case is(args[0], "db") && len(args) > 1:
			var err error
			if to, err = c.database(args[1]); err != nil {
				return err
			}
			args = args[1:]
		default:
			return errSyntax
		}
	}
	if to == c.Sess.DB && string(src) == string(dst) {
		return errSameObject
	}
	from := c.DB.Lookup(src, store.LookupNone)
	if !from.Exists() {
		c.Int(0)
		return nil
	}
	target := c.KS.DBs[to].Lookup(dst, store.LookupWrite)
	if target.Exists() && !replace {
		c.Int(0)
		return nil
	}
	from.CopyTo(target, dst)
	c.in(to).Changed(ClassGeneric, "copy_to", dst)
	c.Int(1)
	return nil
}

// MOVE key db (db.c: moveCommand)
func move(c *Call) error {
	if c.Ex.Cluster != nil {
		return errMoveCluster
	}
	to, err := c.database(c.Args[2])
	if err != nil {
		return err
	}
	if to == c.Sess.DB {
		return errSameObject
	}
	from := c.DB.Lookup(c.Args[1], store.LookupWrite)
	if !from.Exists() {
		c.Int(0)
		return nil
	}
	target := c.KS.DBs[to].Lookup(c.Args[1], store.LookupWrite)
	if target.Exists() {
		c.Int(0)
		return nil
	}
	from.MoveTo(target, c.Args[1])
	c.Changed(ClassGeneric, "move_from", c.Args[1])
	c.in(to).Moved(ClassGeneric, "move_to", c.Args[1])
	c.Int(1)
	return nil
}

// inspect looks up the key of an OBJECT subcommand (object.c: objectCommandLookup).
func (c *Call) inspect() store.Key {
	return c.DB.Lookup(c.Args[2], store.LookupNoTouch|store.LookupNoNotify)
}

// OBJECT ENCODING key (object.c: objectCommand)
func objectEncoding(c *Call) error {
	key := c.inspect()
	if !key.Exists() {
		c.Null()
		return nil
	}
	c.BulkString(key.Encoding())
	return nil
}

// OBJECT REFCOUNT key (object.c: objectCommand)
// The reply is 1, except for small integers. Redis shares these unless they are copies, and shows the
// count of a shared object (server.h: OBJ_SHARED_REFCOUNT).
func objectRefcount(c *Call) error {
	key := c.inspect()
	if !key.Exists() {
		c.Null()
		return nil
	}
	shares := !c.Ex.Table.Manners.noSharing && !c.KS.KeepsAge()
	if shares && key.Encoding() == "int" && !key.Private() {
		if v, _ := key.Int(); v >= 0 && v < sharedIntegers {
			c.Int(math.MaxInt32)
			return nil
		}
	}
	c.Int(1)
	return nil
}

// OBJECT IDLETIME key (object.c: objectCommand)
func objectIdleTime(c *Call) error {
	key := c.inspect()
	switch {
	case !key.Exists():
		c.Null()
	case c.KS.LFU:
		return store.Error("ERR An LFU maxmemory policy is selected, idle time not tracked. " +
			"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	default:
		c.Int(key.IdleTime())
	}
	return nil
}

// OBJECT FREQ key (object.c: objectCommand)
func objectFreq(c *Call) error {
	key := c.inspect()
	switch {
	case !key.Exists():
		c.Null()
	case !c.KS.LFU:
		return store.Error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. " +
			"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	default:
		c.Int(int64(key.Freq()))
	}
	return nil
}
