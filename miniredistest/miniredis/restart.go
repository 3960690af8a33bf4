package miniredis

import (
	"strconv"
	"time"
)

// saved is what Restart needs of a server that Close has ended.
type saved struct {
	now  time.Time
	keys []savedKey
}

type savedKey struct {
	db        int
	name      string
	dump      string // the payload of DUMP
	expiresAt string // Unix milliseconds, "0" for never
}

func (m *Miniredis) save() *saved {
	s := &saved{now: m.srv.Clock().Now()}
	databases, _ := strconv.Atoi(m.must("CONFIG", "GET", "databases").Elems[1].Str)
	for i := range databases {
		db := m.DB(i)
		for _, name := range db.Keys() {
			at := max(db.must("PEXPIRETIME", name).Int, 0)
			s.keys = append(s.keys, savedKey{i, name, db.must("DUMP", name).Str, strconv.FormatInt(at, 10)})
		}
	}
	return s
}

func (s *saved) restore(m *Miniredis) {
	if s == nil {
		return
	}
	for _, k := range s.keys {
		m.DB(k.db).must("RESTORE", k.name, k.expiresAt, k.dump, "ABSTTL")
	}
	m.saved = nil
}
