package rdb

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/store"
)

// written are payloads without their footers, as redis-server 7.0.15 writes them.
var written = []struct{ name, body, value string }{
	{"text", "\x00\x05hello", "string hello"},
	{"no text", "\x00\x00", "string "},
	{"16 bits", "\x00\xc1\x7f\xff", "string -129"},
	{"32 bits", "\x00\xc2\xff\xff\xff\x7f", "string 2147483647"},
	{"more", "\x00\n2147483648", "string 2147483648"},
	{"list", "\x12\x01\x02\x1a\x1a\x00\x00\x00\x04\x00\x81a\x02\xf1\xff\xef\x03\xf4\xff\xff\xff\xff\xff\xff\xff" +
		"\x7f\t\x80\x01\xff", "list a -4097 9223372036854775807 "},
	{"intset of 32 bits", "\x0b\x10\x04\x00\x00\x00\x02\x00\x00\x00\xff\xff\xff\xffp\x11\x01\x00", "set -1 70000"},
	{"intset of 64 bits", "\x0b\x18\b\x00\x00\x00\x02\x00\x00\x00\x00\x0e\xfa\xd5\xfe\xff\xff\xff\x01\x00\x00" +
		"\x00\x00\x00\x00\x00", "set -5000000000 1"},
	{"set", "\x02\x01\x03one", "set one"},
	{"small hash", "\x10\x12\x12\x00\x00\x00\x04\x00\x81f\x02\x01\x01\x81g\x02\xcf\xff\x02\xff", "hash f 1 g 4095"},
	{"small sorted set", "\x11\x1f\x1f\x00\x00\x00\x02\x00\x81m\x02\x930.10000000000000001\x14\xff", "zset m 0.1"},
	{"stream", "\x13\x01\x10\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x05@MM\x00\x00\x00 " +
		"\x00\x03\x01\x01\x01\x02\x01\x81a\x02\x81b\x02\x00\x01\x02\x01\x00\x01\x00\x01\x01\x01\x02\x01\x05\x01" +
		"\x03\x01\x00\x01\x01\x01\x03\x01\x04\x01\x05\x01\x00\x01\x01\x01\xdf\xfc\x02\x01\x01\x81c\x02\x05\x01\x06" +
		"\x01\x00\x01\x02\x01\xdf\xfc\x02\x01\x01\x81c\x02\x05\x01\x06\x01\xff\x03\a\x01\x05\x05\x05\x06\x04\x02" +
		"\x01g\a\x01\x04\x02\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x01\xc0)e\xfe\xa1\x01\x00" +
		"\x00\x01\x00\x00\x00\x00\x00\x00\x00\a\x00\x00\x00\x00\x00\x00\x00\x01\xc7)e\xfe\xa1\x01\x00\x00\x01\x02" +
		"\x05alice\xc0)e\xfe\xa1\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x03bob\xc7)e\xfe\xa1\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\a\x00\x00\x00\x00\x00\x00\x00\x01\x01h" +
		"\x06\x01\x81\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00",
		"stream [5-5 a 1 b 2] [6-1 c 5] [7-1 c 5] last 7-1 deleted 5-6 added 4" +
			" group g at 7-1 read 4 (alice seen 1795269405120 active 1795269405120 [6-1 since 1795269405120 times 1])" +
			" (bob seen 1795269405127 active 1795269405127 [7-1 since 1795269405127 times 1]) group h at 6-1 read -1"},
	{"empty stream", "\x13\x00\x00\x01\x01\x00\x00\x01\x01\x01\x00", "stream last 1-1 deleted 1-1 added 1"},
}

