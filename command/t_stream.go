package command

import (
	"math"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

func streamRows() []Row {
	return []Row{
		{"xadd",
			"key [NOMKSTREAM@6.2.0] [trim: (strategy: MAXLEN | MINID@6.2.0) [operator: equal:= | approximately:~] " +
				"threshold [LIMIT count@6.2.0]] (id-selector: auto-id:* | id) (data: field value) ...",
			-5, Write | DenyOOM | Fast | NondeterministicOutput, keys(at(1, RW|Update)), "stream", "5.0.0",
			"O(1), with trimming O(N) for N deleted entries",
			"Appends an entry to a stream. Creates the stream if needed.", xadd},
		{"xdel", "key id:string ...",
			-3, Write | Fast, keys(at(1, RW|Delete)), "stream", "5.0.0",
			"O(N) for N IDs",
			"Deletes entries of a stream. Returns how many it deleted.", xdel},
		{"xinfo", "",
			-2, 0, nil, "stream", "5.0.0",
			"See the subcommands.",
			"Describes streams, their groups and consumers.", nil},
		{"xinfo|help", "",
			2, Loading | Stale, nil, "stream", "5.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
		{"xinfo|stream", "key [full-block: FULL [COUNT count]]",
			-3, ReadOnly, keys(at(2, RO|Access)), "stream", "5.0.0",
			"O(1)",
			"Describes a stream, with FULL also its entries and groups.", xinfoStream},
		{"xlen", "key",
			2, ReadOnly | Fast, keys(at(1, RO)), "stream", "5.0.0",
			"O(1)",
			"Counts the entries of a stream.", xlen},
		{"xrange", "key start:string end:string [COUNT count]",
			-4, ReadOnly, keys(at(1, RO|Access)), "stream", "5.0.0",
			"O(N) to return N entries",
			"Returns the entries between two IDs.", xrange},
		{"xread", "[COUNT count] [BLOCK milliseconds] STREAMS (streams: key ... id ...)",
			-4, ReadOnly | Blocking,
			keys(KeySpec{Flags: RO | Access, Keyword: "STREAMS", Index: 1, Last: -1, Step: 1, Limit: 2}), "stream",
			"5.0.0",
			"O(N+M) to return M entries of N streams",
			"Returns entries of streams after given IDs. Can wait for new entries.", xread},
		{"xrevrange", "key end:string start:string [COUNT count]",
			-4, ReadOnly, keys(at(1, RO|Access)), "stream", "5.0.0",
			"O(N) to return N entries",
			"Returns the entries between two IDs, newest first.", xrevrange},
		{"xsetid",
			"key last-id [ENTRIESADDED entries-added@7.0.0:integer] [MAXDELETEDID max-deleted-id@7.0.0]",
			-3, Write | DenyOOM | Fast, keys(at(1, RW|Update)), "stream", "5.0.0",
			"O(1)",
			"Sets the last ID and the counters of a stream.", xsetid},
		{"xtrim",
			"key (trim: (strategy: MAXLEN | MINID@6.2.0) [operator: equal:= | approximately:~] " +
				"threshold [LIMIT count@6.2.0])",
			-4, Write | NondeterministicOutput, keys(at(1, RW|Delete)), "stream", "5.0.0",
			"O(N) to delete N entries, which go node by node",
			"Deletes the oldest entries of a stream.", xtrim},
	}
}

const (
	errStreamZero store.Error = "ERR The ID specified in XADD must be greater than 0-0"
	errStreamFull store.Error = "ERR The stream has exhausted the last possible ID, unable to add more items"
)

// XADD key [NOMKSTREAM] [MAXLEN ... | ...] (* | id) (field value) ... (t_stream.c: xaddCommand)
func xadd(c *Call) error {
	o, err := parseTrim(c, true)
	if err != nil {
		return err
	}
	pairs := c.Args[min(o.next, len(c.Args)):]
	if len(pairs) < 2 || len(pairs)%2 != 0 {
		return errArity(c.Cmd.Name)
	}
	if o.form == idGiven && o.id.IsZero() {
		return errStreamZero
	}
	key := c.Args[1]
	var s *store.Stream
	if o.noCreate {
		s, err = store.Write[*store.Stream](c.DB, key)
	} else {
		s, err = store.WriteOrNew[*store.Stream](c.DB, key)
	}
	if err != nil {
		return err
	}
	if s == nil {
		c.Null()
		return nil
	}
	id, err := o.resolve(s, uint64(c.Now))
	if err != nil {
		return err
	}
	lim := store.StreamNodeLimits{Bytes: c.KS.Limits.StreamNodeMaxBytes, Entries: c.KS.Limits.StreamNodeMaxEntries}
	if err := s.Add(id, pairs, lim); err != nil {
		return err
	}
	c.Changed(ClassStream, "xadd", key)
	c.Ex.Waiters.ready(c.DB.ID, key)
	if o.trims && s.Trim(o.trim) > 0 {
		c.Notify(ClassStream, "xtrim", key)
	}
	if c.Propagates() && (o.form != idGiven || o.trim.Approx) {
		args := o.exactly(c, s)
		args[o.next-1] = id.Append(nil)
		c.Propagate(args...)
	}
	bulkID(c, id)
	return nil
}

// exactly returns the arguments of XADD or XTRIM with what the trimming has left over, if it was approximate
// (t_stream.c: streamRewriteTrimArgument).
func (o *trimOptions) exactly(c *Call, s *store.Stream) [][]byte {
	args := slices.Clone(c.Args)
	if !o.trim.Approx {
		return args
	}
	args[o.at-1] = []byte("=")
	if o.trim.ByID {
		first := store.MaxStreamID()
		if it := s.Range(store.StreamID{}, first, false); it.Next() {
			first = it.ID
		}
		args[o.at] = first.Append(nil)
	} else {
		args[o.at] = decimal(int64(s.Len()))
	}
	return args
}

// resolve returns the ID of the new entry.
func (o *trimOptions) resolve(s *store.Stream, now uint64) (store.StreamID, error) {
	last := s.LastID
	if last == store.MaxStreamID() {
		return last, errStreamFull
	}
	switch {
	case o.form == idAuto && now > last.Ms:
		return store.StreamID{Ms: now}, nil
	case o.form == idAuto:
		next, _ := last.Next()
		return next, nil
	case o.form == idAutoSeq && o.id.Ms == last.Ms:
		if last.Seq == math.MaxUint64 {
			return last, store.ErrStreamID
		}
		return store.StreamID{Ms: last.Ms, Seq: last.Seq + 1}, nil
	}
	return o.id, nil
}

// XTRIM key (MAXLEN | MINID) [= | ~] threshold [LIMIT count] (t_stream.c: xtrimCommand)
func xtrim(c *Call) error {
	o, err := parseTrim(c, false)
	if err != nil {
		return err
	}
	s, err := store.Write[*store.Stream](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	n := 0
	if s != nil {
		n = s.Trim(o.trim)
	}
	if n > 0 {
		c.Changed(ClassStream, "xtrim", c.Args[1])
		c.Count(n - 1)
		if c.Propagates() && o.trim.Approx {
			c.Propagate(o.exactly(c, s)...)
		}
	}
	c.Int(int64(n))
	return nil
}

// XDEL key id ... (t_stream.c: xdelCommand)
func xdel(c *Call) error {
	s, err := store.Write[*store.Stream](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if s == nil {
		c.Int(0)
		return nil
	}
	// Check all IDs first: an error must leave the stream unchanged.
	for _, arg := range c.Args[2:] {
		if _, err := parseStreamID(arg, 0); err != nil {
			return err
		}
	}
	n := 0
	for _, arg := range c.Args[2:] {
		if id, _ := parseStreamID(arg, 0); s.Delete(id) {
			n++
		}
	}
	if n > 0 {
		c.Changed(ClassStream, "xdel", c.Args[1])
		c.Count(n - 1)
	}
	c.Int(int64(n))
	return nil
}

// XLEN key (t_stream.c: xlenCommand)
func xlen(c *Call) error { return c.length(store.ReadLen[*store.Stream](c.DB, c.Args[1])) }

// XSETID key last-id [ENTRIESADDED ...] [MAXDELETEDID ...] (t_stream.c: xsetidCommand)
func xsetid(c *Call) error {
	id, err := parseStreamID(c.Args[2], 0)
	if err != nil {
		return err
	}
	added, maxDeleted := int64(-1), store.StreamID{}
	for i := 3; i < len(c.Args); i += 2 {
		switch more := i+1 < len(c.Args); {
		case more && is(c.Args[i], "entriesadded"):
			if added, err = parseInt(c.Args[i+1]); err == nil && added < 0 {
				return store.Error("ERR entries_added must be positive")
			}
		case more && is(c.Args[i], "maxdeletedid"):
			if maxDeleted, err = parseStreamID(c.Args[i+1], 0); err == nil && id.Less(maxDeleted) {
				return store.Error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
			}
		default:
			return errSyntax
		}
		if err != nil {
			return err
		}
	}
	s, err := store.Write[*store.Stream](c.DB, c.Args[1])
	switch {
	case err != nil:
		return err
	case s == nil:
		return errNoSuchKey
	case id.Less(s.MaxDeletedID):
		return store.Error("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id")
	case s.Len() > 0 && id.Less(s.NewestID()):
		return store.Error("ERR The ID specified in XSETID is smaller than the target stream top item")
	case added >= 0 && int64(s.Len()) > added:
		return store.Error("ERR The entries_added specified in XSETID is smaller than the target stream length")
	}
	s.LastID = id
	if added >= 0 {
		s.EntriesAdded = uint64(added)
	}
	if !maxDeleted.IsZero() {
		s.MaxDeletedID = maxDeleted
	}
	c.Count(1) // no key change: t_stream.c has no signalModifiedKey here
	c.Notify(ClassStream, "xsetid", c.Args[1])
	c.OK()
	return nil
}
