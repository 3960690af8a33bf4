package command

func keyRows() []Row {
	return []Row{
		{"del", "key ...", -2, Write, keys(span(1, -1, 1, RM|Delete)), "generic", "1.0.0", "O(N) where N is the number of keys that will be removed. When a key to remove holds a value other than a string, the individual complexity for this key is O(M) where M is the number of elements in the list, set, sorted set or hash. Removing a single key that holds a string value is O(1).", "Deletes keys.", del},
		{"exists", "key ...", -2, ReadOnly | Fast, keys(span(1, -1, 1, RO)), "generic", "1.0.0", "O(N) where N is the number of keys to check.", "Counts how many of the keys exist.", exists},
	}
}

func del(c *Call) error {
	n := int64(0)
	for _, key := range c.Args[1:] {
		if c.DB.Delete(key) {
			c.Changed(ClassGeneric, "del", key)
			n++
		}
	}
	c.Int(n)
	return nil
}

func exists(c *Call) error {
	n := int64(0)
	for _, key := range c.Args[1:] {
		if c.DB.Touch(key) {
			n++
		}
	}
	c.Int(n)
	return nil
}
