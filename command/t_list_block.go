package command

import (
	"bytes"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

func listBlockRows() []Row {
	return []Row{
		{"blpop", "key ... timeout:double",
			-3, Write | Blocking, keys(span(1, -2, 1, RW|Access|Delete)), "list", "2.0.0",
			"O(N) for N keys",
			"Removes and returns the first element of the first list that has any. Waits until one has.", blpop},
		{"brpop", "key ... timeout:double",
			-3, Write | Blocking, keys(span(1, -2, 1, RW|Access|Delete)), "list", "2.0.0",
			"O(N) for N keys",
			"Removes and returns the last element of the first list that has any. Waits until one has.", brpop},
		{"blmove", "source destination (wherefrom: LEFT | RIGHT) (whereto: LEFT | RIGHT) timeout:double",
			6, Write | DenyOOM | Blocking, keys(at(1, RW|Access|Delete), at(2, RW|Insert)), "list", "6.2.0",
			"O(1)",
			"Moves an element from one list to another. Waits until there is one.", blmove},
		{"brpoplpush", "source destination timeout:double",
			4, Write | DenyOOM | Blocking, keys(at(1, RW|Access|Delete), at(2, RW|Insert)), "list", "2.2.0",
			"O(1)",
			"Moves the last element of a list to the front of another. Waits until there is one.", brpoplpush},
		{"blmpop", "timeout:double numkeys key ... (where: LEFT | RIGHT) [COUNT count]",
			-5, Write | Blocking, keys(counted(2, RW|Access|Delete)), "list", "7.0.0",
			"O(N+M) to look at N keys and return M elements",
			"Removes and returns elements of the first list that has any. Waits until one has.", blmpop},
	}
}

// BLPOP key ... timeout (t_list.c: blpopCommand)
func blpop(c *Call) error { return popOrBlock(c, true) }

// BRPOP key ... timeout (t_list.c: brpopCommand)
func brpop(c *Call) error { return popOrBlock(c, false) }

func popOrBlock(c *Call, head bool) error {
	return blockingPop(c, store.TypeList, store.Write[*store.List], func(l *store.List, key []byte) {
		c.Array(2)
		c.Bulk(key)
		c.Bulk(popOne(l, head))
		popped(c, l, key, head, 1)
		c.Propagate(popName(head), key)
	})
}

// popName is the command that pops from an end of a list.
func popName(head bool) []byte {
	if head {
		return []byte("LPOP")
	}
	return []byte("RPOP")
}

// BLMOVE source destination (LEFT | RIGHT) (LEFT | RIGHT) timeout (t_list.c: blmoveCommand)
func blmove(c *Call) error {
	from, to, err := parseEnds(c)
	if err != nil {
		return err
	}
	return moveOrBlock(c, from, to, c.Args[5])
}

// BRPOPLPUSH source destination timeout (t_list.c: brpoplpushCommand)
func brpoplpush(c *Call) error { return moveOrBlock(c, false, true, c.Args[3]) }

func moveOrBlock(c *Call, fromHead, toHead bool, timeout []byte) error {
	ms, err := parseSeconds(c, timeout)
	if err != nil {
		return err
	}
	from, err := store.Write[*store.List](c.DB, c.Args[1])
	switch {
	case err != nil:
		return err
	case from != nil:
		if err := moveOne(c, from, fromHead, toHead); err != nil {
			return err
		}
		if c.Propagates() {
			args := slices.Clone(c.Args[:len(c.Args)-1])
			args[0] = bytes.ToUpper(args[0])[1:] // without the B
			c.Propagate(args...)
		}
	case c.mayBlock():
		c.blockOn(store.TypeList, c.Args[1:2], ms, false)
	default:
		c.Null()
	}
	return nil
}

// BLMPOP timeout numkeys key ... (LEFT | RIGHT) [COUNT count] (t_list.c: blmpopCommand)
func blmpop(c *Call) error { return bmpop(c, "left", "right", lmpopFirst, store.TypeList) }
