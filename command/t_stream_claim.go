package command

import (
	"math"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// claimOptions are the options of XCLAIM and XAUTOCLAIM.
type claimOptions struct {
	minIdle int64
	at      int64 // the new delivery time
	retries int64 // the new delivery count; -1 increments the old one
	force   bool  // also claim entries that are not pending
	justID  bool
	lastID  store.StreamID
	count   int64
	from    store.StreamID
}

const (
	errClaimIdle     store.Error = "ERR Invalid min-idle-time argument for XCLAIM"
	errAutoClaimIdle store.Error = "ERR Invalid min-idle-time argument for XAUTOCLAIM"
	errClaimCount    store.Error = "ERR COUNT must be > 0"
)

// claim assigns an entry to consumer and writes the entry. The caller has asked wants first.
func (o *claimOptions) claim(c *Call, g *store.StreamGroup, consumer *store.StreamConsumer, entry *store.StreamIter) {
	d := g.Assign(entry.ID, consumer)
	d.At = o.at
	switch {
	case o.retries >= 0:
		d.Count = o.retries
	case !o.justID:
		d.Count++
	}
	consumer.Active = c.Now
	if o.justID {
		bulkID(c, entry.ID)
	} else {
		writeEntry(c, entry)
	}
	c.Count(1)
	c.propagateClaim(c.Args[1], c.Args[2], g, entry.ID)
	c.mayBeClaimed(c.Args[1])
}

// parseClaim parses the arguments of XCLAIM. next is the first one after the IDs.
func parseClaim(c *Call) (o claimOptions, next int, err error) {
	o = claimOptions{retries: -1, at: -1}
	args, ok := c.Args, false
	if o.minIdle, ok = ascii.ParseInt(args[4]); !ok {
		return o, 0, errClaimIdle
	}
	for next = 5; next < len(args); next++ {
		if _, err := parseStreamID(args[next], 0); err != nil {
			break
		}
	}
	for i := next; i < len(args); i++ {
		ok, more := true, i+1 < len(args)
		switch arg := args[i]; {
		case is(arg, "force"):
			o.force = true
			continue
		case is(arg, "justid"):
			o.justID = true
			continue
		case more && is(arg, "idle"):
			if o.at, ok = ascii.ParseInt(args[i+1]); !ok {
				err = store.Error("ERR Invalid IDLE option argument for XCLAIM")
			}
			o.at = c.Now - o.at
		case more && is(arg, "time"):
			if o.at, ok = ascii.ParseInt(args[i+1]); !ok {
				err = store.Error("ERR Invalid TIME option argument for XCLAIM")
			}
		case more && is(arg, "retrycount"):
			if o.retries, ok = ascii.ParseInt(args[i+1]); !ok {
				err = store.Error("ERR Invalid RETRYCOUNT option argument for XCLAIM")
			}
		case more && is(arg, "lastid"):
			o.lastID, err = parseStreamID(args[i+1], 0)
		default:
			err = errorf("ERR Unrecognized XCLAIM option '%s'", arg)
		}
		if err != nil {
			return o, 0, err
		}
		i++
	}
	// A time in the future comes from a client whose clock differs: it is corrected, not refused.
	if o.at < 0 || o.at > c.Now {
		o.at = c.Now
	}
	return o, next, nil
}

// XCLAIM key group consumer min-idle-time id ... [IDLE ms] ... (t_stream.c: xclaimCommand)
func xclaim(c *Call) error {
	s, err := store.ReadToChange[*store.Stream](c.DB, c.Args[1])
	g, err := c.pendingGroup(s, err)
	if err != nil {
		return err
	}
	o, next, err := parseClaim(c)
	if err != nil {
		return err
	}
	c.NotAsItCame()
	moved := g.LastID.Less(o.lastID)
	if moved {
		g.LastID = o.lastID
	}
	consumer := c.consumer(g, c.Args[2], c.Args[3], c.Args[1])
	array, n := c.Defer(), 0
	for _, arg := range c.Args[5:next] {
		id, _ := parseStreamID(arg, 0)
		entry := s.Range(id, id, false)
		if !entry.Next() { // a deleted entry cannot be processed
			c.propagateClaim(c.Args[1], c.Args[2], g, id)
			if g.Acknowledge(id) {
				c.Count(1)
				moved = false // XCLAIM has LASTID
			}
			continue
		}
		if o.wants(g.Delivery(id), c.Now) {
			o.claim(c, g, consumer, &entry)
			n++
			moved = false
		}
	}
	c.EndArray(array, n)
	if moved {
		c.Count(1)
		c.propagateGroupID(c.Args[1], c.Args[2], g)
	}
	return nil
}

// wants reports whether to claim an entry. d is nil if the entry is not pending.
func (o *claimOptions) wants(d *store.Delivery, now int64) bool {
	if d == nil {
		return o.force
	}
	return o.minIdle <= 0 || now-d.At >= o.minIdle
}

// autoClaimAttempts limits XAUTOCLAIM: it looks at this many pending entries for each one
// requested.
const autoClaimAttempts = 10

func parseAutoClaim(c *Call) (o claimOptions, err error) {
	o = claimOptions{retries: -1, at: c.Now, count: 100}
	var ok bool
	if o.minIdle, ok = ascii.ParseInt(c.Args[4]); !ok {
		return o, errAutoClaimIdle
	}
	if o.from, err = parseStart(c.Args[5]); err != nil {
		return o, err
	}
	for i := 6; i < len(c.Args); i++ {
		switch {
		case is(c.Args[i], "count") && i+1 < len(c.Args):
			i++
			o.count, ok = ascii.ParseInt(c.Args[i])
			if !ok || o.count < 1 || o.count > math.MaxInt64/16 {
				return o, errClaimCount
			}
		case is(c.Args[i], "justid"):
			o.justID = true
		default:
			return o, errSyntax
		}
	}
	return o, nil
}

// XAUTOCLAIM key group consumer min-idle-time start ... (t_stream.c: xautoclaimCommand)
// One call continues where the last one ended. On the way, entries that the stream has deleted are
// removed from the pending entries.
func xautoclaim(c *Call) error {
	o, err := parseAutoClaim(c)
	if err != nil {
		return err
	}
	s, err := store.ReadToChange[*store.Stream](c.DB, c.Args[1])
	g, err := c.pendingGroup(s, err)
	if err != nil {
		return err
	}
	c.NotAsItCame()
	consumer := c.consumer(g, c.Args[2], c.Args[3], c.Args[1])
	var claimed, gone []store.StreamID
	end := store.StreamID{}
	it := g.Pending(nil, o.from)
	for attempts := o.count * autoClaimAttempts; it.Next(); attempts-- {
		if attempts == 0 || int64(len(claimed)+len(gone)) == o.count {
			end = it.ID
			break
		}
		if entry := s.Range(it.ID, it.ID, false); !entry.Next() {
			gone = append(gone, it.ID)
			c.propagateClaim(c.Args[1], c.Args[2], g, it.ID)
			g.Acknowledge(it.ID)
			it = g.Pending(nil, it.ID)
			c.Count(1)
			continue
		}
		if o.wants(it.Delivery, c.Now) {
			claimed = append(claimed, it.ID)
		}
	}
	c.Array(3)
	bulkID(c, end)
	c.Array(len(claimed))
	for _, id := range claimed {
		entry := s.Range(id, id, false)
		entry.Next()
		o.claim(c, g, consumer, &entry)
	}
	c.Array(len(gone))
	for _, id := range gone {
		bulkID(c, id)
	}
	return nil
}