// readOnly are payloads in forms that nothing here writes.
var readOnly = []struct{ name, body, value string }{
	{"compressed text", "\x00\xc3\t\x1e\x01aa\xe0\x11\x00\x01aa", "string " + strings.Repeat("a", 30)},
	{"compressed listpack", "\x10\xc3\x16@B\aB\x00\x00\x00\x02\x00\x99f\xe0\x0f\x00\x02\x1a\x9eg\xe0\x14\x00" +
		"\x01\x1f\xff", "hash " + strings.Repeat("f", 25) + " " + strings.Repeat("g", 30)},
	{"broken compression of nothing", "\x00\xc3\x03\x00\x02ab", "string "},
	{"number in a long form", "\x00\x80\x00\x00\x00\x01x", "string x"},
	{"number in a longer form", "\x00\x81\x00\x00\x00\x00\x00\x00\x00\x01x", "string x"},
	{"elements", "\x01\x03\x01a\xc0\x05\x00", "list a 5 "},
	{"members", "\x02\x02\xc0\x07\xc0\x05", "set 5 7"},
	{"fields", "\x04\x01\x01a\xc0\x01", "hash a 1"},
	{"scores as text", "\x03\x03\x01a\x031.5\x01b\xfe\x01c\xff", "zset c -Inf a 1.5 b +Inf"},
	{"scores in bytes", "\x05\x02\x01a\x00\x00\x00\x00\x00\x00\xf8?\x01b\x00\x00\x00\x00\x00\x00\xf0\xff",
		"zset b -Inf a 1.5"},
	{"zipmap", "\x09\x0d\x01\x01f\x05\x02value\x00\x00\xff", "hash f value"},
	{"uncounted zipmap", "\x09\x0d\xfe\x01f\x05\x02value\x00\x00\xff", "hash f value"},
	{"ziplist", "\x0a\x18\x18\x00\x00\x00\x12\x00\x00\x00\x04\x00\x00\x01a\x03\xf3\x02\xfe\xff\x03\xf0\x00\x00" +
		"\x80\xff", "list a 2 -1 -8388608"},
	{"ziplist of a sorted set", "\x0c\x13\x13\x00\x00\x00\x0d\x00\x00\x00\x02\x00\x00\x01a\x03\x03inf\xff", "zset a +Inf"},
	{"ziplist of a hash", "\x0d\x11\x11\x00\x00\x00\x0d\x00\x00\x00\x02\x00\x00\x01a\x03\x01b\xff", "hash a b"},
	{"nodes that are ziplists", "\x0e\x02\x0e\x0e\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x01a\xff\x0b\x0b\x00" +
		"\x00\x00\x0a\x00\x00\x00\x00\x00\xff", "list a"},
	{"nodes that are elements", "\x12\x02\x01\x01a\x01\x02bc", "list a bc"},
	{"two nodes", "\x12\x02\x02\x0b\x0b\x00\x00\x00\x02\x00\x01\x01\x02\x01\xff\x02\t\t\x00\x00\x00\x01\x00\x03" +
		"\x01\xff", "list 1 2 3"},
	{"uncounted listpack", "\x14\x09\x09\x00\x00\x00\xff\xff\x03\x01\xff", "set 3"},
	{"stream of 5.0", "\x0f" + oneEntry + "\x01\x05\x05" + "\x01\x01g\x05\x04" +
		"\x00\x01\x01c\x01\x00\x00\x00\x00\x00\x00\x00\x00",
		"stream [5-5 a 1] last 5-5 deleted 0-0 added 1 group g at 5-4 read 0 (c seen 1 active 1)"},
	{"stream of 7.2", "\x15" + oneEntry + "\x01\x05\x05\x05\x05\x00\x00\x01" + "\x01\x01g\x05\x05\x01" +
		"\x01" + id55 + "\x09\x00\x00\x00\x00\x00\x00\x00\x03" +
		"\x01\x01c\x07\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01" + id55,
		"stream [5-5 a 1] last 5-5 deleted 0-0 added 1 group g at 5-5 read 1 (c seen 7 active 8 [5-5 since 9 times 3])"},
}

const (
	id55     = "\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x05"
	packed55 = "\x1c\x00\x00\x00\x0a\x00\x01\x01\x00\x01\x01\x01\x81a\x02\x00\x01\x02\x01\x00\x01\x00\x01\x01" +
		"\x01\x04\x01\xff"
	oneEntry = "\x01\x10" + id55 + "\x1c" + packed55
)

