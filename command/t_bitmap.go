package command

import (
	"bytes"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errBitOffset store.Error = "ERR bit offset is not an integer or out of range"
	errBitValue  store.Error = "ERR bit is not an integer or out of range"
	errBitPosBit store.Error = "ERR The bit argument must be 1 or 0."
	errBitOpNot  store.Error = "ERR BITOP NOT must be called with a single source key."
)

func bitmapRows() []Row {
	const fields = "O(N) for N subcommands"
	return []Row{
		{"setbit", "key offset value:integer",
			4, Write | DenyOOM, keys(at(1, RW|Access|Update)), "bitmap", "2.2.0",
			"O(1)",
			"Sets one bit of a string to 0 or 1. Returns the old bit.", setbit},
		{"getbit", "key offset",
			3, ReadOnly | Fast, keys(at(1, RO|Access)), "bitmap", "2.2.0",
			"O(1)",
			"Returns one bit of a string.", getbit},
		{"bitcount", "key [range: start end [unit@7.0.0: BYTE | BIT]]",
			-2, ReadOnly, keys(at(1, RO|Access)), "bitmap", "2.6.0",
			"O(N) for N bytes",
			"Counts the bits that are 1 in a string.", bitcount},
		{"bitpos", "key bit [range: start [end-unit-block: end [unit@7.0.0: BYTE | BIT]]]",
			-3, ReadOnly, keys(at(1, RO|Access)), "bitmap", "2.8.7",
			"O(N) for N bytes",
			"Finds the first bit that is 1, or 0, in a string.", bitpos},
		{"bitop",
			"(operation: AND | OR | XOR | NOT | DIFF@8.2.0, | DIFF1@8.2.0, | ANDOR@8.2.0, | ONE@8.2.0,) destkey:key key ...",
			-4, Write | DenyOOM, keys(at(2, OW|Update), span(3, -1, 1, RO|Access)), "bitmap", "2.6.0",
			"O(N) for N bytes",
			"Combines strings bit by bit and stores the result in a key.", bitop},
		{"bitfield",
			"key [operation: (get-block: GET encoding offset) | (write: [OVERFLOW (overflow-block: WRAP | SAT | FAIL)] " +
				"(write-operation: (set-block: SET encoding offset value:integer) " +
				"| (incrby-block: INCRBY encoding offset increment)))] ...",
			-2, Write | DenyOOM, keys(varying(1, RW|Access|Update, bitfieldUses)), "bitmap", "3.2.0",
			fields,
			"Reads, sets and increments integers of any width inside a string.", bitfield},
		{"bitfield_ro", "key [get-block: GET+ encoding offset] ...",
			-2, ReadOnly | Fast, keys(at(1, RO|Access)), "bitmap", "6.0.0",
			fields,
			"Reads integers of any width inside a string.", bitfieldRO},
	}
}

// parseBitOffset reads the offset of a bit. With a '#' the offset counts fields of width bits; if
// width is 0, a '#' is an error.
func parseBitOffset(c *Call, arg []byte, width int64) (int64, error) {
	scale := int64(1)
	if width > 0 && len(arg) > 0 && arg[0] == '#' {
		arg, scale = arg[1:], width
	}
	v, ok := ascii.ParseInt(arg)
	v *= scale
	if !ok || v < 0 || v>>3 >= int64(stringLimit(c)) {
		return 0, errBitOffset
	}
	return v, nil
}

// SETBIT key offset value (bitops.c: setbitCommand)
func setbit(c *Call) error {
	key := c.Args[1]
	offset, err := parseBitOffset(c, c.Args[2], 0)
	if err != nil {
		return err
	}
	on, err := parseInt(c.Args[3])
	if err != nil || on&^1 != 0 {
		return errBitValue
	}
	b, grown, err := bitsToChange(c, key, offset, offset)
	if err != nil {
		return err
	}
	old := int64(getBits(b, offset, 1))
	if old != on {
		setBits(b, offset, 1, uint64(on))
	}
	if grown || old != on {
		c.Changed(ClassString, "setbit", key)
	}
	c.Int(old)
	return nil
}

// bitsToChange returns the string at key for writing the bits first to last, grown so that bit last exists. grown
// reports whether the string was too short before.
func bitsToChange(c *Call, key []byte, first, last int64) (b []byte, grown bool, err error) {
	found := c.DB.Lookup(key, store.LookupWrite)
	b, err = found.Str()
	if err != nil {
		return nil, false, err
	}
	size := int(last>>3) + 1
	grown = len(b) < size
	b, err = found.MutStr(key, int(first>>3), size)
	return b, grown, err
}

// GETBIT key offset (bitops.c: getbitCommand)
func getbit(c *Call) error {
	offset, err := parseBitOffset(c, c.Args[2], 0)
	if err != nil {
		return err
	}
	b, _, err := c.DB.Str(c.Args[1])
	if err != nil {
		return err
	}
	c.Int(int64(getBits(b, offset, 1)))
	return nil
}

// BITCOUNT key [start end [BYTE | BIT]] (bitops.c: bitcountCommand)
func bitcount(c *Call) error {
	if c.Ex.Table.Manners.bitArguments {
		if _, _, err := bitcountRange(c, 0); err != nil {
			return err
		}
	}
	b, ok, err := c.DB.Str(c.Args[1])
	if err != nil {
		return err
	}
	if !ok { // Redis before 7.4 does not check the options here
		c.Int(0)
		return nil
	}
	from, to, err := bitcountRange(c, int64(len(b))*8)
	if err != nil {
		return err
	}
	c.Int(countBits(b, from, to))
	return nil
}

