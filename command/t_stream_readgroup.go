package command

import "github.com/miniredisd/miniredisd/store"

const (
	errReadGroupNoGroup store.Error = "ERR Missing GROUP option for XREADGROUP"
	errReadGroupNew                 = "ERR The %[1]s ID is meaningless in the context of XREADGROUP: " +
		"you want to read the history of this consumer by specifying a proper ID, " +
		"or use the > ID to get new messages. The %[1]s ID would just return an empty result set."
)

// XREADGROUP GROUP (group consumer) ... STREAMS (key ... id ...) (t_stream.c: xreadCommand)
// For each stream the reply holds either new entries of the group, or entries that are pending for
// the consumer. All arguments are checked before the first entry is read.
func xreadgroup(c *Call) error {
	o, err := parseXRead(c, true)
	if err != nil {
		return err
	}
	for i := range o.streams {
		if err := checkGroupRead(c, &o, i); err != nil {
			return err
		}
	}
	reply, found := c.Defer(), 0
	for i := range o.streams {
		if readAsConsumer(c, &o, i) {
			found++
		}
	}
	if found == 0 {
		c.Buf = c.Buf[:reply]
		c.blockOnStreams(&o, nil)
		c.awaitIdle(&o)
		return nil
	}
	c.endStreams(reply, found)
	return nil
}

func checkGroupRead(c *Call, o *readOptions, i int) error {
	key, arg := o.stream(c, i)
	s, err := store.ReadToChange[*store.Stream](c.DB, key)
	if err != nil {
		return err
	}
	if s == nil || s.Group(o.group) == nil {
		return errorf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with GROUP option", key, o.group)
	}
	if isNewest(arg) || c.isLast(arg) {
		return errorf(errReadGroupNew, arg)
	}
	_, err = parseGroupReadID(arg)
	return err
}

// parseGroupReadID parses the ID after which a consumer reads. ">" becomes the highest ID, after
// which there is nothing.
func parseGroupReadID(arg []byte) (store.StreamID, error) {
	if len(arg) == 1 && arg[0] == '>' {
		return store.MaxStreamID(), nil
	}
	return parseStreamID(arg, 0)
}

// propagateClaim propagates that an entry is pending, or was until now. JUSTID spares the look at the entry
// (t_stream.c: streamPropagateXCLAIM).
func (c *Call) propagateClaim(key, group []byte, g *store.StreamGroup, id store.StreamID) {
	d := g.Delivery(id)
	if !c.Propagates() || d == nil {
		return
	}
	c.Propagate([]byte("XCLAIM"), key, group, []byte(d.To.Name), []byte("0"), id.Append(nil),
		[]byte("TIME"), decimal(d.At), []byte("RETRYCOUNT"), decimal(d.Count),
		[]byte("FORCE"), []byte("JUSTID"), []byte("LASTID"), g.LastID.Append(nil))
}

// propagateGroupID propagates the last ID of a group (t_stream.c: streamPropagateGroupID).
func (c *Call) propagateGroupID(key, group []byte, g *store.StreamGroup) {
	if c.Propagates() {
		c.Propagate([]byte("XGROUP"), []byte("SETID"), key, group, g.LastID.Append(nil),
			[]byte("ENTRIESREAD"), decimal(g.EntriesRead))
	}
}

// readAsConsumer writes the entries of one stream. It reports whether there were any.
func readAsConsumer(c *Call, o *readOptions, i int) bool {
	key, arg := o.stream(c, i)
	s, _ := store.ReadToChange[*store.Stream](c.DB, key) // a second hit, as in Redis
	g := s.Group(o.group)
	c.NotAsItCame()
	consumer := c.consumer(g, o.group, o.consumer, key)
	after, _ := parseGroupReadID(arg)
	if after != store.MaxStreamID() {
		c.beginStream(key)
		writeHistory(c, s, g, consumer, after, o.count)
		return true
	}
	idle, fresh := idleEntries(c, o, s, g), g.LastID.Less(s.NewestID())
	if len(idle) == 0 && !fresh {
		return false
	}
	c.beginStream(key)
	array, n := c.Defer(), len(idle)
	for i := range idle {
		idle[i].claim(c, s, g, consumer)
		c.propagateClaim(key, o.group, g, idle[i].id)
	}
	if fresh {
		n += readFresh(c, o, key, s, g, consumer, n)
	}
	c.EndArray(array, n)
	c.mayBeClaimed(key)
	c.Count(1)
	return true
}

// readFresh writes entries that the group has not delivered yet, after n other ones, and returns their number.
func readFresh(
	c *Call, o *readOptions, key []byte, s *store.Stream, g *store.StreamGroup, consumer *store.StreamConsumer, n int,
) (fresh int) {
	from, _ := g.LastID.Next()
	it := s.Range(from, store.MaxStreamID(), false)
	for (o.count <= 0 || int64(n+fresh) < o.count) && it.Next() {
		s.Deliver(g, consumer, it.ID, c.Now, o.noAck)
		if o.claims {
			writeDelivery(c, &it, 0, 0)
		} else {
			writeEntry(c, &it)
		}
		fresh++
		if !o.noAck {
			c.propagateClaim(key, o.group, g, it.ID)
		}
	}
	if o.noAck {
		c.propagateGroupID(key, o.group, g)
	}
	return fresh
}

// consumer returns the consumer that runs a command, and creates it if needed. Its seen time is
// updated even if the command finds nothing.
func (c *Call) consumer(g *store.StreamGroup, group, name, key []byte) *store.StreamConsumer {
	consumer, created := g.CreateConsumer(name, c.Now)
	if created {
		c.changedGroup("xgroup-createconsumer", key)
		c.Propagate([]byte("XGROUP"), []byte("CREATECONSUMER"), key, group, name)
	}
	consumer.Seen = c.Now
	return consumer
}

// writeHistory writes the entries that are pending for a consumer: this delivers them again. For a
// deleted entry it writes only the ID.
func writeHistory(
	c *Call, s *store.Stream, g *store.StreamGroup, consumer *store.StreamConsumer, after store.StreamID, count int64,
) {
	from, _ := after.Next()
	array, n := c.Defer(), 0
	pending := g.Pending(consumer, from)
	for (count <= 0 || int64(n) < count) && pending.Next() {
		n++
		if it := s.Range(pending.ID, pending.ID, false); it.Next() {
			pending.Redeliver(c.Now)
			writeEntry(c, &it)
			continue
		}
		c.Array(2)
		bulkID(c, pending.ID)
		c.NullArray()
	}
	c.EndArray(array, n)
}
