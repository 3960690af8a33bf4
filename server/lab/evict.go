package lab

import "github.com/miniredisd/miniredisd/command"

func evictRows() []command.Row {
	return []command.Row{
		Row("evict", "key [key ...]",
			-3, 0,
			"O(N) where N is the number of keys",
			"Evicts keys, as the server does when memory is short.", (*State).evict),
	}
}

// evict replies with the number of keys that it has evicted. maxmemory and its policy do not matter.
func (l *State) evict(c *command.Call) error {
	switch {
	case l.IsLoading():
		return c.Ex.Table.ErrLoading()
	case l.Follow.Host != "":
		return labError("evict", "this server is a replica: send it to the master, which decides what is evicted")
	}
	n := int64(0)
	for _, key := range c.Args[2:] {
		if c.DB.Evict(key) {
			n++
		}
	}
	c.Int(n)
	return nil
}
