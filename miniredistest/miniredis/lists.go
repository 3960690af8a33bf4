package miniredis

// List returns the elements of a list.
func (db *RedisDB) List(k string) ([]string, error) { return db.texts("LRANGE", k, "0", "-1") }

// Push adds elements at the end of a list and returns its length.
func (db *RedisDB) Push(k string, v ...string) (int, error) {
	return db.number(append([]string{"RPUSH", k}, v...)...)
}

// Pop removes the last element of a list.
func (db *RedisDB) Pop(k string) (string, error) { return db.text("RPOP", k) }

// Lpush adds an element at the beginning of a list and returns its length.
func (db *RedisDB) Lpush(k, v string) (int, error) { return db.number("LPUSH", k, v) }

// Lpop removes the first element of a list.
func (db *RedisDB) Lpop(k string) (string, error) { return db.text("LPOP", k) }

// RPush adds elements at the end of a list and returns its length.
func (m *Miniredis) RPush(k string, v ...string) (int, error) { return m.Push(k, v...) }

// RPop removes the last element of a list and returns it.
func (m *Miniredis) RPop(k string) (string, error) { return m.Pop(k) }