// refused are payloads that are damaged.
var refused = []struct{ why, body string }{
	{"unknown type", "\x06\x00"},
	{"text that ends early", "\x00\x40\x50abc"},
	{"text as long as can be", "\x00\x81\xff\xff\xff\xff\xff\xff\xff\xff"},
	{"unknown form of a number", "\x00\xbf"},
	{"unknown form of a string", "\x00\xc4"},
	{"compressed to nothing", "\x00\xc3\x01\x81\x7f\xff\xff\xff\xff\xff\xff\xff\x00"},
	{"empty list", "\x01\x00"},
	{"empty set", "\x02\x00"},
	{"empty sorted set", "\x05\x00"},
	{"empty hash", "\x04\x00"},
	{"more elements than bytes", "\x01\x80\xff\xff\xff\xff\x01a"},
	{"member twice", "\x02\x02\x01a\x01a"},
	{"integer twice", "\x02\x02\xc0\x01\xc0\x01"},
	{"field twice", "\x04\x02\x01a\x01b\x01a\x01c"},
	{"score twice", "\x05\x02\x01a\x00\x00\x00\x00\x00\x00\xf8?\x01a\x00\x00\x00\x00\x00\x00\xf8?"},
	{"score that is no number", "\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xf8\x7f"},
	{"score that is said to be none", "\x03\x01\x01a\xfd"},
	{"score that is words", "\x03\x01\x01a\x03one"},
	{"listpack of another size", "\x14\x09\x0a\x00\x00\x00\x01\x00\x03\x01\xff"},
	{"listpack of no size", "\x14\x00"},
	{"listpack without end", "\x14\x09\x09\x00\x00\x00\x01\x00\x03\x01\x00"},
	{"listpack with its end inside", "\x14\x0a\x0a\x00\x00\x00\x01\x00\x03\x01\xff\xff"},
	{"listpack that counts wrong", "\x14\x09\x09\x00\x00\x00\x02\x00\x03\x01\xff"},
	{"listpack with a wrong way back", "\x14\x09\x09\x00\x00\x00\x01\x00\x03\x02\xff"},
	{"listpack entry too long", "\x14\x0a\x0a\x00\x00\x00\x01\x00\x83a\x02\xff"},
	{"listpack entry without its length", "\x14\x08\x08\x00\x00\x00\x01\x00\xf0\xff"},
	{"listpack entry of no kind", "\x14\x09\x09\x00\x00\x00\x01\x00\xf5\x01\xff"},
	{"listpack of no entries", "\x14\x07\x07\x00\x00\x00\x00\x00\xff"},
	{"field without value", "\x10\x09\x09\x00\x00\x00\x01\x00\x03\x01\xff"},
	{"ziplist of another size", "\x0a\x0e\x0f\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x01a\xff"},
	{"ziplist whose last is elsewhere", "\x0a\x0e\x0e\x00\x00\x00\x0b\x00\x00\x00\x01\x00\x00\x01a\xff"},
	{"ziplist that counts wrong", "\x0a\x0e\x0e\x00\x00\x00\x0a\x00\x00\x00\x02\x00\x00\x01a\xff"},
	{"ziplist entry after one of another size", "\x0a\x0e\x0e\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x01\x01a\xff"},
	{"ziplist entry too long", "\x0a\x0e\x0e\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x02a\xff"},
	{"ziplist entry of no kind", "\x0a\x0d\x0d\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\xc1\xff"},
	{"ziplist number cut short", "\x0a\x0d\x0d\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\xe0\xff"},
	{"empty zipmap", "\x09\x02\x00\xff"},
	{"zipmap that counts wrong", "\x09\x08\x02\x01f\x02\x00va\xff"},
	{"zipmap that counts by its end mark", "\x09\x0d\xff\x01f\x05\x02value\x00\x00\xff"},
	{"zipmap with its end inside", "\x09\x04\x01\xff\xff\xff"},
	{"zipmap value too long", "\x09\x07\x01\x01f\x09\x00v\xff"},
	{"intset of no width", "\x0b\x0a\x03\x00\x00\x00\x01\x00\x00\x00\x05\x00"},
	{"intset of another size", "\x0b\x0a\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00"},
	{"intset in no order", "\x0b\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00\x05\x00"},
	{"empty intset", "\x0b\x08\x02\x00\x00\x00\x00\x00\x00\x00"},
	{"node of no kind", "\x12\x01\x03\x01a"},
	{"empty node", "\x12\x01\x01\x00"},
	{"nodes without elements", "\x0e\x01\x0b\x0b\x00\x00\x00\x0a\x00\x00\x00\x00\x00\xff"},
	{"stream with a wrong length", "\x13" + oneEntry + "\x02\x05\x05\x05\x05\x00\x00\x01\x00"},
	{"stream whose last is before its end", "\x13" + oneEntry + "\x01\x05\x04\x05\x05\x00\x00\x01\x00"},
	{"stream with a node twice", "\x13\x02" + oneEntry[1:] + oneEntry[1:] + "\x02\x05\x05\x05\x05\x00\x00\x01\x00"},
	{"stream with a short ID", "\x13\x01\x0f" + id55[1:] + "\x1c" + packed55 + "\x01\x05\x05\x05\x05\x00\x00\x01\x00"},
	{"group twice", "\x13" + oneEntry + "\x01\x05\x05\x05\x05\x00\x00\x01\x02" +
		strings.Repeat("\x01g\x05\x05\x01\x00\x00", 2)},
	{"consumer twice", "\x13" + oneEntry + "\x01\x05\x05\x05\x05\x00\x00\x01\x01" +
		"\x01g\x05\x05\x01\x00\x02" + strings.Repeat("\x01c\x07\x00\x00\x00\x00\x00\x00\x00\x00", 2)},
	{"groups in no order", "\x13" + oneEntry + "\x01\x05\x05\x05\x05\x00\x00\x01\x02" +
		"\x01h\x05\x05\x01\x00\x00\x01g\x05\x05\x01\x00\x00"},
	{"consumers in no order", "\x13" + oneEntry + "\x01\x05\x05\x05\x05\x00\x00\x01\x01" +
		"\x01g\x05\x05\x01\x00\x02" + "\x01d\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01c\x07\x00\x00\x00\x00\x00\x00\x00\x00"},
	{"pending for nobody", "\x13" + oneEntry + "\x01\x05\x05\x05\x05\x00\x00\x01\x01" +
		"\x01g\x05\x05\x01\x01" + id55 + "\x09\x00\x00\x00\x00\x00\x00\x00\x03\x00"},
	{"pending for two", "\x13" + oneEntry + "\x01\x05\x05\x05\x05\x00\x00\x01\x01" + "\x01g\x05\x05\x01\x01" +
		id55 + "\x09\x00\x00\x00\x00\x00\x00\x00\x03" +
		"\x02\x01c\x07\x00\x00\x00\x00\x00\x00\x00\x01" + id55 + "\x01d\x07\x00\x00\x00\x00\x00\x00\x00\x01" + id55},
	{"pending for one and not for the group", "\x13" + oneEntry + "\x01\x05\x05\x05\x05\x00\x00\x01\x01" +
		"\x01g\x05\x05\x01\x00" + "\x01\x01c\x07\x00\x00\x00\x00\x00\x00\x00\x01" + id55},
}

