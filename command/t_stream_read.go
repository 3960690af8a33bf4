package command

import (
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// XRANGE key start end [COUNT count] (t_stream.c: xrangeCommand)
func xrange(c *Call) error { return rangeEntries(c, c.Args[2], c.Args[3], false) }

// XREVRANGE key end start [COUNT count] (t_stream.c: xrevrangeCommand)
func xrevrange(c *Call) error { return rangeEntries(c, c.Args[3], c.Args[2], true) }

func rangeEntries(c *Call, start, end []byte, rev bool) error {
	from, to, err := parseInterval(start, end)
	if err != nil {
		return err
	}
	count := int64(-1)
	for i := 4; i < len(c.Args); i += 2 {
		if i+1 == len(c.Args) || !is(c.Args[i], "count") {
			return errSyntax
		}
		if count, err = parseInt(c.Args[i+1]); err != nil {
			return err
		}
		count = max(count, 0)
	}
	s, err := store.Read[*store.Stream](c.DB, c.Args[1])
	switch {
	case err != nil:
		return err
	case s == nil:
		c.Array(0)
	case count == 0:
		c.NullArray()
	default:
		it := s.Range(from, to, rev)
		writeEntries(c, &it, count)
	}
	return nil
}

const (
	errXReadGroup store.Error = "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
	errXReadNoAck store.Error = "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
	errXReadClaim store.Error = "ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead."
	errXReadNew   store.Error = "ERR The > ID can be specified only when calling XREADGROUP " +
		"using the GROUP <group> <consumer> option."
)

// XREAD [COUNT count] [BLOCK milliseconds] STREAMS (key ... id ...) (t_stream.c: xreadCommand)
// Each key is looked up twice, as in Redis: first to parse the IDs, then to read.
func xread(c *Call) error {
	o, err := parseXRead(c, false)
	if err != nil {
		return err
	}
	after := c.Ex.streamIDs[:0]
	for i := range o.streams {
		key, arg := o.stream(c, i)
		s, err := store.Read[*store.Stream](c.DB, key)
		if err != nil {
			return err
		}
		id, err := parseXReadID(c, i, arg, s)
		if err != nil {
			return err
		}
		after = append(after, id)
	}
	c.Ex.streamIDs = after
	reply, found := c.Defer(), 0
	for i := range o.streams {
		key, _ := o.stream(c, i)
		s, err := store.Read[*store.Stream](c.DB, key)
		if err != nil {
			return err
		}
		if s == nil || !after[i].Less(s.LastID) || !after[i].Less(s.NewestID()) {
			continue
		}
		c.beginStream(key)
		from, _ := after[i].Next()
		it := s.Range(from, store.MaxStreamID(), false)
		writeEntries(c, &it, o.count)
		found++
	}
	if found == 0 {
		c.Buf = c.Buf[:reply]
		c.blockOnStreams(&o, after)
		return nil
	}
	c.endStreams(reply, found)
	return nil
}

// blockOnStreams blocks a read that has found nothing. The IDs in after stay: a $ keeps the meaning
// that it had when the command began.
func (c *Call) blockOnStreams(o *readOptions, after []store.StreamID) {
	if !o.blocks || !c.mayBlock() {
		c.NullArray()
		return
	}
	w := c.blockOn(store.TypeStream, c.Args[o.first:o.first+o.streams], o.block, o.group != nil)
	w.since = append(w.since[:0], after...)
}

// beginStream writes the header of one stream in a reply.
func (c *Call) beginStream(key []byte) {
	if c.Proto < 3 {
		c.Array(2)
	}
	c.Bulk(key)
}

func (c *Call) endStreams(reply resp.Mark, found int) {
	if c.Proto < 3 {
		c.EndArray(reply, found)
	} else {
		c.EndMap(reply, found)
	}
}

// readOptions are the options of XREAD and XREADGROUP.
type readOptions struct {
	count   int64 // 0 for no limit
	first   int   // index of the first key
	streams int   // number of keys; as many IDs follow
	blocks  bool
	block   int64 // ms, 0 to wait without limit

	group, consumer []byte // XREADGROUP only
	noAck           bool
	claims          bool // CLAIM: the reply has two more elements for each new entry
	minIdle         int64
}

// stream returns the key and the ID of stream i.
func (o *readOptions) stream(c *Call, i int) (key, id []byte) {
	return c.Args[o.first+i], c.Args[o.first+o.streams+i]
}

func parseXRead(c *Call, grouped bool) (o readOptions, err error) {
	args := c.Args
	for i := 1; i < len(args) && err == nil && o.first == 0; i++ {
		more := len(args) - i - 1
		switch arg := args[i]; {
		case more > 0 && is(arg, "block"):
			if c.Ex.Scripts.Running() {
				return o, errorf("ERR %s command is not allowed with BLOCK option from scripts", args[0])
			}
			i++
			o.blocks = true
			o.block, err = ParseMillis(c, args[i])
		case more > 0 && is(arg, "count"):
			i++
			o.count, err = parseInt(args[i])
			o.count = max(o.count, 0)
		case more > 0 && is(arg, "streams"):
			o.first, o.streams = i+1, more/2
			if more%2 != 0 {
				err = errUnbalanced(c, grouped)
			}
		case more > 1 && is(arg, "group"):
			if !grouped {
				return o, errXReadGroup
			}
			o.group, o.consumer = args[i+1], args[i+2]
			i += 2
		case more > 0 && is(arg, "claim") && c.Cmd.dialect.Has(readersClaim):
			if !grouped {
				return o, errXReadClaim
			}
			i++
			o.claims = true
			o.minIdle, err = parseMinIdle(args[i])
		case is(arg, "noack"):
			if !grouped {
				return o, errXReadNoAck
			}
			o.noAck = true
		default:
			return o, errSyntax
		}
	}
	switch {
	case err != nil:
		return o, err
	case o.first == 0:
		return o, errSyntax
	case grouped && o.group == nil:
		return o, errReadGroupNoGroup
	}
	return o, nil
}

func errUnbalanced(c *Call, grouped bool) error {
	newest := '$'
	if grouped {
		newest = '>'
	}
	return errorf("ERR Unbalanced '%s' list of streams: for each stream key an ID or '%c' must be specified.",
		c.Cmd.Name, newest)
}

// parseXReadID parses the ID after which stream i is read. s is nil if the key does not exist.
func parseXReadID(c *Call, i int, arg []byte, s *store.Stream) (store.StreamID, error) {
	switch {
	case len(arg) == 1 && arg[0] == '>':
		return store.StreamID{}, errXReadNew
	case !isNewest(arg) && !c.isLast(arg):
		return parseStreamID(arg, 0)
	case c.Ex.retrying != nil:
		return c.Ex.retrying.since[i], nil
	case s == nil:
		return store.StreamID{}, nil
	case c.isLast(arg) && s.Len() > 0:
		before, _ := s.NewestID().Prev() // no ID is 0-0
		return before, nil
	}
	return s.LastID, nil
}

func isNewest(arg []byte) bool { return len(arg) == 1 && arg[0] == '$' }

// isLast reports whether arg is the ID + of newer servers: the last entry, or the next one if there is none.
func (c *Call) isLast(arg []byte) bool {
	return len(arg) == 1 && arg[0] == '+' && c.Ex.Table.Manners.lastEntry
}

// writeEntries writes the next entries of it as an array. A limit of 0 or less means all.
func writeEntries(c *Call, it *store.StreamIter, limit int64) {
	array, n := c.Defer(), 0
	for (limit <= 0 || int64(n) < limit) && it.Next() {
		writeEntry(c, it)
		n++
	}
	c.EndArray(array, n)
}

func writeEntry(c *Call, it *store.StreamIter) {
	c.Array(2)
	writeContent(c, it)
}

// writeContent writes the ID and the fields of an entry.
func writeContent(c *Call, it *store.StreamIter) {
	bulkID(c, it.ID)
	c.Array(2 * it.Fields)
	for range it.Fields {
		field, value := it.Field()
		c.Bulk(field)
		c.Bulk(value)
	}
}

func bulkID(c *Call, id store.StreamID) {
	var text [41]byte
	c.Bulk(id.Append(text[:0]))
}
