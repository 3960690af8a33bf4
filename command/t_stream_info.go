package command

import "github.com/miniredisd/miniredisd/store"

// XINFO STREAM key [FULL [COUNT count]] (t_stream.c: xinfoCommand)
func xinfoStream(c *Call) error {
	s, err := store.Read[*store.Stream](c.DB, c.Args[2])
	if err != nil {
		return err
	}
	if s == nil {
		return errNoSuchKey
	}
	full := len(c.Args) > 3
	if full && !is(c.Args[3], "full") || len(c.Args) > 4 && (len(c.Args) != 6 || !is(c.Args[4], "count")) {
		return errSubcommandUse(c)
	}
	count := int64(10)
	if len(c.Args) == 6 {
		if count, err = parseInt(c.Args[5]); err != nil {
			return err
		}
		if count < 0 {
			count = 10
		}
	}
	if full {
		c.Map(9)
	} else {
		c.Map(10)
	}
	writeStreamState(c, s)
	if full {
		c.BulkString("entries")
		it := s.Range(store.StreamID{}, store.MaxStreamID(), false)
		writeEntries(c, &it, count)
		writeGroupsInFull(c, s, count)
		return nil
	}
	c.IntField("groups", int64(s.Groups.Len()))
	writeEdge(c, "first-entry", s, false)
	writeEdge(c, "last-entry", s, true)
	return nil
}

func writeStreamState(c *Call, s *store.Stream) {
	c.IntField("length", int64(s.Len()))
	c.IntField("radix-tree-keys", int64(s.Nodes()))
	c.IntField("radix-tree-nodes", int64(s.RadixNodes()))
	c.BulkString("last-generated-id")
	bulkID(c, s.LastID)
	c.BulkString("max-deleted-entry-id")
	bulkID(c, s.MaxDeletedID)
	c.IntField("entries-added", int64(s.EntriesAdded))
	c.BulkString("recorded-first-entry-id")
	bulkID(c, s.FirstID())
}

func writeEdge(c *Call, name string, s *store.Stream, newest bool) {
	c.BulkString(name)
	it := s.Range(store.StreamID{}, store.MaxStreamID(), newest)
	if it.Next() {
		writeEntry(c, &it)
		return
	}
	c.Null()
}
