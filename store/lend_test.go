package store_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/store"
)

var lendSeeds = flag.Uint64("lend.seeds", uint64(amount.Count(1, 3)),
	"under how many seeds large values change while they are lent")

// A largeValue is filled by many calls of add, and then changed by change in each way that there is.
type largeValue struct {
	name   string
	add    func(l *largeKey)
	change func(l *largeKey)
}

// largeKey is the key k of a keyspace. The same seed gives the same changes.
type largeKey struct {
	ks   *store.Keyspace
	r    *rand.Rand
	next uint64
}

const largeSize = 4000 // members

var k = []byte("k")

func (l *largeKey) db() *store.DB  { return l.ks.DBs[0] }
func (l *largeKey) member() []byte { return fmt.Appendf(nil, "member:%d", l.r.IntN(largeSize)) }

// text is a long one now and then.
func (l *largeKey) text() []byte {
	return bytes.Repeat([]byte{byte('a' + l.r.IntN(26))}, []int{5, 20, 60, 300}[l.r.IntN(4)])
}

func write[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (l *largeKey) list() *store.List     { return write(store.WriteOrNew[*store.List](l.db(), k)) }
func (l *largeKey) set() *store.Set       { return write(store.WriteOrNew[*store.Set](l.db(), k)) }
func (l *largeKey) zset() *store.ZSet     { return write(store.WriteOrNew[*store.ZSet](l.db(), k)) }
func (l *largeKey) hash() *store.Hash     { return write(store.WriteOrNew[*store.Hash](l.db(), k)) }
func (l *largeKey) stream() *store.Stream { return write(store.WriteOrNew[*store.Stream](l.db(), k)) }

func (l *largeKey) fields() store.Fields {
	f := write(store.WriteFields(l.db(), k))
	if f.Hash == nil {
		f.Create(k)
	}
	return f
}

func (l *largeKey) push(head bool) {
	v, list := l.text(), l.list()
	list.Expect(1, len(v))
	if head {
		list.PushHead(v)
	} else {
		list.PushTail(v)
	}
}

func (l *largeKey) pushNumbers(n int) {
	for i := range n {
		list, text := l.list(), fmt.Appendf(nil, "%060d", i)
		list.Expect(1, len(text))
		list.PushTail(text)
	}
}

func (l *largeKey) changeList() {
	list := l.list()
	for list.Len() < largeSize/2 {
		l.push(false)
	}
	i := l.r.IntN(list.Len())
	if l.r.IntN(2) == 0 {
		i = -1 - l.r.IntN(40) // in the last node
	}
	switch l.r.IntN(12) {
	case 0, 1:
		l.push(true)
	case 2, 3:
		l.push(false)
	case 4:
		list.PopHead()
	case 5:
		list.PopTail()
	case 6:
		list.Set(i, l.text())
	case 7:
		list.Insert(bytes.Clone(list.Index(i)), l.text(), l.r.IntN(2) == 0)
	case 8:
		list.Remove(1-2*l.r.IntN(2), bytes.Clone(list.Index(i)))
	case 9:
		list.Trim(l.r.IntN(30), list.Len()-50)
		list.Insert(bytes.Clone(list.Index(-1)), bytes.Repeat(l.text(), 50), true)
	default:
		for range 20 { // a node becomes empty, or a new one begins
			if l.r.IntN(2) == 0 {
				list.PopHead()
			} else {
				l.push(false)
			}
		}
	}
	list.Shrink()
}

func (l *largeKey) changeZSet() {
	z, score := l.zset(), l.r.Float64()*100
	switch l.r.IntN(60) {
	case 0:
		z.Remove(l.member())
	case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10: // it stays between the same neighbours
		z.Add(l.member(), 0.001, store.ZIncr)
	case 11, 12:
		at := l.r.IntN(z.Len()) * l.r.IntN(2)
		z.RemoveRange(at, min(at+l.r.IntN(150), z.Len()))
	case 13: // a leaf fills
		for range 80 {
			z.Add(l.member(), score, 0)
		}
	default:
		z.Add(l.member(), score, 0)
	}
}

func (l *largeKey) changeHash() {
	h := l.hash()
	switch l.r.IntN(4) {
	case 0:
		h.Delete(l.member())
	case 1: // the value has the same length
		field := l.member()
		if v, ok := h.Get(field); ok {
			h.Set(field, bytes.Repeat([]byte{'x'}, len(v)))
		}
	case 2: // chunks become empty
		for i := range l.r.IntN(200) {
			h.Delete(fmt.Appendf(nil, "member:%d", i))
		}
	default:
		h.Set(l.member(), l.text())
	}
}

func (l *largeKey) changeFields() {
	f, field := l.fields(), l.member()
	_, known := f.Get(field)
	switch {
	case l.r.IntN(40) == 0:
		l.ks.Now += 50
		l.ks.Settle()
		l.ks.ExpireDue()
	case !known:
		f.Set(field, l.text())
	case l.r.IntN(3) == 0:
		f.SetExpire(field, l.ks.Now+l.r.Int64N(2000))
	case l.r.IntN(3) == 0:
		f.Persist(field)
	default:
		l.changeHash()
	}
}

func (l *largeKey) append() {
	l.next++
	args := [][]byte{[]byte("f"), l.text()}
	if l.r.IntN(5) == 0 {
		args = append(args, l.text(), l.text())
	}
	limits := store.StreamNodeLimits{Bytes: 4096, Entries: 100}
	if err := l.stream().Add(store.StreamID{Ms: l.next}, args, limits); err != nil {
		panic(err)
	}
}

func (l *largeKey) changeStream() {
	s := l.stream()
	switch l.r.IntN(6) {
	case 0, 1:
		for range l.r.IntN(30) {
			l.append()
		}
	case 2:
		s.Trim(store.StreamTrim{MaxLen: int64(s.Len() - l.r.IntN(30)), Approx: l.r.IntN(2) == 0})
	case 3:
		s.Trim(store.StreamTrim{ByID: true, MinID: store.StreamID{Ms: s.FirstID().Ms + 5}})
	default:
		s.Delete(store.StreamID{Ms: l.next - l.r.Uint64N(largeSize)})
	}
}

func largeValues() []largeValue {
	return []largeValue{
		{"list", func(l *largeKey) { l.push(false) }, (*largeKey).changeList},
		{"set", func(l *largeKey) { l.set().Add(l.member()) }, func(l *largeKey) {
			if s := l.set(); !s.Add(l.member()) {
				s.Remove(l.member())
				s.Remove(bytes.Clone(s.Random(l.r)))
			}
		}},
		{"zset", func(l *largeKey) { l.zset().Add(l.member(), l.r.Float64()*100, 0) }, (*largeKey).changeZSet},
		{"hash", func(l *largeKey) { l.hash().Set(l.member(), l.text()) }, (*largeKey).changeHash},
		{"hash whose fields expire", func(l *largeKey) { l.fields().Set(l.member(), l.text()) }, (*largeKey).changeFields},
		{"stream", (*largeKey).append, (*largeKey).changeStream},
		{"stream with pending entries", (*largeKey).appendPending, (*largeKey).changePending},
	}
}

func (v *largeValue) fill(seed uint64) *largeKey {
	l := &largeKey{ks: store.NewKeyspace(store.Options{Seed: seed}), r: rand.New(rand.NewPCG(seed, 2))}
	for range largeSize {
		v.add(l)
		l.ks.Settle()
	}
	return l
}

func (v *largeValue) changes(l *largeKey, n int) {
	for range n {
		v.change(l)
		l.ks.Settle()
	}
}

func (l *largeKey) picture() string {
	for _, v := range l.db().Values() {
		return string(rdb.Dump(nil, v, rdb.VersionTimed))
	}
	return "missing"
}

// A capture lends large values. Nobody sees it: what is captured stays as it was, and what commands change becomes what
// it becomes without a capture.
func TestWhatIsLentStaysAsItWas(t *testing.T) {
	for _, v := range largeValues() {
		t.Run(v.name, func(t *testing.T) {
			for seed := range *lendSeeds {
				lent, free := v.fill(seed), v.fill(seed)
				for range 3 {
					want, capture := lent.picture(), lent.ks.Capture()
					require.False(t, capture.Step(2))
					copies := capture.Take(0).Keys
					for range 4 {
						v.changes(lent, 60)
						v.changes(free, 60)
						require.True(t, want == string(rdb.Dump(nil, copies[0].Value, rdb.VersionTimed)), "seed %d", seed)
					}
					capture.Return()
					v.changes(lent, 60)
					v.changes(free, 60)
					require.True(t, free.picture() == lent.picture(), "seed %d", seed)
					if v.name != "list" { // which uses the memory of a node again, unless it is lent
						require.Equal(t, free.ks.Bytes(), lent.ks.Bytes())
					}
				}
			}
		})
	}
}

// These changes of lent blocks are rare.
func TestSeldomChangesOfWhatIsLent(t *testing.T) {
	for _, v := range []struct {
		name          string
		prepare, then func(l *largeKey)
	}{
		{"an insertion into the next node", func(l *largeKey) { l.pushNumbers(220) }, func(l *largeKey) {
			first := 0
			for node := range l.list().Packs() {
				first = node.Len()
				break
			}
			l.list().Insert(bytes.Clone(l.list().Index(first-1)), []byte("x"), true)
		}},
		{"a list that becomes small", func(l *largeKey) { l.pushNumbers(150) }, func(l *largeKey) {
			l.list().Trim(0, 40)
			l.list().Shrink()
			l.list().Set(5, fmt.Appendf(nil, "%060d", 99))
		}},
		{"a push that moves the entries of its node", func(l *largeKey) {
			l.pushNumbers(380)
			for l.list().Nodes() > 1 {
				l.list().PopHead()
			}
			for range 60 {
				l.list().PopHead()
			}
		}, func(l *largeKey) {
			for range 60 {
				l.push(false)
			}
		}},
		{"an insertion that splits a full leaf", func(l *largeKey) {
			l.zset().Unpack()
			for i := range 72 {
				l.zset().Add(fmt.Append(nil, i), float64(i), 0)
			}
		}, func(l *largeKey) { l.zset().Add([]byte("x"), 36.5, 0) }},
		{"a deadline that takes the place of the last one", func(l *largeKey) {
			for i := range 100 {
				name := fmt.Append(nil, "f", i)
				l.fields().Set(name, k)
				f := l.fields()
				f.SetExpire(name, int64(1_000_000+i))
			}
		}, func(l *largeKey) {
			f := l.fields()
			f.Persist([]byte("f99"))
			f.SetExpire([]byte("f99"), 2_000_000)
		}},
		{"pending entries of two blocks that fit into one", func(l *largeKey) {
			l.deliver(192)
			l.acknowledge(5, 64, 192)
		}, func(l *largeKey) { l.acknowledge(5, 0, 64) }},
		{"pending entries of a block that fit into the one before", func(l *largeKey) {
			l.deliver(192)
			l.acknowledge(5, 0, 64)
		}, func(l *largeKey) { l.acknowledge(5, 64, 128) }},
	} {
		l := &largeKey{ks: store.NewKeyspace(store.Options{Seed: 1}), r: rand.New(rand.NewPCG(1, 2))}
		v.prepare(l)
		l.ks.Settle()
		want, capture := l.picture(), l.ks.Capture()
		require.False(t, capture.Step(2))
		copies := capture.Take(0).Keys
		v.then(l)
		require.True(t, want == string(rdb.Dump(nil, copies[0].Value, rdb.VersionTimed)), v.name)
		require.True(t, want != l.picture(), v.name)
	}
}