// bitcountRange returns the range of bits that BITCOUNT counts, out of total bits.
func bitcountRange(c *Call, total int64) (from, to int64, err error) {
	args, last := c.Args[2:], int64(-1)
	if len(args) == 0 {
		return 0, total, nil
	}
	if len(args) == 1 && !c.Ex.Table.Manners.openBitcount || len(args) > 3 {
		return 0, 0, errSyntax
	}
	first, err := parseInt(args[0])
	if err != nil {
		return 0, 0, err
	}
	if len(args) > 1 {
		if last, err = parseInt(args[1]); err != nil {
			return 0, 0, err
		}
	}
	backwards := first < 0 && last < 0 && first > last
	if backwards && !c.Ex.Table.Manners.bitArguments {
		return 0, 0, nil
	}
	unit, err := parseBitUnit(args[min(2, len(args)):])
	if err != nil || backwards {
		return 0, 0, err
	}
	from, to = clampRange(first, last, total/unit)
	return from * unit, to * unit, nil
}

// parseBitUnit reads BYTE (the default) or BIT and returns the bits in one unit.
func parseBitUnit(args [][]byte) (int64, error) {
	switch {
	case len(args) == 0 || is(args[0], "byte"):
		return 8, nil
	case is(args[0], "bit"):
		return 1, nil
	}
	return 0, errSyntax
}

// BITPOS key bit [start [end [BYTE | BIT]]] (bitops.c: bitposCommand)
func bitpos(c *Call) error {
	bit, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	if bit&^1 != 0 {
		return errBitPosBit
	}
	if c.Ex.Table.Manners.bitArguments {
		if _, _, err := bitposRange(c, 0); err != nil {
			return err
		}
	}
	b, ok, err := c.DB.Str(c.Args[1])
	if err != nil {
		return err
	}
	if !ok {
		c.Int(-bit)
		return nil
	}
	from, to, err := bitposRange(c, int64(len(b))*8)
	if err != nil {
		return err
	}
	pos := findBit(b, byte(bit), from, to)
	if pos < 0 && bit == 0 && from < to && len(c.Args) < 5 {
		pos = to // without an end, zeros follow the string
	}
	c.Int(pos)
	return nil
}

// bitposRange returns the range of bits that BITPOS searches, out of total bits. Two positions
// before the beginning always mean the first unit, unlike in clampRange.
func bitposRange(c *Call, total int64) (from, to int64, err error) {
	args := c.Args[3:]
	if len(args) == 0 {
		return 0, total, nil
	}
	if len(args) > 3 {
		return 0, 0, errSyntax
	}
	first, err := parseInt(args[0])
	if err != nil {
		return 0, 0, err
	}
	unit, last := int64(8), int64(-1)
	if len(args) > 2 {
		if unit, err = parseBitUnit(args[2:]); err != nil {
			return 0, 0, err
		}
	}
	if len(args) > 1 {
		if last, err = parseInt(args[1]); err != nil {
			return 0, 0, err
		}
	}
	total /= unit
	from, to = fromEnd(first, total), min(fromEnd(last, total), total-1)+1
	return min(from, to) * unit, to * unit, nil
}

// BITOP (AND | OR | XOR | NOT) destkey key ... (bitops.c: bitopCommand)
func bitop(c *Call) error {
	op, ok := c.parseBitOp(c.Args[1])
	if !ok {
		return errSyntax
	}
	dst := c.Args[2]
	switch {
	case op == bitNot && len(c.Args) != 4:
		return errBitOpNot
	case (op == bitDiff || op == bitDiff1 || op == bitAndOr) && len(c.Args) < 5:
		return errorf("ERR BITOP %s must be called with at least two source keys.", bytes.ToUpper(c.Args[1]))
	}
	n, sources, err := bitopSources(c, c.Args[3:])
	if err != nil {
		return err
	}
	switch {
	case n > 0:
		found := c.DB.Lookup(dst, store.LookupWrite)
		result := bitopRoom(found, dst, n)
		combineBits(op, result, sources)
		found.SetRaw(dst, result, false)
		c.Changed(ClassString, "set", dst)
	case c.DB.Delete(dst):
		c.Changed(ClassGeneric, "del", dst)
	}
	c.Int(int64(n))
	return nil
}

// bitopSources returns the strings at keys and the length of the longest.
func bitopSources(c *Call, keys [][]byte) (longest int, sources [][]byte, err error) {
	const longestInt64 = 20 // digits and sign
	sources = make([][]byte, len(keys))
	for i, key := range keys {
		b, _, err := c.DB.Str(key)
		if err != nil {
			return 0, nil, err
		}
		if len(b) <= longestInt64 {
			b = bytes.Clone(b) // the text of a number lasts until the next look-up
		}
		longest = max(longest, len(b))
		sources[i] = b
	}
	return longest, sources, nil
}

// bitopRoom returns n bytes for the result: those of the string at dst if it has this length, so
// that a repeated BITOP makes no garbage.
func bitopRoom(found store.Key, dst []byte, n int) []byte {
	if old, err := found.Str(); err == nil && len(old) == n && cap(old) <= n+n/4 {
		old, _ = found.MutStr(dst, 0, n) // the key holds a string
		return old
	}
	return make([]byte, n)
}

func (c *Call) parseBitOp(name []byte) (op bitOp, ok bool) {
	switch {
	case is(name, "diff"):
		return bitDiff, c.Cmd.Offers("diff")
	case is(name, "diff1"):
		return bitDiff1, c.Cmd.Offers("diff1")
	case is(name, "andor"):
		return bitAndOr, c.Cmd.Offers("andor")
	case is(name, "one"):
		return bitOne, c.Cmd.Offers("one")
	case is(name, "and"):
		return bitAnd, true
	case is(name, "or"):
		return bitOr, true
	case is(name, "xor"):
		return bitXor, true
	case is(name, "not"):
		return bitNot, true
	}
	return 0, false
}
