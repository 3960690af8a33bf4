package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

// XINFO GROUPS key (t_stream.c: xinfoCommand)
func xinfoGroups(c *Call) error {
	s, err := store.Read[*store.Stream](c.DB, c.Args[2])
	if err != nil {
		return err
	}
	if s == nil {
		return errNoSuchKey
	}
	c.Array(s.Groups.Len())
	for g := range s.Groups.All() {
		c.Map(6)
		c.TextField("name", g.Name)
		c.IntField("consumers", int64(g.Consumers.Len()))
		c.IntField("pending", int64(g.Len()))
		writeGroupProgress(c, s, g)
	}
	return nil
}

func writeGroupProgress(c *Call, s *store.Stream, g *store.StreamGroup) {
	c.BulkString("last-delivered-id")
	bulkID(c, g.LastID)
	c.BulkString("entries-read")
	if g.EntriesRead == store.UnknownReads {
		c.Null()
	} else {
		c.Int(g.EntriesRead)
	}
	c.BulkString("lag")
	if lag, known := s.Lag(g); known {
		c.Int(lag)
	} else {
		c.Null()
	}
}

// XINFO CONSUMERS key group (t_stream.c: xinfoCommand)
func xinfoConsumers(c *Call) error {
	s, err := store.Read[*store.Stream](c.DB, c.Args[2])
	if err != nil {
		return err
	}
	if s == nil {
		return errNoSuchKey
	}
	g := s.Group(c.Args[3])
	if g == nil {
		return errNoGroup(c.Args[3], c.Args[2])
	}
	c.Array(g.Consumers.Len())
	for consumer := range g.Consumers.All() {
		inactive := int64(-1)
		if consumer.Active >= 0 {
			inactive = c.Now - consumer.Active
		}
		c.Map(4)
		c.TextField("name", consumer.Name)
		c.IntField("pending", int64(consumer.Len()))
		c.IntField("idle", max(c.Now-consumer.Seen, 0))
		c.IntField("inactive", inactive)
	}
	return nil
}

// writeGroupsInFull writes the groups for XINFO STREAM FULL. count limits each list of pending
// entries.
func writeGroupsInFull(c *Call, s *store.Stream, count int64) {
	if count == 0 {
		count = math.MaxInt64
	}
	c.BulkString("groups")
	c.Array(s.Groups.Len())
	for g := range s.Groups.All() {
		c.Map(7)
		c.TextField("name", g.Name)
		writeGroupProgress(c, s, g)
		c.IntField("pel-count", int64(g.Len()))
		c.BulkString("pending")
		c.Array(int(min(int64(g.Len()), count)))
		it := g.Pending(nil, store.StreamID{})
		for n := int64(0); n < count && it.Next(); n++ {
			c.Array(4)
			bulkID(c, it.ID)
			c.BulkString(it.To.Name)
			c.Int(it.At)
			c.Int(it.Count)
		}
		c.BulkString("consumers")
		c.Array(g.Consumers.Len())
		for consumer := range g.Consumers.All() {
			writeConsumerInFull(c, g, consumer, count)
		}
	}
}

func writeConsumerInFull(c *Call, g *store.StreamGroup, consumer *store.StreamConsumer, count int64) {
	c.Map(5)
	c.TextField("name", consumer.Name)
	c.IntField("seen-time", consumer.Seen)
	c.IntField("active-time", consumer.Active)
	c.IntField("pel-count", int64(consumer.Len()))
	c.BulkString("pending")
	c.Array(int(min(int64(consumer.Len()), count)))
	it := g.Pending(consumer, store.StreamID{})
	for n := int64(0); n < count && it.Next(); n++ {
		c.Array(3)
		bulkID(c, it.ID)
		c.Int(it.At)
		c.Int(it.Count)
	}
}
