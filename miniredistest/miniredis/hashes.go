package miniredis

import (
	"slices"
	"strconv"
)

// HGet returns a field of a hash, or "".
func (db *RedisDB) HGet(k, f string) string {
	v, _ := db.do("HGET", k, f)
	return v.Str
}

// HSet sets fields of a hash: a field, its value, and so on.
func (db *RedisDB) HSet(k string, fv ...string) { db.must(append([]string{"HSET", k}, fv...)...) }

// HDel deletes a field of a hash.
func (db *RedisDB) HDel(k, f string) { db.must("HDEL", k, f) }

// HKeys returns the fields of a hash, sorted.
func (db *RedisDB) HKeys(key string) ([]string, error) {
	fields, err := db.texts("HKEYS", key)
	slices.Sort(fields)
	return fields, err
}

// HIncr adds to an integer in a hash and returns the sum.
func (db *RedisDB) HIncr(k, f string, delta int) (int, error) {
	return db.number("HINCRBY", k, f, strconv.Itoa(delta))
}

// HIncrfloat adds to a number in a hash and returns the sum.
func (db *RedisDB) HIncrfloat(k, f string, delta float64) (float64, error) {
	return db.float("HINCRBYFLOAT", k, f, decimal(delta))
}

// HIncrBy adds to an integer in a hash and returns the sum.
func (m *Miniredis) HIncrBy(k, f string, delta int) (int, error) { return m.HIncr(k, f, delta) }

// HIncrByFloat adds to a number in a hash and returns the sum.
func (m *Miniredis) HIncrByFloat(k, f string, delta float64) (float64, error) {
	return m.HIncrfloat(k, f, delta)
}
