package miniredis

import "strconv"

// ZAdd adds a member to a sorted set or changes its score. It reports whether the member is new.
func (db *RedisDB) ZAdd(k string, score float64, member string) (bool, error) {
	n, err := db.number("ZADD", k, decimal(score), member)
	return n == 1, err
}

// ZMembers returns the members of a sorted set by their scores.
func (db *RedisDB) ZMembers(k string) ([]string, error) { return db.texts("ZRANGE", k, "0", "-1") }

// SortedSet returns the scores of a sorted set by member.
func (db *RedisDB) SortedSet(k string) (map[string]float64, error) {
	v, err := db.do("ZRANGE", k, "0", "-1", "WITHSCORES")
	if err == nil && len(v.Elems) == 0 {
		err = ErrKeyNotFound
	}
	if err != nil {
		return nil, err
	}
	scores := map[string]float64{}
	for _, pair := range v.Elems {
		if scores[pair.Elems[0].Str], err = strconv.ParseFloat(pair.Elems[1].Str, 64); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// ZRem removes a member of a sorted set, and reports whether there was one.
func (db *RedisDB) ZRem(k, member string) (bool, error) {
	if err := db.has(k); err != nil {
		return false, err
	}
	n, err := db.number("ZREM", k, member)
	return n == 1, err
}

// ZScore returns the score of a member, or 0 for no such member.
func (db *RedisDB) ZScore(k, member string) (float64, error) {
	scores, err := db.ZMScore(k, []string{member})
	if err != nil {
		return 0, err
	}
	return scores[0], nil
}

// ZMScore returns the scores of members, with 0 for those that do not exist.
func (db *RedisDB) ZMScore(k string, members []string) ([]float64, error) {
	if err := db.has(k); err != nil {
		return nil, err
	}
	v, err := db.do(append([]string{"ZMSCORE", k}, members...)...)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(v.Elems))
	for i, e := range v.Elems {
		if e.Null {
			continue
		}
		if scores[i], err = strconv.ParseFloat(e.Str, 64); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// ZMScore is ZMScore of the selected database.
func (m *Miniredis) ZMScore(k string, members ...string) ([]float64, error) {
	return m.RedisDB.ZMScore(k, members)
}