// describe says all there is in a value.
func describe(v store.Value) string {
	var b strings.Builder
	b.WriteString(v.Type().String())
	switch v.Type() {
	case store.TypeString:
		fmt.Fprintf(&b, " %s", v.Text())
	case store.TypeList:
		for it := store.As[*store.List](v).From(0, false); ; {
			e, ok := it.Next()
			if !ok {
				break
			}
			fmt.Fprintf(&b, " %s", e)
		}
	case store.TypeSet:
		for m := range store.As[*store.Set](v).All() {
			fmt.Fprintf(&b, " %s", m)
		}
	case store.TypeZSet:
		z := store.As[*store.ZSet](v)
		for it := z.Range(0, z.Len(), false); it.Next(); {
			fmt.Fprintf(&b, " %s %v", it.Member, it.Score)
		}
	case store.TypeHash:
		for f, v := range store.As[*store.Hash](v).All() {
			fmt.Fprintf(&b, " %s %s", f, v)
		}
	case store.TypeStream:
		describeStream(&b, store.As[*store.Stream](v))
	}
	return b.String()
}

func describeStream(b *strings.Builder, s *store.Stream) {
	for it := s.Range(store.StreamID{}, store.MaxStreamID(), false); it.Next(); {
		fmt.Fprintf(b, " [%v", it.ID)
		for range it.Fields {
			field, value := it.Field()
			fmt.Fprintf(b, " %s %s", field, value)
		}
		b.WriteString("]")
	}
	fmt.Fprintf(b, " last %v deleted %v added %d", s.LastID, s.MaxDeletedID, s.EntriesAdded)
	for g := range s.Groups.All() {
		fmt.Fprintf(b, " group %s at %v read %d", g.Name, g.LastID, g.EntriesRead)
		for c := range g.Consumers.All() {
			fmt.Fprintf(b, " (%s seen %d active %d", c.Name, c.Seen, c.Active)
			for it := g.Pending(c, store.StreamID{}); it.Next(); {
				fmt.Fprintf(b, " [%v since %d times %d]", it.ID, it.At, it.Count)
			}
			b.WriteString(")")
		}
	}
}

func restored(body string) (store.Value, error) {
	return Restore(store.NewKeyspace(store.Options{Databases: 1}), sealed([]byte(body), Oldest), Oldest)
}

