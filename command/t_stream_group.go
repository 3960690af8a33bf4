package command

import "github.com/miniredisd/miniredisd/store"

func streamGroupRows() []Row {
	const reading = "O(N+M) to return M entries of N streams"
	const pending = "O(N) to return N entries, with IDLE to look at N entries; without a range O(N) for N consumers"
	return []Row{
		{"xack", "key group id:string ...",
			-4, Write | Fast, keys(at(1, RW|Update)), "stream", "5.0.0",
			"O(N) for N IDs",
			"Acknowledges entries: removes them from a group's pending entries.", xack},
		{"xautoclaim", "key group consumer min-idle-time:string start:string [COUNT count] [JUSTID]",
			-6, Write | Fast | NondeterministicOutput, keys(at(1, RW|Delete)), "stream", "6.2.0",
			"O(COUNT)",
			"Finds entries that are pending for long and assigns them to a consumer.", xautoclaim},
		{"xclaim",
			"key group consumer min-idle-time:string id:string ... [IDLE ms:integer] [TIME " +
				"unix-time-milliseconds:unix-time] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid:string]",
			-6, Write | Fast | NondeterministicOutput, keys(at(1, RW|Update)), "stream", "5.0.0",
			"O(M*log(N)) for M IDs and N pending entries in the group",
			"Assigns pending entries to another consumer.", xclaim},
		{"xgroup", "",
			-2, 0, nil, "stream", "5.0.0",
			"See the subcommands.",
			"Manages consumer groups.", nil},
		{"xgroup|create", "key group (id-selector: id | new-id:$) [MKSTREAM] [ENTRIESREAD entries-read:integer]",
			-5, Write | DenyOOM, keys(at(2, RW|Insert)), "stream", "5.0.0",
			"O(1)",
			"Creates a consumer group.", xgroupCreate},
		{"xgroup|createconsumer", "key group consumer",
			5, Write | DenyOOM, keys(at(2, RW|Insert)), "stream", "6.2.0",
			"O(1)",
			"Creates a consumer in a group.", xgroupCreateConsumer},
		{"xgroup|delconsumer", "key group consumer",
			5, Write, keys(at(2, RW|Delete)), "stream", "5.0.0",
			"O(1)",
			"Deletes a consumer. Returns how many entries were pending for it.", xgroupDelConsumer},
		{"xgroup|destroy", "key group",
			4, Write, keys(at(2, RW|Delete)), "stream", "5.0.0",
			"O(N) for N pending entries in the group",
			"Deletes a consumer group.", xgroupDestroy},
		{"xgroup|help", "",
			2, Loading | Stale, nil, "stream", "5.0.0",
			"O(1)",
			"Lists the subcommands.", Help},
		{"xgroup|setid", "key group (id-selector: id | new-id:$) [ENTRIESREAD entriesread:integer/entries-read]",
			-5, Write, keys(at(2, RW|Update)), "stream", "5.0.0",
			"O(1)",
			"Sets the ID of the last entry that a group has delivered.", xgroupSetID},
		{"xinfo|consumers", "key group",
			4, ReadOnly | NondeterministicOutput, keys(at(2, RO|Access)), "stream", "5.0.0",
			"O(1)",
			"Describes the consumers of a group.", xinfoConsumers},
		{"xinfo|groups", "key",
			3, ReadOnly, keys(at(2, RO|Access)), "stream", "5.0.0",
			"O(1)",
			"Describes the consumer groups of a stream.", xinfoGroups},
		{"xpending", "key group [filters: [IDLE min-idle-time@6.2.0:integer] start:string end:string count [consumer]]",
			-3, ReadOnly | NondeterministicOutput, keys(at(1, RO|Access)), "stream", "5.0.0",
			pending,
			"Lists or counts the entries that a group has delivered but not acknowledged.", xpending},
		{"xreadgroup",
			"(group-block: GROUP group consumer) [COUNT count] [BLOCK milliseconds] [CLAIM min-idle-time@8.4.0,:integer] " +
				"[NOACK] STREAMS (streams: key ... id ...)",
			-7, Write | Blocking,
			keys(KeySpec{Flags: RO | Access, Keyword: "STREAMS", Index: 4, Last: -1, Step: 1, Limit: 2}), "stream",
			"5.0.0",
			reading,
			"Returns new or pending entries to a consumer of a group. Can wait for new entries.", xreadgroup},
	}
}

const (
	errGroupStream store.Error = "ERR The XGROUP subcommand requires the key to exist. " +
		"Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."
	errEntriesRead store.Error = "ERR value for ENTRIESREAD must be positive or -1"
	errBusyGroup   store.Error = "BUSYGROUP Consumer Group name already exists"
)

// errNoGroup is the error of XGROUP and XINFO for a missing group.
func errNoGroup(group, key []byte) error {
	return errorf("NOGROUP No such consumer group '%s' for key name '%s'", group, key)
}

// changedGroup reports a change inside a group. Watchers are not notified: Redis does not count it
// as a change of the key (t_stream.c has no signalModifiedKey there).
func (c *Call) changedGroup(event string, key []byte) {
	c.Count(1)
	c.Notify(ClassStream, event, key)
}

// groupOptions are the options of XGROUP CREATE and XGROUP SETID.
type groupOptions struct {
	makeStream  bool
	entriesRead int64
}

