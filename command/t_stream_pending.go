package command

import "github.com/miniredisd/miniredisd/store"

// XACK key group id ... (t_stream.c: xackCommand)
func xack(c *Call) error {
	s, err := store.ReadToChange[*store.Stream](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	var g *store.StreamGroup
	if s != nil {
		g = s.Group(c.Args[2])
	}
	if g == nil {
		c.Int(0)
		return nil
	}
	// Check all IDs first: an error must leave the group unchanged.
	for _, arg := range c.Args[3:] {
		if _, err := parseStreamID(arg, 0); err != nil {
			return err
		}
	}
	n := 0
	for _, arg := range c.Args[3:] {
		if id, _ := parseStreamID(arg, 0); g.Acknowledge(id) {
			n++
		}
	}
	c.Count(n)
	c.Int(int64(n))
	return nil
}

// pendingOptions are the options of XPENDING.
type pendingOptions struct {
	from, to store.StreamID
	minIdle  int64
	count    int64
	consumer []byte // nil for all consumers
}

func parsePending(args [][]byte) (o pendingOptions, err error) {
	if len(args) < 6 || len(args) > 9 {
		return o, errSyntax
	}
	i := 3
	if is(args[i], "idle") {
		if o.minIdle, err = parseInt(args[i+1]); err != nil {
			return o, err
		}
		if i += 2; len(args) < 8 {
			return o, errSyntax
		}
	}
	if o.count, err = parseInt(args[i+2]); err != nil {
		return o, err
	}
	o.from, o.to, err = parseInterval(args[i], args[i+1])
	if i += 3; i < len(args) {
		o.consumer = args[i]
	}
	return o, err
}

// XPENDING key group [[IDLE ...] start end count [consumer]] (t_stream.c: xpendingCommand)
func xpending(c *Call) error {
	var o pendingOptions
	summary := len(c.Args) == 3
	if !summary {
		var err error
		if o, err = parsePending(c.Args); err != nil {
			return err
		}
	}
	g, err := c.pendingGroup(store.Read[*store.Stream](c.DB, c.Args[1]))
	if err != nil {
		return err
	}
	if summary {
		writePendingSummary(c, g)
		return nil
	}
	var consumer *store.StreamConsumer
	if o.consumer != nil {
		if consumer = g.Consumer(o.consumer); consumer == nil {
			c.Array(0)
			return nil
		}
	}
	array, n := c.Defer(), 0
	it := g.Pending(consumer, o.from)
	for int64(n) < o.count && it.Next() && !o.to.Less(it.ID) {
		idle := c.Now - it.At
		if o.minIdle != 0 && idle < o.minIdle {
			continue
		}
		c.Array(4)
		bulkID(c, it.ID)
		c.BulkString(it.To.Name)
		c.Int(max(idle, 0))
		c.Int(it.Count)
		n++
	}
	c.EndArray(array, n)
	return nil
}

// pendingGroup returns the group that a command names. s is nil if the key does not exist.
func (c *Call) pendingGroup(s *store.Stream, err error) (*store.StreamGroup, error) {
	if err != nil {
		return nil, err
	}
	if s != nil {
		if g := s.Group(c.Args[2]); g != nil {
			return g, nil
		}
	}
	return nil, errorf("NOGROUP No such key '%s' or consumer group '%s'", c.Args[1], c.Args[2])
}

func writePendingSummary(c *Call, g *store.StreamGroup) {
	c.Array(4)
	c.Int(int64(g.Len()))
	if g.Len() == 0 {
		c.Null()
		c.Null()
		c.NullArray()
		return
	}
	first, last := g.Ends()
	bulkID(c, first)
	bulkID(c, last)
	array, n := c.Defer(), 0
	for consumer := range g.Consumers.All() {
		if consumer.Len() > 0 {
			c.Array(2)
			c.BulkString(consumer.Name)
			c.BulkInt(int64(consumer.Len()))
			n++
		}
	}
	c.EndArray(array, n)
}
