package miniredis

// StreamEntry is an entry of a stream: its ID, and a field, its value, and so on.
type StreamEntry struct {
	ID     string
	Values []string
}

// XAdd adds an entry to a stream and returns its ID. The ID "" or "*" lets the server choose one.
func (db *RedisDB) XAdd(k string, id string, values []string) (string, error) {
	if id == "" {
		id = "*"
	}
	return db.text(append([]string{"XADD", k, id}, values...)...)
}

// Stream returns the entries of a stream, the oldest first.
func (db *RedisDB) Stream(key string) ([]StreamEntry, error) {
	v, err := db.do("XRANGE", key, "-", "+")
	if err != nil {
		return nil, err
	}
	var entries []StreamEntry
	for _, e := range v.Elems {
		entries = append(entries, StreamEntry{e.Elems[0].Str, stringsOf(e.Elems[1])})
	}
	return entries, nil
}
