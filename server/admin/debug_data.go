package admin

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

func debugDigest(c *command.Call, _ [][]byte) error {
	d := command.DigestOfAll(c.KS)
	c.Status(hex.EncodeToString(d[:]))
	return nil
}

// debugDigestValue replies with zeros for a missing key. An expired key that is not deleted yet
// counts.
func debugDigestValue(c *command.Call, keys [][]byte) error {
	c.Array(len(keys))
	for _, key := range keys {
		var d command.Digest
		if found := c.DB.Peek(key); found.Exists() {
			d = command.DigestOf(found.Value())
		}
		c.Status(hex.EncodeToString(d[:]))
	}
	return nil
}

// debugObject describes a key without an access to it. An expired key that is not deleted yet
// counts.
func debugObject(c *command.Call, args [][]byte) error {
	key := c.DB.Peek(args[0])
	if !key.Exists() {
		return store.Error("ERR no such key")
	}
	v := key.Value()
	lru, idle := c.KS.Clock(v)
	line := fmt.Sprintf("Value at:%p refcount:1 encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d",
		v.Address(), v.Encoding(), rdb.SavedLen(v), lru, idle)
	if v.Encoding() == "quicklist" {
		line += quicklistFields(store.As[*store.List](v))
	}
	c.Status(line)
	return nil
}

// quicklistFields describes the nodes of a list. No node is compressed here.
func quicklistFields(l *store.List) string {
	bytes := 0
	for pack := range l.Packs() {
		bytes += pack.Bytes()
	}
	return fmt.Sprintf(" ql_nodes:%d ql_avg_node:%.2f ql_listpack_max:%d ql_compressed:0 ql_uncompressed_size:%d",
		l.Nodes(), float64(l.Len())/float64(l.Nodes()), l.Fill(), bytes)
}

// debugPopulate skips keys that exist. As in Redis, the new keys do not count as changes to save.
func debugPopulate(c *command.Call, args [][]byte) error {
	if server.ServerOf(c).IsLoading() { // the file may have the same keys
		return c.Ex.Table.ErrLoading()
	}
	count, ok := ascii.ParseInt(args[0])
	if !ok || count < 0 {
		return server.ErrPositive
	}
	prefix, size := "key", int64(0)
	if len(args) > 1 {
		prefix = string(args[1])
	}
	if len(args) > 2 {
		if size, ok = ascii.ParseInt(args[2]); !ok || size < 0 {
			return server.ErrPositive
		}
	}
	dirty := c.KS.Stats.Dirty
	for i := range count {
		n := strconv.FormatInt(i, 10)
		key := []byte(prefix + ":" + n)
		found := c.DB.Lookup(key, store.LookupWrite)
		if found.Exists() {
			continue
		}
		val := []byte("value:" + n)
		if size > 0 {
			sized := make([]byte, size)
			copy(sized, val)
			val = sized
		}
		found.SetStr(key, val, false)
		c.Touched(key)
	}
	c.KS.Stats.Dirty = dirty
	c.OK()
	return nil
}

func debugPackedThreshold(c *command.Call, args [][]byte) error {
	const most = 1<<32 - 1<<20
	size, ok := config.ParseMemory(string(args[0]))
	if !ok || size > most {
		return store.Error("ERR argument must be a memory value bigger than 1 and smaller than 4gb")
	}
	if size == 0 {
		size = store.DefaultPackedThreshold
	}
	c.KS.PackedThreshold = int(size)
	c.OK()
	return nil
}

func debugTable(c *command.Call, args [][]byte) error {
	id, ok := ascii.ParseInt(args[0])
	if !ok {
		return store.ErrNotInt
	}
	if id < 0 || id >= int64(len(c.KS.DBs)) {
		return store.Error("ERR Out of range database")
	}
	db := c.KS.DBs[id]
	full := len(args) > 1 && ascii.EqualFold(args[1], "full")
	c.Verbatim("txt", fmt.Sprintf("[Dictionary HT]\n%s[Expires HT]\nNo hash table: %d keys are in a timing wheel\n",
		describeChains(db.Chains(), full), db.Expires()))
	return nil
}

func debugTableOfKey(c *command.Call, args [][]byte) error {
	key := c.DB.Lookup(args[0], store.LookupNoTouch|store.LookupNoNotify)
	if !key.Exists() {
		return store.Error("ERR no such key")
	}
	all := key.Value().Chains()
	if all == nil {
		return store.Error("ERR The value stored at the specified key is not represented using an hash table")
	}
	c.Verbatim("txt", describeChains(all, len(args) > 1 && ascii.EqualFold(args[1], "full")))
	return nil
}

// describeChains writes the lines that Redis's test suite reads (dict.c: dictGetStats).
func describeChains(all []store.Chains, full bool) string {
	var b strings.Builder
	for i := range all {
		t := &all[i]
		fmt.Fprintf(&b, "Hash table %d stats (%s):\n", i, [...]string{"main hash table", "rehashing target"}[i])
		if t.Nodes == 0 {
			b.WriteString("No stats available for empty dictionaries\n")
			continue
		}
		fmt.Fprintf(&b, " table size: %d\n number of elements: %d\n", t.Buckets, t.Nodes)
		if !full {
			continue
		}
		average := float64(t.Nodes) / float64(t.Used)
		fmt.Fprintf(&b, " different slots: %d\n max chain length: %d\n", t.Used, t.Longest)
		fmt.Fprintf(&b, " avg chain length (counted): %.02f\n avg chain length (computed): %.02f\n", average, average)
		b.WriteString(" Chain length distribution:\n")
		for n, buckets := range t.Lengths[:len(t.Lengths)-1] {
			if buckets > 0 {
				fmt.Fprintf(&b, "   %d: %d (%.02f%%)\n", n, buckets, 100*float64(buckets)/float64(t.Buckets))
			}
		}
	}
	return b.String()
}
