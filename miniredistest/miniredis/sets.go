package miniredis

import "slices"

// SetAdd adds elements to a set and returns how many are new.
func (db *RedisDB) SetAdd(k string, elems ...string) (int, error) {
	return db.number(append([]string{"SADD", k}, elems...)...)
}

// Members returns the elements of a set, sorted.
func (db *RedisDB) Members(k string) ([]string, error) {
	members, err := db.texts("SMEMBERS", k)
	slices.Sort(members)
	return members, err
}

// IsMember reports whether v is in a set.
func (db *RedisDB) IsMember(k, v string) (bool, error) {
	if err := db.has(k); err != nil {
		return false, err
	}
	n, err := db.number("SISMEMBER", k, v)
	return n == 1, err
}

// SRem removes elements from a set and returns their number.
func (db *RedisDB) SRem(k string, fields ...string) (int, error) {
	if err := db.has(k); err != nil {
		return 0, err
	}
	return db.number(append([]string{"SREM", k}, fields...)...)
}

// SCard returns the number of elements of a set.
func (db *RedisDB) SCard(key string) (int, error) { return db.number("SCARD", key) }

// SRandMember returns an element of a set by chance, or "" for no set.
func (db *RedisDB) SRandMember(key string) (string, error) {
	v, err := db.do("SRANDMEMBER", key)
	return v.Str, err
}

// SAdd is SetAdd.
func (m *Miniredis) SAdd(k string, elems ...string) (int, error) { return m.SetAdd(k, elems...) }

// SMembers is Members.
func (m *Miniredis) SMembers(k string) ([]string, error) { return m.Members(k) }

// SIsMember is IsMember.
func (m *Miniredis) SIsMember(k, v string) (bool, error) { return m.IsMember(k, v) }
