package command

import (
	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/store"
)

func dumpRows() []Row {
	const syntax = "key ttl:integer serialized-value [REPLACE] [ABSTTL] " +
		"[IDLETIME seconds:integer] [FREQ frequency:integer]"
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
	errBusyKey  store.Error = "BUSYKEY Target key name already exists."
	errTTL      store.Error = "ERR Invalid TTL value, must be >= 0"
	errIdleTime store.Error = "ERR Invalid IDLETIME value, must be >= 0"
	errFreq     store.Error = "ERR Invalid FREQ value, must be >= 0 and <= 255"
)

// DUMP key (cluster.c: dumpCommand)
func dump(c *Call) error {
	v, ok := c.DB.Value(c.Args[1])
	if !ok {
		c.Null()
		return nil
	}
	c.Bulk(rdb.Dump(v))
	return nil
}

// restoreOptions are the options of RESTORE.
type restoreOptions struct {
	replace, absTTL bool
	idle, freq      int64 // -1 if not given; only one may be given
}

func parseRestore(args [][]byte) (o restoreOptions, err error) {
	o.idle, o.freq = -1, -1
	for ; len(args) > 0; args = args[1:] {
		switch more := len(args) > 1; {
		case is(args[0], "replace"):
			o.replace = true
			continue
		case is(args[0], "absttl"):
			o.absTTL = true
			continue
		case is(args[0], "idletime") && more && o.freq < 0:
			if o.idle, err = parseInt(args[1]); err == nil && o.idle < 0 {
				err = errIdleTime
			}
		case is(args[0], "freq") && more && o.idle < 0:
			if o.freq, err = parseInt(args[1]); err == nil && (o.freq < 0 || o.freq > 255) {
				err = errFreq
			}
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
func (ex *Executor) payload(b []byte) []byte {
	if ex.AnyChecksum {
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
	if !o.replace && c.DB.Use(key) {
		return errBusyKey
	}
	at, err := parseInt(c.Args[2])
	switch {
	case err != nil:
		return err
	case at < 0:
		return errTTL
	}
	v, err := rdb.Restore(c.KS, c.Ex.payload(c.Args[3]))
	if err != nil {
		return err
	}
	if at > 0 && !o.absTTL {
		at += c.Now // an overflow yields a time in the past
	}
	c.OK()
	if at != 0 && at <= c.Now {
		if c.DB.Delete(key) {
			c.Changed(ClassGeneric, "del", key)
		}
		return nil
	}
	c.DB.PutValue(key, v, at)
	if o.freq >= 0 {
		c.DB.SetFreq(key, uint8(o.freq))
	}
	if o.idle >= 0 {
		c.DB.SetIdle(key, o.idle)
	}
	c.Changed(ClassGeneric, "restore", key)
	return nil
}
