package command

import "github.com/miniredisd/miniredisd/store"

const (
	pushCost = "O(N) for N elements"
	popCost  = "O(N) to return N elements"
)

func listRows() []Row {
	return []Row{
		{"lpush", "key element ...",
			-3, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "list", "1.0.0",
			pushCost,
			"Prepends elements to a list, one after the other. Creates the list if needed.", lpush},
		{"rpush", "key element ...",
			-3, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "list", "1.0.0",
			pushCost,
			"Appends elements to a list. Creates the list if needed.", rpush},
		{"lpushx", "key element ...",
			-3, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "list", "2.2.0",
			pushCost,
			"Prepends elements to a list if it exists.", lpushx},
		{"rpushx", "key element ...",
			-3, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "list", "2.2.0",
			pushCost,
			"Appends elements to a list if it exists.", rpushx},
		{"lpop", "key [count@6.2.0]",
			-2, Write | Fast, keys(at(1, RW|Access|Delete)), "list", "1.0.0",
			popCost,
			"Removes and returns the first elements of a list.", lpop},
		{"rpop", "key [count@6.2.0]",
			-2, Write | Fast, keys(at(1, RW|Access|Delete)), "list", "1.0.0",
			popCost,
			"Removes and returns the last elements of a list.", rpop},
		{"llen", "key",
			2, ReadOnly | Fast, keys(at(1, RO)), "list", "1.0.0",
			"O(1)",
			"Counts the elements of a list.", llen},
		{"lindex", "key index",
			3, ReadOnly, keys(at(1, RO|Access)), "list", "1.0.0",
			"O(N) for N nodes between the element and the nearer end",
			"Returns the element at an index of a list.", lindex},
		{"lset", "key index element",
			4, Write | DenyOOM, keys(at(1, RW|Update)), "list", "1.0.0",
			"O(N) for N nodes between the element and the nearer end",
			"Replaces the element at an index of a list.", lset},
		{"lrange", "key start stop",
			4, ReadOnly, keys(at(1, RO|Access)), "list", "1.0.0",
			"O(S+N) to return N elements, which begin S nodes from the nearer end",
			"Returns the elements between two indexes, both included.", lrange},
		{"ltrim", "key start stop",
			4, Write, keys(at(1, RW|Delete)), "list", "1.0.0",
			"O(N) to remove N elements",
			"Removes the elements outside a range of indexes.", ltrim},
		{"lrem", "key count element",
			4, Write, keys(at(1, RW|Delete)), "list", "1.0.0",
			"O(N) to look at N elements",
			"Removes elements equal to a value, from either end.", lrem},
		{"linsert", "key (where: BEFORE | AFTER) pivot element",
			5, Write | DenyOOM, keys(at(1, RW|Insert)), "list", "2.2.0",
			"O(N) for N elements in front of the pivot",
			"Inserts an element before or after another one.", linsert},
		{"lpos", "key element [RANK rank:integer] [COUNT num-matches:integer] [MAXLEN len:integer]",
			-3, ReadOnly, keys(at(1, RO|Access)), "list", "6.0.6",
			"O(N) to look at N elements, at most MAXLEN",
			"Finds the indexes of elements equal to a value.", lpos},
		{"lmove", "source destination (wherefrom: LEFT | RIGHT) (whereto: LEFT | RIGHT)",
			5, Write | DenyOOM, keys(at(1, RW|Access|Delete), at(2, RW|Insert)), "list", "6.2.0",
			"O(1)",
			"Moves an element from an end of a list to an end of another.", lmove},
		{"rpoplpush", "source destination",
			3, Write | DenyOOM, keys(at(1, RW|Access|Delete), at(2, RW|Insert)), "list", "1.2.0",
			"O(1)",
			"Moves the last element of a list to the front of another.", rpoplpush},
		{"lmpop", "numkeys key ... (where: LEFT | RIGHT) [COUNT count]",
			-4, Write, keys(counted(1, RW|Access|Delete)), "list", "7.0.0",
			"O(N+M) to look at N keys and return M elements",
			"Removes and returns elements of the first list that has any.", lmpop},
	}
}

// LPUSH key element ... (t_list.c: lpushCommand)
func lpush(c *Call) error { return pushAll(c, true, false) }

// RPUSH key element ... (t_list.c: rpushCommand)
func rpush(c *Call) error { return pushAll(c, false, false) }

// LPUSHX key element ... (t_list.c: lpushxCommand)
func lpushx(c *Call) error { return pushAll(c, true, true) }

// RPUSHX key element ... (t_list.c: rpushxCommand)
func rpushx(c *Call) error { return pushAll(c, false, true) }

func pushAll(c *Call, head, existing bool) error {
	key, values := c.Args[1], c.Args[2:]
	open := store.WriteOrNew[*store.List]
	if existing {
		open = store.Write[*store.List]
	}
	l, err := open(c.DB, key)
	if err != nil {
		return err
	}
	if l == nil {
		c.Int(0)
		return nil
	}
	size := 0
	for _, v := range values {
		size += len(v)
	}
	l.Expect(len(values), size)
	l.Reserve(values)
	event := "rpush"
	if head {
		event = "lpush"
		for _, v := range values {
			l.PushHead(v)
		}
	} else {
		for _, v := range values {
			l.PushTail(v)
		}
	}
	c.Changed(ClassList, event, key)
	c.Count(len(values) - 1)
	c.Int(int64(l.Len()))
	return nil
}

// LPOP key [count] (t_list.c: lpopCommand)
func lpop(c *Call) error { return popSome(c, true) }

