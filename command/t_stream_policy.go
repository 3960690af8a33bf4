package command

import "github.com/miniredisd/miniredisd/store"

// streamPolicyRows are the commands that delete entries and say what becomes of those who still have them
// pending.
func streamPolicyRows() []Row {
	const rest = "[condition: KEEPREF | DELREF | ACKED] (ids: IDS numids id:string ...)"
	return []Row{
		{"xackdel", "key group:string " + rest,
			-6, Write | Fast, keys(at(1, RW|Delete)), "stream", "8.2.0,9.2.0",
			"O(N) for N IDs",
			"Acknowledges entries for a group, and deletes those that its policy allows.", xackdel},
		{"xdelex", "key " + rest,
			-5, Write | Fast, keys(at(1, RW|Delete)), "stream", "8.2.0,9.2.0",
			"O(N*G) for N IDs and G groups",
			"Deletes entries of a stream that its policy allows.", xdelex},
	}
}

const (
	errIDCount   store.Error = "ERR Number of IDs must be a positive integer"
	errIDsMissed store.Error = "ERR The `numids` parameter must match the number of arguments"
)

// Where the families disagree about ACKED: Redis keeps an entry of a stream without groups, and Valkey says of
// an entry that is gone and still pending that it is referenced.
const (
	ackedNeedsGroup = "8.2.0,"
	ghostsAreKept   = ",9.2.0"
)

// refPolicy is what a deletion does to the groups that have the entry pending.
type refPolicy uint8

const (
	keepRefs refPolicy = iota // they keep it, as with XDEL
	dropRefs                  // they forget it
	onlyFree                  // if one has it pending or may still read it, the entry stays
)

// The replies for an ID.
const (
	noSuchEntry  = -1
	entryDeleted = 1
	entryKept    = 2 // because of ACKED
)

// parseDeletion parses [KEEPREF | DELREF | ACKED] IDS numids id ..., in any order.
func parseDeletion(args [][]byte) (policy refPolicy, ids []store.StreamID, err error) {
	chosen := false
	for i := 0; i < len(args); i++ {
		word, known := refPolicyOf(args[i])
		switch {
		case known && !chosen:
			policy, chosen = word, true
		case ids == nil && i+1 < len(args) && is(args[i], "ids"):
			n, err := parseInt(args[i+1])
			switch {
			case err != nil || n <= 0:
				return policy, nil, errIDCount
			case n > int64(len(args)-i-2):
				return policy, nil, errIDsMissed
			}
			i += 2
			for _, arg := range args[i : i+int(n)] {
				id, err := parseStreamID(arg, 0)
				if err != nil {
					return policy, nil, err
				}
				ids = append(ids, id)
			}
			i += int(n) - 1
		default:
			return policy, nil, errSyntax
		}
	}
	if ids == nil {
		return policy, nil, errSyntax
	}
	return policy, ids, nil
}

func refPolicyOf(word []byte) (policy refPolicy, known bool) {
	switch {
	case is(word, "keepref"):
		return keepRefs, true
	case is(word, "delref"):
		return dropRefs, true
	case is(word, "acked"):
		return onlyFree, true
	}
	return keepRefs, false
}

// XDELEX key [KEEPREF | DELREF | ACKED] IDS numids id ... (Redis 8.2)
func xdelex(c *Call) error { return c.deleteEntries(2, nil) }

// XACKDEL key group [KEEPREF | DELREF | ACKED] IDS numids id ... (Redis 8.2)
func xackdel(c *Call) error { return c.deleteEntries(3, c.Args[2]) }

// deleteEntries executes XDELEX and, with the name of a group, XACKDEL. from is the first option.
func (c *Call) deleteEntries(from int, group []byte) error {
	policy, ids, err := parseDeletion(c.Args[from:])
	if err != nil {
		return err
	}
	s, err := store.Write[*store.Stream](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	d := deletion{s: s, policy: policy, of: c.Cmd}
	if s != nil && group != nil {
		if d.by = s.Group(group); d.by == nil {
			d.s = nil // there is nothing to acknowledge
		}
	}
	c.Array(len(ids))
	for _, id := range ids {
		c.Int(d.one(id))
	}
	switch {
	case d.deleted > 0:
		c.Changed(ClassStream, "xdel", c.Args[1])
		c.Count(d.deleted + d.forgotten - 1)
	case d.forgotten > 0:
		c.Touched(c.Args[1])
		c.Count(d.forgotten - 1)
	}
	return nil
}

// deletion deletes entries of a stream, one after another.
type deletion struct {
	s      *store.Stream // nil if there is nothing to delete from
	by     *store.StreamGroup
	policy refPolicy
	of     *Command

	deleted, forgotten int // entries; pending entries
}

// one deletes an entry if the policy allows it, and returns the reply for it.
func (d *deletion) one(id store.StreamID) int64 {
	if d.s == nil || d.by != nil && !d.acknowledge(d.by, id) {
		return noSuchEntry
	}
	it := d.s.Range(id, id, false)
	there := it.Next()
	switch {
	case d.policy == dropRefs:
		for g := range d.s.Groups.All() {
			d.acknowledge(g, id)
		}
	case d.policy == onlyFree && d.kept(id, there):
		return entryKept
	}
	if there {
		d.s.Delete(id)
		d.deleted++
	}
	if there || d.by != nil {
		return entryDeleted
	}
	return noSuchEntry
}

// kept reports whether ACKED keeps an entry.
func (d *deletion) kept(id store.StreamID, there bool) bool {
	if !there {
		return d.pending(id) && (d.by != nil || d.of.dialect.Has(ghostsAreKept))
	}
	return d.pending(id) || d.awaited(id)
}

func (d *deletion) acknowledge(g *store.StreamGroup, id store.StreamID) bool {
	was := g.Acknowledge(id)
	if was {
		d.forgotten++
	}
	return was
}

// pending reports whether a group has the entry pending.
func (d *deletion) pending(id store.StreamID) bool {
	for g := range d.s.Groups.All() {
		if g.Delivery(id) != nil {
			return true
		}
	}
	return false
}

// awaited reports whether a group may still read the entry.
func (d *deletion) awaited(id store.StreamID) bool {
	groups := 0
	for g := range d.s.Groups.All() {
		if g.LastID.Less(id) {
			return true
		}
		groups++
	}
	return groups == 0 && d.of.dialect.Has(ackedNeedsGroup)
}