func parseGroupOptions(c *Call, create bool) (o groupOptions, err error) {
	o.entriesRead = store.UnknownReads
	for i := 5; i < len(c.Args); i++ {
		switch {
		case create && is(c.Args[i], "mkstream"):
			o.makeStream = true
		case is(c.Args[i], "entriesread") && i+1 < len(c.Args):
			i++
			if o.entriesRead, err = parseInt(c.Args[i]); err != nil {
				return o, err
			}
			if o.entriesRead < 0 && o.entriesRead != store.UnknownReads {
				return o, errEntriesRead
			}
		default:
			return o, errSubcommandUse(c)
		}
	}
	return o, nil
}

// XGROUP CREATE key group (id | $) [MKSTREAM] [ENTRIESREAD ...] (t_stream.c: xgroupCommand)
func xgroupCreate(c *Call) error {
	o, err := parseGroupOptions(c, true)
	if err != nil {
		return err
	}
	key, name := c.Args[2], c.Args[3]
	s, err := store.Write[*store.Stream](c.DB, key)
	switch {
	case err != nil:
		return err
	case s == nil && !o.makeStream:
		return errGroupStream
	case len(c.Args) > 8: // an option is repeated
		return errSubcommandUse(c)
	}
	id, err := parseGroupID(c.Args[4], s, parseStreamID)
	if err != nil {
		return err
	}
	if s == nil {
		if s, err = store.WriteOrNew[*store.Stream](c.DB, key); err != nil {
			return err
		}
		s.CreateGroup(name, id, o.entriesRead)
		c.Changed(ClassStream, "xgroup-create", key)
		c.OK()
		return nil
	}
	if !s.CreateGroup(name, id, o.entriesRead) {
		return errBusyGroup
	}
	c.changedGroup("xgroup-create", key)
	c.OK()
	return nil
}

// parseGroupID parses the last delivered ID of a group. s is nil if there is no stream yet.
func parseGroupID(
	arg []byte, s *store.Stream, parse func([]byte, uint64) (store.StreamID, error),
) (store.StreamID, error) {
	if len(arg) != 1 || arg[0] != '$' {
		return parse(arg, 0)
	}
	if s == nil {
		return store.StreamID{}, nil
	}
	return s.LastID, nil
}

// group looks up the stream and the group of an XGROUP subcommand.
func (c *Call) group() (s *store.Stream, g *store.StreamGroup, err error) {
	s, err = store.Write[*store.Stream](c.DB, c.Args[2])
	switch {
	case err != nil:
		return nil, nil, err
	case s == nil:
		return nil, nil, errGroupStream
	}
	if g = s.Group(c.Args[3]); g == nil {
		err = errNoGroup(c.Args[3], c.Args[2])
	}
	return s, g, err
}

// XGROUP SETID key group (id | $) [ENTRIESREAD entries-read] (t_stream.c: xgroupCommand)
func xgroupSetID(c *Call) error {
	o, err := parseGroupOptions(c, false)
	if err != nil {
		return err
	}
	s, g, err := c.group()
	if err != nil {
		return err
	}
	if len(c.Args) > 7 {
		return errSubcommandUse(c)
	}
	id, err := parseGroupID(c.Args[4], s, parseStreamEnd)
	if err != nil {
		return err
	}
	g.LastID, g.EntriesRead = id, o.entriesRead
	c.changedGroup("xgroup-setid", c.Args[2])
	c.OK()
	return nil
}

// parseStreamEnd parses "-" and "+" in addition to what parseStreamID accepts.
func parseStreamEnd(arg []byte, seq uint64) (store.StreamID, error) {
	if len(arg) == 1 {
		id, _, err := parseBound(arg, seq)
		return id, err
	}
	return parseStreamID(arg, seq)
}

// XGROUP DESTROY key group (t_stream.c: xgroupCommand)
func xgroupDestroy(c *Call) error {
	s, err := store.Write[*store.Stream](c.DB, c.Args[2])
	switch {
	case err != nil:
		return err
	case s == nil:
		return errGroupStream
	case !s.DestroyGroup(c.Args[3]):
		c.Int(0)
		return nil
	}
	c.changedGroup("xgroup-destroy", c.Args[2])
	c.Ex.Waiters.streamGone(c.DB, c.Args[2])
	c.Int(1)
	return nil
}

// XGROUP CREATECONSUMER key group consumer (t_stream.c: xgroupCommand)
func xgroupCreateConsumer(c *Call) error {
	_, g, err := c.group()
	if err != nil {
		return err
	}
	_, created := g.CreateConsumer(c.Args[4], c.Now)
	if created {
		c.changedGroup("xgroup-createconsumer", c.Args[2])
		c.Int(1)
		return nil
	}
	c.Int(0)
	return nil
}

// XGROUP DELCONSUMER key group consumer (t_stream.c: xgroupCommand)
func xgroupDelConsumer(c *Call) error {
	_, g, err := c.group()
	if err != nil {
		return err
	}
	name, n := c.Args[4], 0
	if g.Consumer(name) != nil {
		n = g.DeleteConsumer(name)
		c.changedGroup("xgroup-delconsumer", c.Args[2])
	}
	c.Int(int64(n))
	return nil
}