func TestWhatRedisWritesIsReadAndWrittenAgain(t *testing.T) {
	for _, c := range written {
		v, err := restored(c.body)
		require.NoError(t, err, c.name)
		require.Equal(t, c.value, describe(v), c.name)
		require.Equal(t, fmt.Sprintf("%q", c.body), fmt.Sprintf("%q", bytes.TrimSuffix(Dump(nil, v, Oldest),
			sealed([]byte(c.body), Oldest)[len(c.body):])), c.name)
	}
}

func TestOtherFormsAreRead(t *testing.T) {
	for _, c := range readOnly {
		v, err := restored(c.body)
		require.NoError(t, err, c.name)
		require.Equal(t, c.value, describe(v), c.name)
	}
}

func TestDamagedPayloadsAreRefused(t *testing.T) {
	for _, c := range refused {
		_, err := restored(c.body)
		require.Equal(t, ErrFormat, err, c.why)
	}
}

// Cut anywhere, or with any bit turned, no payload is more than refused.
func TestPayloadsMayBeDamagedAnywhere(t *testing.T) {
	for _, body := range examples() {
		for i := range len(body) {
			_, _ = restored(body[:i])
			for bit := range 8 {
				b := []byte(body)
				b[i] ^= 1 << bit
				if v, err := restored(string(b)); err == nil {
					describe(v)
				}
			}
		}
	}
}

func TestVersionAndChecksumMustBeRight(t *testing.T) {
	ks := store.NewKeyspace(store.Options{Databases: 1})
	good := sealed([]byte("\x00\x05hello"), Oldest)
	for i := range good {
		bad := slices.Clone(good)
		bad[i]++
		_, err := Restore(ks, bad, Oldest)
		require.Equal(t, ErrPayload, err, "byte %d", i)
		_, err = Restore(ks, good[:i], Oldest)
		require.Equal(t, ErrPayload, err, "%d bytes", i)
	}
	for _, c := range []struct{ version, own int }{{12, Oldest}, {12, 80}, {79, 80}, {81, 80}, {80, 11}, {256, Oldest}} {
		_, err := Restore(ks, sealed([]byte("\x00\x05hello"), c.version), c.own)
		require.Equal(t, ErrPayload, err, "version %d for a server that writes %d", c.version, c.own)
	}
	for _, c := range []struct{ version, own int }{{1, Oldest}, {11, Oldest}, {11, 80}, {80, 80}} {
		_, err := Restore(ks, sealed([]byte("\x00\x05hello"), c.version), c.own)
		require.NoError(t, err, "version %d for a server that writes %d", c.version, c.own)
	}
}

// The encodings are those that redis-server 7.2.6 gives to the same payloads after CONFIG SET.
func TestARestoredValueKeepsTheFormOfItsPayload(t *testing.T) {
	const (
		setOf       = "\x02\x02\x01a\x01b"
		setListpack = "\x14\x0d\x0d\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xff"
		hashOf      = "\x04\x01\x02ab\x01c"
		hashPack    = "\x10\x0e\x0e\x00\x00\x00\x02\x00\x82ab\x03\x81c\x02\xff"
		zsetOf      = "\x05\x01\x02ab\x00\x00\x00\x00\x00\x00\xf8?"
		zsetPack    = "\x11\x0d\x0d\x00\x00\x00\x02\x00\x82ab\x03\x01\x01\xff"
		oneNode     = "\x12\x01\x02\x0b\x0b\x00\x00\x00\x02\x00\x01\x01\x02\x01\xff"
		twoNodes    = "\x12\x02\x02\x0b\x0b\x00\x00\x00\x02\x00\x01\x01\x02\x01\xff\x02\t\t\x00\x00\x00\x01\x00\x03\x01\xff"
		elements    = "\x01\x02\x01a\x01b"
		ziplist     = "\x0a\x0e\x0e\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x01a\xff"
	)
	for _, c := range []struct {
		body, want string
		change     func(l *store.Limits)
	}{
		{setOf, "listpack", func(*store.Limits) {}},
		{setOf, "hashtable", func(l *store.Limits) { l.SetMaxIntsetEntries = 1 }},
		{setOf, "hashtable", func(l *store.Limits) { l.SetMaxListpackValue = 0 }},
		{setListpack, "listpack", func(l *store.Limits) { l.SetMaxIntsetEntries, l.SetMaxListpackValue = 0, 0 }},
		{setListpack, "hashtable", func(l *store.Limits) { l.SetMaxListpackEntries = 1 }},
		{hashOf, "hashtable", func(l *store.Limits) { l.HashMaxListpackValue = 1 }},
		{hashPack, "listpack", func(l *store.Limits) { l.HashMaxListpackValue = 1 }},
		{hashPack, "hashtable", func(l *store.Limits) { l.HashMaxListpackEntries = 0 }},
		{zsetOf, "skiplist", func(l *store.Limits) { l.ZSetMaxListpackValue = 1 }},
		{zsetPack, "listpack", func(l *store.Limits) { l.ZSetMaxListpackValue = 1 }},
		{zsetPack, "skiplist", func(l *store.Limits) { l.ZSetMaxListpackEntries = 0 }},
		{oneNode, "listpack", func(*store.Limits) {}},
		{oneNode, "quicklist", func(l *store.Limits) { l.ListMaxListpackSize = 1 }},
		{twoNodes, "quicklist", func(*store.Limits) {}},
		{elements, "listpack", func(*store.Limits) {}},
		{elements, "quicklist", func(l *store.Limits) { l.ListMaxListpackSize = 1 }},
		{ziplist, "quicklist", func(*store.Limits) {}},
	} {
		ks := store.NewKeyspace(store.Options{Databases: 1})
		c.change(&ks.Limits)
		v, err := Restore(ks, sealed([]byte(c.body), Oldest), Oldest)
		require.NoError(t, err, "%q", c.body)
		require.Equal(t, c.want, v.Encoding(), "%q", c.body)
	}
}

