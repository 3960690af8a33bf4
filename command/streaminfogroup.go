package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

func xinfoGroups(c *Call) error {
	s, err := store.Read[*store.Stream](c.DB, c.Args[2])
	if err != nil {
		return err
	}
	if s == nil {
		return errNoSuchKey
	}
	c.Array(len(s.Groups))
	for _, g := range s.Groups {
		c.Map(6)
		c.BulkString("name")
		c.BulkString(g.Name)
		c.BulkString("consumers")
		c.Int(int64(len(g.Consumers)))
		c.BulkString("pending")
		c.Int(int64(g.Len()))
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
	c.Array(len(g.Consumers))
	for _, consumer := range g.Consumers {
		inactive := int64(-1)
		if consumer.Active >= 0 {
			inactive = c.Now - consumer.Active
		}
		c.Map(4)
		c.BulkString("name")
		c.BulkString(consumer.Name)
		c.BulkString("pending")
		c.Int(int64(consumer.Len()))
		c.BulkString("idle")
		c.Int(max(c.Now-consumer.Seen, 0))
		c.BulkString("inactive")
		c.Int(inactive)
	}
	return nil
}

// writeGroupsInFull is the part of XINFO STREAM FULL about groups; count bounds each list of pending entries.
func writeGroupsInFull(c *Call, s *store.Stream, count int64) {
	if count == 0 {
		count = math.MaxInt64
	}
	c.BulkString("groups")
	c.Array(len(s.Groups))
	for _, g := range s.Groups {
		c.Map(7)
		c.BulkString("name")
		c.BulkString(g.Name)
		writeGroupProgress(c, s, g)
		c.BulkString("pel-count")
		c.Int(int64(g.Len()))
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
		c.Array(len(g.Consumers))
		for _, consumer := range g.Consumers {
			writeConsumerInFull(c, g, consumer, count)
		}
	}
}

func writeConsumerInFull(c *Call, g *store.StreamGroup, consumer *store.StreamConsumer, count int64) {
	c.Map(5)
	c.BulkString("name")
	c.BulkString(consumer.Name)
	c.BulkString("seen-time")
	c.Int(consumer.Seen)
	c.BulkString("active-time")
	c.Int(consumer.Active)
	c.BulkString("pel-count")
	c.Int(int64(consumer.Len()))
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
