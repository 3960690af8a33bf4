package miniredis

import "strconv"

// Get returns the string at a key, ErrKeyNotFound or ErrWrongType.
func (db *RedisDB) Get(k string) (string, error) { return db.text("GET", k) }

// Set sets a string and removes its TTL. A value of another type is ErrWrongType.
func (db *RedisDB) Set(k, v string) error {
	if t := db.Type(k); t != "" && t != "string" {
		return ErrWrongType
	}
	_, err := db.do("SET", k, v)
	return err
}

// Incr adds to an integer and returns the sum.
func (db *RedisDB) Incr(k string, delta int) (int, error) {
	return db.number("INCRBY", k, strconv.Itoa(delta))
}

// Incrfloat adds to a number and returns the sum.
func (db *RedisDB) Incrfloat(k string, delta float64) (float64, error) {
	return db.float("INCRBYFLOAT", k, decimal(delta))
}

// IncrByFloat is Incrfloat.
func (m *Miniredis) IncrByFloat(k string, delta float64) (float64, error) {
	return m.Incrfloat(k, delta)
}

// HllAdd adds elements to a HyperLogLog. It returns 1 if the count has changed.
func (db *RedisDB) HllAdd(k string, elems ...string) (int, error) {
	return db.number(append([]string{"PFADD", k}, elems...)...)
}

// HllCount returns how many different elements were added, about.
func (db *RedisDB) HllCount(keys ...string) (int, error) {
	return db.number(append([]string{"PFCOUNT"}, keys...)...)
}

// HllMerge merges HyperLogLogs into one.
func (db *RedisDB) HllMerge(destKey string, sourceKeys ...string) error {
	_, err := db.do(append([]string{"PFMERGE", destKey}, sourceKeys...)...)
	return err
}

// PfAdd is HllAdd.
func (m *Miniredis) PfAdd(k string, elems ...string) (int, error) { return m.HllAdd(k, elems...) }

// PfCount is HllCount.
func (m *Miniredis) PfCount(keys ...string) (int, error) { return m.HllCount(keys...) }

// PfMerge is HllMerge.
func (m *Miniredis) PfMerge(destKey string, sourceKeys ...string) error {
	return m.HllMerge(destKey, sourceKeys...)
}
