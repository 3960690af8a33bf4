package command

import "github.com/miniredisd/miniredisd/store"

// This file is the part that the pops of lists and of sorted sets share.

// mpopOptions are the arguments of LMPOP, ZMPOP, BLMPOP and BZMPOP.
type mpopOptions struct {
	keys  [][]byte
	first bool // LEFT or MIN, not RIGHT or MAX
	count int
}

// parseMPop reads "numkeys key ... FIRST | LAST [COUNT count]", with the two words of the type for
// the ends.
func parseMPop(args [][]byte, first, last string) (o mpopOptions, err error) {
	n, err := parseAtLeast(args[0], 1, errNumKeys)
	if err != nil {
		return o, err
	}
	if n > len(args)-2 {
		return o, errSyntax
	}
	o.keys, args = args[1:1+n], args[1+n:]
	o.first = is(args[0], first)
	if !o.first && !is(args[0], last) {
		return o, errSyntax
	}
	o.count, err = parsePopCount(args[1:])
	return o, err
}

// mpop is a command without a timeout. pop pops from the first collection of the keys and reports
// whether there was one.
func mpop(c *Call, first, last string, pop func(*Call, *mpopOptions) (done bool, err error)) error {
	o, err := parseMPop(c.Args[1:], first, last)
	if err != nil {
		return err
	}
	if done, err := pop(c, &o); done || err != nil {
		return err
	}
	c.NullArray()
	return nil
}

// bmpop is mpop with a timeout before the other arguments.
func bmpop(c *Call, first, last string, pop func(*Call, *mpopOptions) (done bool, err error), typ store.Type) error {
	o, err := parseMPop(c.Args[2:], first, last)
	if err != nil {
		return err
	}
	ms, err := parseSeconds(c, c.Args[1]) // Redis checks the timeout last
	if err != nil {
		return err
	}
	if done, err := pop(c, &o); done || err != nil {
		return err
	}
	c.nullOrBlock(typ, o.keys, ms)
	return nil
}

// firstOf returns the first collection of type T at keys, and its key. It returns the zero T if all
// keys are missing.
func firstOf[T comparable](
	c *Call, keys [][]byte, write func(*store.DB, []byte) (T, error),
) (v T, key []byte, err error) {
	var missing T
	for _, key := range keys {
		if v, err := write(c.DB, key); err != nil || v != missing {
			return v, key, err
		}
	}
	return missing, nil, nil
}

// blockingPop is the frame of BLPOP, BRPOP, BZPOPMIN and BZPOPMAX. pop pops one element and replies
// with its key and the element.
func blockingPop[T comparable](
	c *Call, typ store.Type, write func(*store.DB, []byte) (T, error), pop func(v T, key []byte),
) error {
	keys := c.Args[1 : len(c.Args)-1]
	ms, err := parseSeconds(c, c.Args[len(c.Args)-1])
	if err != nil {
		return err
	}
	var missing T
	v, key, err := firstOf(c, keys, write)
	switch {
	case err != nil:
		return err
	case v != missing:
		pop(v, key)
	default:
		c.nullOrBlock(typ, keys, ms)
	}
	return nil
}

// nullOrBlock ends a command whose keys are all empty: it blocks, or replies null if it may not.
func (c *Call) nullOrBlock(typ store.Type, keys [][]byte, ms int64) {
	if c.mayBlock() {
		c.blockOn(typ, keys, ms, false)
	} else {
		c.NullArray()
	}
}
