package command

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// XREADGROUP ... CLAIM min-idle-time (Redis 8.4) also delivers entries that have been pending for that long, whoever
// has them. They come first, the one that has waited longest before the others. COUNT counts both kinds. NOACK and an
// ID other than > change nothing about pending entries.

// readersClaim is since when each family has CLAIM.
const readersClaim = "8.4.0,"

const (
	errMinIdle         store.Error = "ERR min-idle-time is not an integer"
	errMinIdleNegative store.Error = "ERR min-idle-time must be a positive integer"
)

func parseMinIdle(arg []byte) (int64, error) {
	ms, ok := ascii.ParseInt(arg)
	switch {
	case !ok:
		return 0, errMinIdle
	case ms < 0:
		return 0, errMinIdleNegative
	}
	return ms, nil
}

// idleEntry is a pending entry that CLAIM takes.
type idleEntry struct {
	id        store.StreamID
	at, count int64 // of its last delivery
}

// idleEntries returns the pending entries that a read claims, in the order of the reply. An entry that the stream has
// no longer stays where it is pending.
func idleEntries(c *Call, o *readOptions, s *store.Stream, g *store.StreamGroup) (idle []idleEntry) {
	if !o.claims {
		return nil
	}
	for it := g.Pending(nil, store.StreamID{}); it.Next(); {
		if c.Now-it.At >= o.minIdle && has(s, it.ID) {
			idle = append(idle, idleEntry{it.ID, it.At, it.Count})
		}
	}
	slices.SortStableFunc(idle, func(a, b idleEntry) int { return cmp.Compare(a.at, b.at) })
	if o.count > 0 && int64(len(idle)) > o.count {
		idle = idle[:o.count]
	}
	return idle
}

func has(s *store.Stream, id store.StreamID) bool {
	it := s.Range(id, id, false)
	return it.Next()
}

// claim delivers the entry to a consumer and writes it.
func (e *idleEntry) claim(c *Call, s *store.Stream, g *store.StreamGroup, consumer *store.StreamConsumer) {
	d := g.Assign(e.id, consumer)
	d.At, d.Count = c.Now, e.count+1
	consumer.Active = c.Now
	it := s.Range(e.id, e.id, false)
	it.Next()
	writeDelivery(c, &it, max(c.Now-e.at, 0), e.count)
}

// writeDelivery writes an entry with the ms since its last delivery, and the number of deliveries until now.
func writeDelivery(c *Call, it *store.StreamIter, idle, count int64) {
	c.Array(4)
	writeContent(c, it)
	c.Int(idle)
	c.Int(count)
}

// awaitIdle makes a read that blocks run again when the first pending entry is idle for long enough.
func (c *Call) awaitIdle(o *readOptions) {
	if !o.claims || c.Sess.Hold != Blocked {
		return
	}
	first := int64(-1)
	for i := range o.streams {
		key, arg := o.stream(c, i)
		if id, _ := parseGroupReadID(arg); id != store.MaxStreamID() {
			continue
		}
		s, _ := store.ReadAt[*store.Stream](c.DB.Lookup(key, store.LookupNoEffects))
		for it := s.Group(o.group).Pending(nil, store.StreamID{}); it.Next(); {
			if (first < 0 || it.At < first) && has(s, it.ID) {
				first = it.At
			}
		}
	}
	if first < 0 {
		return // mayBeClaimed says when there is one
	}
	if at, ok := c.Ex.Clock.OnTimeline(first + o.minIdle); ok {
		c.Sess.Wait.Retry = at
	}
}

// mayBeClaimed notes that entries have become pending, or with another time. A client that waits with CLAIM looks when
// they are idle.
func (c *Call) mayBeClaimed(key []byte) {
	if c.Ex.Waiters.keys > 0 && c.Cmd.dialect.Has(readersClaim) {
		c.Ex.Waiters.ready(c.DB.ID, key)
	}
}
