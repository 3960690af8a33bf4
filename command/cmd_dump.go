package command

import (
	"math"
	"slices"

	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/store"
)

func dumpRows() []Row {
	const syntax = "key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] " +
		"[IDLETIME seconds@5.0.0] [FREQ frequency@5.0.0:integer]"
	const cost = "O(S) for a payload of S bytes, O(S+N*log(N)) for a sorted set of N members"
	return []Row{
		{"dump", "key",
			2, ReadOnly | NondeterministicOutput, keys(at(1, RO|Access)), "generic", "2.6.0",
			"O(S) for a value of S bytes",
			"Returns the value of a key as a byte string for RESTORE.", dump},
		{"restore", syntax,
			-4, Write | DenyOOM | Dangerous, keys(at(1, OW|Update)), "generic", "2.6.0",
			cost,
			"Creates a key from a byte string of DUMP.", restore},
		{"restore-asking", syntax,
			-4, Write | DenyOOM | Asking | Dangerous | InKeyspace, keys(at(1, OW|Update)), "server", "3.0.0",
			cost,
			"Does the same as RESTORE. Nodes of a cluster send it.", restore},
	}
}

const (
	errTimedDump store.Error = "ERR a hash with fields that expire is not supported by this server " +
		"in the format of this dialect"
	errBusyKey  store.Error = "BUSYKEY Target key name already exists."
	errTTL      store.Error = "ERR Invalid TTL value, must be >= 0"
	errIdleTime store.Error = "ERR Invalid IDLETIME value, must be >= 0"
	errFreq     store.Error = "ERR Invalid FREQ value, must be >= 0 and <= 255"
)

// DUMP key (cluster.c: dumpCommand)
func dump(c *Call) error {
	found := c.DB.Lookup(c.Args[1], store.LookupNone)
	if !found.Exists() {
		c.Null()
		return nil
	}
	if !rdb.CanDump(found.Value(), c.Ex.Table.Dialect.DumpVersion) {
		return errTimedDump
	}
	payload := rdb.Dump(c.Ex.dumped, found.Value(), c.Ex.Table.Dialect.DumpVersion)
	c.Bulk(payload)
	const kept = 64 << 10
	if cap(payload) <= kept {
		c.Ex.dumped = payload
	}
	return nil
}

// restoreOptions are the options of RESTORE.
type restoreOptions struct {
	replace, absTTL bool
	past            store.Past // IDLETIME or FREQ
}

func parseRestore(args [][]byte) (o restoreOptions, err error) {
	for ; len(args) > 0; args = args[1:] {
		switch more := len(args) > 1; {
		case is(args[0], "replace"):
			o.replace = true
			continue
		case is(args[0], "absttl"):
			o.absTTL = true
			continue
		case is(args[0], "idletime") && more && o.past.By != store.EvictLFU:
			o.past.By = store.EvictLRU
			if o.past.Idle, err = parseInt(args[1]); err == nil && o.past.Idle < 0 {
				err = errIdleTime
			}
		case is(args[0], "freq") && more && o.past.By != store.EvictLRU:
			var freq int64
			if freq, err = parseInt(args[1]); err == nil && (freq < 0 || freq > math.MaxUint8) {
				err = errFreq
			}
			o.past = store.Past{By: store.EvictLFU, Freq: uint8(freq)}
		default:
			err = errSyntax
		}
		if err != nil {
			return o, err
		}
		args = args[1:]
	}
	return o, nil
}

// payload returns b, with a corrected checksum if DEBUG lets any checksum pass.
func (c *Call) payload(b []byte) []byte {
	if c.Ex.AnyChecksum {
		return rdb.SetChecksum(b)
	}
	return b
}

// RESTORE key ttl serialized-value [REPLACE] [ABSTTL] ... (cluster.c: restoreCommand)
// RESTORE-ASKING key ttl serialized-value [REPLACE] [ABSTTL] ... (cluster.c: restoreCommand)
// The arguments are checked in Redis's order.
func restore(c *Call) error {
	key := c.Args[1]
	o, err := parseRestore(c.Args[4:])
	if err != nil {
		return err
	}
	found := c.DB.Lookup(key, store.LookupWrite)
	if found.Exists() && !o.replace {
		return errBusyKey
	}
	at, err := parseInt(c.Args[2])
	switch {
	case err != nil:
		return err
	case at < 0:
		return errTTL
	}
	v, err := rdb.Restore(c.KS, c.payload(c.Args[3]), c.Ex.Table.Dialect.DumpVersion)
	if err == rdb.ErrFormat {
		c.Ex.Host.Log('#', "RESTORE of a damaged payload: %s integrity check failed", rdb.Form(c.Args[3][0]))
	}
	if err != nil {
		return err
	}
	if at > 0 && !o.absTTL {
		at += c.Now // an overflow yields a time in the past
	}
	c.OK()
	if at != 0 && c.past(at) {
		if found.Exists() {
			found.Delete()
			c.Changed(ClassGeneric, "del", key)
			c.Propagate(deletes(c.Ex.Cfg.LazyServerDel), key)
		}
		return nil
	}
	found.Put(key, v, at, o.past)
	c.Changed(ClassGeneric, "restore", key)
	if at != 0 && !o.absTTL && c.Propagates() {
		args := append(slices.Clone(c.Args), []byte("ABSTTL"))
		args[2] = decimal(at)
		c.Propagate(args...)
	}
	return nil
}