// timedByValkey is what valkey-server 9.1.2 writes for a hash of which two fields expire at 1999999999999.
const timedByValkey = "\x16\x03\x01a\xc0\x01\xff\x1fJ\xa9\xd1\x01\x00\x00\x01b\xc0\x02\xff\x1fJ\xa9\xd1\x01\x00\x00" +
	"\x01c\xc0\x03\xff\xff\xff\xff\xff\xff\xff\xffP\x00\xfc ;\x02G\xea\xc0\xf5"

func TestFieldsKeepTheirExpiryInTheFormOfValkey(t *testing.T) {
	ks := store.NewKeyspace(store.Options{Databases: 1})
	v, err := Restore(ks, []byte(timedByValkey), VersionTimed)
	require.NoError(t, err)
	h := store.As[*store.Hash](v)
	for field, want := range map[string]int64{"a": 1999999999999, "b": 1999999999999, "c": 0} {
		at, ok := h.Expire([]byte(field))
		require.True(t, ok)
		require.Equal(t, want, at)
	}
	require.True(t, CanDump(v, VersionTimed))
	require.Equal(t, timedByValkey, string(Dump(nil, v, VersionTimed)))
	h.Delete([]byte("a"))
	h.Delete([]byte("b"))
	require.EqualValues(t, typeHash, Dump(nil, v, VersionTimed)[0], "no field expires")
}

// Redis 7.2 has no such form. Redis since 7.4 has one that this package does not know.
func TestOtherVersionsHaveNoFormForFieldsThatExpire(t *testing.T) {
	ks := store.NewKeyspace(store.Options{Databases: 1})
	v, err := Restore(ks, []byte(timedByValkey), VersionTimed)
	require.NoError(t, err)
	require.False(t, CanDump(v, Oldest))
	require.False(t, CanDump(v, VersionRead))
	_, err = Restore(ks, sealed([]byte(timedByValkey[:len(timedByValkey)-footer]), Oldest), Oldest)
	require.Equal(t, ErrFormat, err)
	for _, bad := range []string{"\x16\x00", "\x16\x02\x01a\x01b", "\x16\x01\x01a\x01b\xfe" + strings.Repeat("\xff", 7),
		"\x16\x02\x01a\x01b" + strings.Repeat("\xff", 8) + "\x01a\x01b" + strings.Repeat("\xff", 8)} {
		_, err = Restore(ks, sealed([]byte(bad), VersionTimed), VersionTimed)
		require.Equal(t, ErrFormat, err, "%q", bad)
	}
}

func TestPayloadsOfFieldsThatExpireMayBeDamagedAnywhere(t *testing.T) {
	ks := store.NewKeyspace(store.Options{Databases: 1})
	body := []byte(timedByValkey[:len(timedByValkey)-footer])
	for i := range body {
		for b := range 256 {
			damaged := bytes.Clone(body)
			damaged[i] = byte(b)
			if v, err := Restore(ks, sealed(damaged, VersionTimed), VersionTimed); err == nil {
				use(t, ks, v)
			}
		}
	}
}
