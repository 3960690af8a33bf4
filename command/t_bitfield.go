package command

import (
	"math"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

const (
	errFieldType store.Error = "ERR Invalid bitfield type. " +
		"Use something like i16 u8. Note that u64 is not supported but i64 is."
	errFieldOverflow store.Error = "ERR Invalid OVERFLOW type specified"
	errFieldReadOnly store.Error = "ERR BITFIELD_RO only supports the GET subcommand"
)

// fieldOp is one subcommand of BITFIELD.
type fieldOp struct {
	kind     fieldKind
	overflow overflowMode
	field    field
	offset   int64
	arg      int64 // the value of SET, the increment of INCRBY
}

type fieldKind uint8

const (
	fieldGet fieldKind = iota
	fieldSet
	fieldIncr
)

// overflowMode says what to do with a result that does not fit into its field.
type overflowMode uint8

const (
	overflowWrap overflowMode = iota
	overflowSaturate
	overflowFail
)

// field is an integer type such as i16 or u8.
type field struct {
	signed bool
	bits   int64
}

// BITFIELD key [GET ... | SET ... | INCRBY ... | OVERFLOW ...] ... (bitops.c: bitfieldCommand)
func bitfield(c *Call) error {
	ops, last, err := parseFieldOps(c)
	if err != nil {
		return err
	}
	if last < 0 {
		return readFields(c, ops)
	}
	return changeFields(c, ops, last)
}

// BITFIELD_RO key [GET (encoding offset) ...] (bitops.c: bitfieldroCommand)
func bitfieldRO(c *Call) error {
	ops, last, err := parseFieldOps(c)
	if err != nil {
		return err
	}
	if last >= 0 {
		return errFieldReadOnly
	}
	return readFields(c, ops)
}

// parseFieldOps reads all subcommands: an error in any of them must come before the first change.
// last is the highest bit that they write, -1 if they only read.
func parseFieldOps(c *Call) (ops []fieldOp, last int64, err error) {
	last = -1
	mode := overflowWrap
	for args := c.Args[2:]; len(args) > 0; {
		if is(args[0], "overflow") && len(args) > 1 {
			if mode, err = parseOverflow(args[1]); err != nil {
				return nil, 0, err
			}
			args = args[2:]
			continue
		}
		op, n, err := parseFieldOp(c, args)
		if err != nil {
			return nil, 0, err
		}
		if op.kind != fieldGet {
			last = max(last, op.offset+op.field.bits-1)
		}
		op.overflow = mode
		ops, args = append(ops, op), args[n:]
	}
	return ops, last, nil
}

func parseOverflow(arg []byte) (overflowMode, error) {
	switch {
	case is(arg, "wrap"):
		return overflowWrap, nil
	case is(arg, "sat"):
		return overflowSaturate, nil
	case is(arg, "fail"):
		return overflowFail, nil
	}
	return 0, errFieldOverflow
}

// parseFieldOp reads the subcommand at the beginning of args and returns its length in words.
func parseFieldOp(c *Call, args [][]byte) (op fieldOp, n int, err error) {
	n = 4
	switch {
	case is(args[0], "get"):
		n = 3
	case is(args[0], "set"):
		op.kind = fieldSet
	case is(args[0], "incrby"):
		op.kind = fieldIncr
	default:
		return op, 0, errSyntax
	}
	if len(args) < n {
		return op, 0, errSyntax
	}
	if op.field, err = parseField(args[1]); err != nil {
		return op, 0, err
	}
	if op.offset, err = parseBitOffset(c, args[2], op.field.bits); err != nil {
		return op, 0, err
	}
	if op.kind != fieldGet {
		op.arg, err = parseInt(args[3])
	}
	return op, n, err
}

func parseField(arg []byte) (f field, err error) {
	if len(arg) == 0 || arg[0] != 'i' && arg[0] != 'u' {
		return f, errFieldType
	}
	bits, ok := ascii.ParseInt(arg[1:])
	f = field{arg[0] == 'i', bits}
	if !ok || bits < 1 || bits > 64 || bits == 64 && !f.signed { // u64 does not fit into an integer reply
		return f, errFieldType
	}
	return f, nil
}

func readFields(c *Call, ops []fieldOp) error {
	b, _, err := c.DB.Str(c.Args[1])
	if err != nil {
		return err
	}
	c.Array(len(ops))
	for i := range ops {
		c.Int(ops[i].field.read(b, ops[i].offset))
	}
	return nil
}

func changeFields(c *Call, ops []fieldOp, last int64) error {
	first := last
	for i := range ops {
		first = min(first, ops[i].offset)
	}
	b, grown, err := bitsToChange(c, c.Args[1], first, last)
	if err != nil {
		return err
	}
	changes := 0
	c.Array(len(ops))
	for i := range ops {
		op := &ops[i]
		old := op.field.read(b, op.offset)
		if op.kind == fieldGet {
			c.Int(old)
			continue
		}
		val, fits := op.result(old)
		if !fits && op.overflow == overflowFail {
			c.Null()
			continue
		}
		setBits(b, op.offset, op.field.bits, uint64(val))
		if grown || val != old {
			changes++
		}
		if op.kind == fieldSet {
			val = old
		}
		c.Int(val)
	}
	if changes > 0 {
		c.Changed(ClassString, "setbit", c.Args[1])
		c.Count(changes - 1)
	}
	return nil
}

// result returns the number that op stores over old, and whether the exact result fits.
func (op *fieldOp) result(old int64) (val int64, fits bool) {
	base, delta := old, op.arg
	if op.kind == fieldSet {
		base, delta = op.arg, 0
	}
	low, high := op.field.limits()
	sum := base + delta
	switch {
	case !op.field.signed && base < 0: // SET of a negative number to an unsigned field
		val = high
	case op.field.bits < 64 && base < high-math.MaxInt64: // Redis's distance to high wraps around here
		val = high
	case base > high || delta > 0 && (sum > high || sum < base):
		val = high
	case base < low || delta < 0 && (sum < low || sum > base):
		val = low
	default:
		return sum, true
	}
	if op.overflow == overflowWrap {
		val = op.field.wrap(uint64(base) + uint64(delta))
	}
	return val, false
}

// limits returns the smallest and the largest number of the type.
func (f field) limits() (low, high int64) {
	if f.signed {
		return math.MinInt64 >> (64 - f.bits), math.MaxInt64 >> (64 - f.bits)
	}
	return 0, math.MaxInt64 >> (63 - f.bits)
}

// wrap drops the bits of v that do not fit into f.
func (f field) wrap(v uint64) int64 {
	v <<= 64 - f.bits
	if f.signed {
		return int64(v) >> (64 - f.bits)
	}
	return int64(v >> (64 - f.bits))
}

func (f field) read(b []byte, offset int64) int64 {
	return f.wrap(getBits(b, offset, f.bits))
}

// bitfieldUses returns how BITFIELD uses its key. With GET subcommands only, BITFIELD reads the key;
// otherwise it also changes the key (db.c: bitfieldGetKeys).
func bitfieldUses(_ *Command, args [][]byte) KeyFlag {
	for i := 2; i < len(args); {
		left := len(args) - 1 - i
		switch {
		case is(args[i], "get") && left >= 2:
			i += 3
		case is(args[i], "overflow") && left >= 1:
			i += 2
		default:
			return RW | Access | Update
		}
	}
	return RO | Access
}
