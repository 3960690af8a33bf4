package command

import (
	"crypto/sha1"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/miniredisd/miniredisd/internal/double"
	"github.com/miniredisd/miniredisd/store"
)

// Digest is the hash of values that DEBUG DIGEST returns (debug.c: computeDatasetDigest).
type Digest [sha1.Size]byte

// add mixes in b. The order of calls does not matter (debug.c: xorDigest).
func (d *Digest) add(b []byte) {
	sum := sha1.Sum(b)
	for i := range d {
		d[i] ^= sum[i]
	}
}

// then mixes in b. The order of calls matters (debug.c: mixDigest).
func (d *Digest) then(b []byte) {
	d.add(b)
	*d = sha1.Sum(d[:])
}

func (d *Digest) number(n uint32) { d.then(binary.BigEndian.AppendUint32(nil, n)) }

// DigestOfAll returns the digest of all databases.
func DigestOfAll(ks *store.Keyspace) (all Digest) {
	for _, db := range ks.DBs {
		if db.Len() == 0 {
			continue
		}
		all.number(uint32(db.ID))
		for key, v := range db.Values() {
			var d Digest
			d.then([]byte(key))
			d.value(v)
			all.add(d[:])
		}
	}
	return all
}

// DigestOf returns the digest of a value, and of whether it expires.
func DigestOf(v store.Value) (d Digest) {
	d.value(v)
	return d
}

func (d *Digest) value(v store.Value) {
	switch v.Type() {
	case store.TypeString:
		d.number(0)
		d.then(v.Text())
	case store.TypeList:
		d.number(1)
		for it := store.As[*store.List](v).From(0, false); ; {
			e, ok := it.Next()
			if !ok {
				break
			}
			d.then(e)
		}
	case store.TypeSet:
		d.number(2)
		for m := range store.As[*store.Set](v).All() {
			d.add(m)
		}
	case store.TypeZSet:
		d.number(3)
		var score []byte
		z := store.As[*store.ZSet](v)
		for it := z.Range(0, z.Len(), false); it.Next(); {
			score = double.AppendShortest(score[:0], it.Score)
			d.pair(it.Member, score)
		}
	case store.TypeHash:
		d.number(4)
		for field, value := range store.As[*store.Hash](v).All() {
			d.pair(field, value)
		}
	case store.TypeStream:
		d.number(6)
		d.stream(store.As[*store.Stream](v))
	}
	if v.Expire() != 0 {
		d.add([]byte("!!expire!!"))
	}
}

func (d *Digest) pair(a, b []byte) {
	var p Digest
	p.then(a)
	p.then(b)
	d.add(p[:])
}

func (d *Digest) stream(s *store.Stream) {
	for it := s.Range(store.StreamID{}, store.StreamID{Ms: math.MaxUint64, Seq: math.MaxUint64}, false); it.Next(); {
		id := strconv.AppendUint(nil, it.ID.Ms, 10)
		d.then(strconv.AppendUint(append(id, '.'), it.ID.Seq, 10))
		for range it.Fields {
			field, value := it.Field()
			d.then(field)
			d.then(value)
		}
	}
}
