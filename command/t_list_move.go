package command

import (
	"bytes"
	"math"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// The errors of LPOS (t_list.c: lposCommand).
const (
	errRankZero store.Error = "ERR RANK can't be zero: use 1 to start from the first match, " +
		"2 from the second ... or use negative to start from the end of the list"
	errRankRange store.Error = "ERR value is out of range, " +
		"value must between -9223372036854775807 and 9223372036854775807"
	errCountNegative  store.Error = "ERR COUNT can't be negative"
	errMaxLenNegative store.Error = "ERR MAXLEN can't be negative"
)

// parseEnd reads LEFT or RIGHT.
func parseEnd(arg []byte) (head bool, err error) {
	if head = is(arg, "left"); !head && !is(arg, "right") {
		err = errSyntax
	}
	return head, err
}

// LMOVE source destination (LEFT | RIGHT) (LEFT | RIGHT) (t_list.c: lmoveCommand)
func lmove(c *Call) error {
	from, to, err := parseEnds(c)
	if err != nil {
		return err
	}
	return moveOrNull(c, from, to)
}

// parseEnds reads the two ends of LMOVE and BLMOVE.
func parseEnds(c *Call) (from, to bool, err error) {
	if from, err = parseEnd(c.Args[3]); err == nil {
		to, err = parseEnd(c.Args[4])
	}
	return from, to, err
}

// RPOPLPUSH source destination (t_list.c: rpoplpushCommand)
func rpoplpush(c *Call) error { return moveOrNull(c, false, true) }

func moveOrNull(c *Call, fromHead, toHead bool) error {
	from, err := store.Write[*store.List](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if from == nil {
		c.Null()
		return nil
	}
	return moveOne(c, from, fromHead, toHead)
}

// moveOne pops an element from one end of a list and pushes it to an end of another list or of the
// same one (t_list.c: lmoveGenericCommand).
func moveOne(c *Call, from *store.List, fromHead, toHead bool) error {
	src, dst := c.Args[1], c.Args[2]
	to, err := store.WriteOrNew[*store.List](c.DB, dst)
	if err != nil {
		return err
	}
	// A push may overwrite the memory of the popped element, so the copy in the reply is pushed.
	quick := from.Encoding() == "quicklist"
	value := popOne(from, fromHead)
	c.Bulk(value)
	value = c.Buf[len(c.Buf)-2-len(value) : len(c.Buf)-2]
	size := len(value)
	if _, ok := ascii.ParseInt(value); ok && quick {
		size = 0 // Redis pops a number, and does not count its digits
	}
	to.Expect(1, size)
	event := "rpush"
	if toHead {
		event = "lpush"
		to.PushHead(value)
	} else {
		to.PushTail(value)
	}
	c.Moved(ClassList, event, dst)
	popped(c, from, src, fromHead, 1)
	return nil
}

// LMPOP numkeys key ... (LEFT | RIGHT) [COUNT count] (t_list.c: lmpopCommand)
func lmpop(c *Call) error { return mpop(c, "left", "right", lmpopFirst) }

// lmpopFirst replies with elements of the first list that exists. done reports whether there was
// one.
func lmpopFirst(c *Call, o *mpopOptions) (done bool, err error) {
	l, key, err := firstOf(c, o.keys, store.Write[*store.List])
	if l == nil {
		return false, err
	}
	c.Array(2)
	c.Bulk(key)
	count := min(o.count, l.Len())
	popMany(c, l, key, o.first, count)
	if c.Propagates() {
		c.Propagate(popName(o.first), key, decimal(int64(count)))
	}
	return true, nil
}

// lposOptions are the options of LPOS.
type lposOptions struct {
	skip   int // matches to skip
	back   bool
	many   bool // the reply is an array
	count  int  // matches to return
	maxLen int  // elements to compare
}

func parseLposOptions(args [][]byte) (o lposOptions, err error) {
	o = lposOptions{count: 1, maxLen: math.MaxInt}
	for ; len(args) >= 2; args = args[2:] {
		switch {
		case is(args[0], "rank"):
			err = o.setRank(args[1])
		case is(args[0], "count"):
			o.count, err = parseAtLeast(args[1], 0, errCountNegative)
			o.many = true
		case is(args[0], "maxlen"):
			o.maxLen, err = parseAtLeast(args[1], 0, errMaxLenNegative)
		default:
			err = errSyntax
		}
		if err != nil {
			return o, err
		}
	}
	if len(args) > 0 {
		return o, errSyntax
	}
	if o.count == 0 {
		o.count = math.MaxInt
	}
	if o.maxLen == 0 {
		o.maxLen = math.MaxInt
	}
	return o, nil
}

func (o *lposOptions) setRank(arg []byte) error {
	rank, err := parseIndex(arg)
	switch {
	case err != nil:
		return err
	case rank == math.MinInt:
		return errRankRange
	case rank == 0:
		return errRankZero
	}
	o.back = rank < 0
	o.skip = max(rank, -rank) - 1
	return nil
}

// LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len] (t_list.c: lposCommand)
func lpos(c *Call) error {
	o, err := parseLposOptions(c.Args[3:])
	if err != nil {
		return err
	}
	l, err := store.Read[*store.List](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	var mark resp.Mark
	if o.many {
		mark = c.Defer()
	}
	found := 0
	if l != nil {
		found = findAll(c, l, c.Args[2], &o)
	}
	if o.many {
		c.EndArray(mark, found)
	} else if found == 0 {
		c.Null()
	}
	return nil
}

// findAll writes the indexes of the matches and returns their number.
func findAll(c *Call, l *store.List, value []byte, o *lposOptions) (found int) {
	i, step := 0, 1
	if o.back {
		i, step = l.Len()-1, -1
	}
	skip, it := o.skip, l.From(i, o.back)
	for range min(o.maxLen, l.Len()) {
		if v, _ := it.Next(); bytes.Equal(v, value) {
			if skip--; skip < 0 {
				c.Int(int64(i))
				if found++; found == o.count {
					break
				}
			}
		}
		i += step
	}
	return found
}