// RPOP key [count] (t_list.c: rpopCommand)
func rpop(c *Call) error { return popSome(c, false) }

func popSome(c *Call, head bool) error {
	count, many := 1, len(c.Args) == 3
	if len(c.Args) > 3 {
		return errArity(c.Cmd.Name)
	}
	if many {
		var err error
		if count, err = parseAtLeast(c.Args[2], 0, errPositive); err != nil {
			return err
		}
	}
	l, err := store.Write[*store.List](c.DB, c.Args[1])
	switch {
	case err != nil:
		return err
	case l == nil && many:
		c.NullArray()
	case l == nil:
		c.Null()
	case !many:
		c.Bulk(popOne(l, head))
		popped(c, l, c.Args[1], head, 1)
	case count == 0:
		c.Array(0)
	default:
		popMany(c, l, c.Args[1], head, count)
	}
	return nil
}

// popMany removes up to count elements and replies with them.
func popMany(c *Call, l *store.List, key []byte, head bool, count int) {
	count = min(count, l.Len())
	c.Array(count)
	for range count {
		c.Bulk(popOne(l, head))
	}
	popped(c, l, key, head, count)
}

func popOne(l *store.List, head bool) []byte {
	if head {
		return l.PopHead()
	}
	return l.PopTail()
}

// popped reports that n elements were popped from one end (t_list.c: listElementsRemoved).
func popped(c *Call, l *store.List, key []byte, head bool, n int) {
	event := "rpop"
	if head {
		event = "lpop"
	}
	l.Shrink()
	c.elementsRemoved(ClassList, event, key, n, l.Len())
}

// LLEN key (t_list.c: llenCommand)
func llen(c *Call) error { return c.length(store.ReadLen[*store.List](c.DB, c.Args[1])) }

// LINDEX key index (t_list.c: lindexCommand)
func lindex(c *Call) error {
	l, err := store.Read[*store.List](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if l == nil {
		c.Null()
		return nil
	}
	i, err := parseIndex(c.Args[2])
	if err != nil {
		return err
	}
	if v := l.Index(i); v != nil {
		c.Bulk(v)
	} else {
		c.Null()
	}
	return nil
}

// LSET key index element (t_list.c: lsetCommand)
func lset(c *Call) error {
	key, value := c.Args[1], c.Args[3]
	l, err := store.Write[*store.List](c.DB, key)
	if err != nil {
		return err
	}
	if l == nil {
		return errNoSuchKey
	}
	i, err := parseIndex(c.Args[2])
	if err != nil {
		return err
	}
	l.Expect(1, len(value))
	if !l.Set(i, value) {
		return errOutOfRange
	}
	c.Changed(ClassList, "lset", key)
	c.OK()
	return nil
}

// parseRange reads the two positions of LRANGE and LTRIM.
func parseRange(c *Call) (start, stop int, err error) {
	if start, err = parseIndex(c.Args[2]); err != nil {
		return 0, 0, err
	}
	stop, err = parseIndex(c.Args[3])
	return start, stop, err
}

// within turns the positions start and stop into the index and the number of the elements
// between them. n is the length of the list; negative positions count from the end.
func within(start, stop, n int) (from, count int) {
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	stop = min(stop, n-1)
	if start > stop {
		return 0, 0
	}
	return start, stop - start + 1
}

// LRANGE key start stop (t_list.c: lrangeCommand)
func lrange(c *Call) error {
	start, stop, err := parseRange(c)
	if err != nil {
		return err
	}
	l, err := store.Read[*store.List](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	from, n := 0, 0
	if l != nil {
		from, n = within(start, stop, l.Len())
	}
	c.Array(n)
	if n == 0 {
		return nil
	}
	for it := l.From(from, false); n > 0; n-- {
		v, _ := it.Next()
		c.Bulk(v)
	}
	return nil
}

// LTRIM key start stop (t_list.c: ltrimCommand)
func ltrim(c *Call) error {
	start, stop, err := parseRange(c)
	if err != nil {
		return err
	}
	key := c.Args[1]
	l, err := store.Write[*store.List](c.DB, key)
	if err != nil {
		return err
	}
	if l != nil {
		before := l.Len()
		l.Trim(within(start, stop, before))
		c.elementsRemoved(ClassList, "ltrim", key, before-l.Len(), l.Len())
	}
	c.OK()
	return nil
}

// LREM key count element (t_list.c: lremCommand)
func lrem(c *Call) error {
	count, err := parseIndex(c.Args[2])
	if err != nil {
		return err
	}
	key := c.Args[1]
	l, err := store.Write[*store.List](c.DB, key)
	if err != nil {
		return err
	}
	n := 0
	if l != nil {
		n = l.Remove(count, c.Args[3])
	}
	if n > 0 {
		c.elementsRemoved(ClassList, "lrem", key, n, l.Len())
	}
	c.Int(int64(n))
	return nil
}

// LINSERT key (BEFORE | AFTER) pivot element (t_list.c: linsertCommand)
func linsert(c *Call) error {
	after := is(c.Args[2], "after")
	if !after && !is(c.Args[2], "before") {
		return errSyntax
	}
	key, pivot, value := c.Args[1], c.Args[3], c.Args[4]
	l, err := store.Write[*store.List](c.DB, key)
	if err != nil {
		return err
	}
	if l == nil {
		c.Int(0)
		return nil
	}
	l.Expect(1, len(value))
	if !l.Insert(pivot, value, after) {
		c.Int(-1)
		return nil
	}
	c.Changed(ClassList, "linsert", key)
	c.Int(int64(l.Len()))
	return nil
}
