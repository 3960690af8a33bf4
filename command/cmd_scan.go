package command

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/store"
)

// scanOptions are the cursor and the options of SCAN, HSCAN, SSCAN and ZSCAN.
type scanOptions struct {
	cursor uint64
	count  int
	match  []byte // nil for all names
	typ    []byte // nil for all types
	seen   int    // elements visited, whether they match or not

	half bool // only the fields of a hash, or the members of a sorted set
}

const errInvalidCursor store.Error = "ERR invalid cursor"

// half is a word that halves what a command replies. The other commands that scan have an error of their own for it.
type half struct {
	word, of string
	since    dialect.Since
}

func halves() [2]half {
	return [2]half{{"novalues", "HSCAN", "7.4.0,8.0.0"}, {"noscores", "ZSCAN", ",8.0.0"}}
}

// parseHalf reads such a word, if arg is one that the dialect has.
func (o *scanOptions) parseHalf(cmd *Command, arg []byte) (isOne bool, err error) {
	for _, h := range halves() {
		switch {
		case !is(arg, h.word) || !cmd.dialect.Has(h.since):
		case !cmd.Offers(h.word):
			return true, errorf("ERR %s option can only be used in %s", bytes.ToUpper(arg), h.of)
		default:
			o.half = true
			return true, nil
		}
	}
	return false, nil
}

// parseScan parses the cursor at an index of the arguments, and the options after it.
func (c *Call) parseScan(at int, withType bool) (o scanOptions, err error) {
	o.count = 10
	if o.cursor, err = parseCursor(c.Args[at]); err != nil {
		return o, err
	}
	for args := c.Args[at+1:]; len(args) > 0; {
		if isHalf, err := o.parseHalf(c.Cmd, args[0]); isHalf {
			if err != nil {
				return o, err
			}
			args = args[1:]
			continue
		}
		switch {
		case len(args) == 1:
			return o, errSyntax
		case is(args[0], "count"):
			if o.count, err = parseIndex(args[1]); err != nil {
				return o, err
			}
			if o.count < 1 {
				return o, errSyntax
			}
		case is(args[0], "match"):
			o.match = args[1]
			if len(o.match) == 1 && o.match[0] == '*' {
				o.match = nil
			}
		case is(args[0], "type") && withType:
			o.typ = args[1]
		default:
			return o, errSyntax
		}
		args = args[2:]
	}
	return o, nil
}

// parseCursor parses a cursor as strtoul does: an empty text is 0, a sign is allowed, and a
// negative number wraps around (db.c: parseScanCursorOrReply).
func parseCursor(arg []byte) (uint64, error) {
	if len(arg) == 0 {
		return 0, nil
	}
	digits := arg
	if arg[0] == '-' || arg[0] == '+' {
		digits = arg[1:]
	}
	v, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0, errInvalidCursor
	}
	if arg[0] == '-' {
		v = -v
	}
	return v, nil
}

// wants reports whether the name of an element matches. The scan must call it once for every
// element that it visits.
func (o *scanOptions) wants(name []byte) bool {
	o.seen++
	return o.match == nil || store.Match(o.match, name, false)
}

// scanReply replies with the next cursor and a list of elements. step visits one bucket of the
// collection, appends its matches, and returns the next bucket and the number of values appended.
// The scan ends after COUNT elements, or after ten times as many buckets (db.c:
// scanGenericCommand).
func (c *Call) scanReply(o *scanOptions, step func(cursor uint64) (next uint64, appended int)) {
	start := len(c.Buf)
	m := c.Defer()
	cursor, total := o.cursor, 0
	for visits := 0; ; visits++ {
		var n int
		cursor, n = step(cursor)
		total += n
		if cursor == 0 || o.seen >= o.count || visits/10 >= o.count {
			break
		}
	}
	c.EndArray(m, total)
	var room [40]byte
	head := append(room[:0], "*2\r\n$"...)
	var digits [20]byte
	text := strconv.AppendUint(digits[:0], cursor, 10)
	head = strconv.AppendInt(head, int64(len(text)), 10)
	head = append(append(append(head, "\r\n"...), text...), "\r\n"...)
	c.Buf = slices.Insert(c.Buf, start, head...)
}

// scanElements is HSCAN, SSCAN and ZSCAN. step visits elements from a cursor on and replies with those
// that the options select. It returns the next cursor and the number of its replies.
func scanElements[T comparable](c *Call, read func(*store.DB, []byte) (T, error),
	step func(v T, o *scanOptions, cursor uint64) (uint64, int)) error {
	o, badOptions := c.parseScan(2, false)
	if badOptions == errInvalidCursor {
		return badOptions
	}
	var missing T
	v, err := read(c.DB, c.Args[1])
	switch {
	case err != nil:
		return err
	case v == missing: // Redis ignores bad options of a missing key
		c.Array(2)
		c.BulkString("0")
		c.Array(0)
		return nil
	case badOptions != nil:
		return badOptions
	}
	c.scanReply(&o, func(cursor uint64) (uint64, int) { return step(v, &o, cursor) })
	return nil
}

// SCAN cursor [MATCH pattern] [COUNT count] [TYPE type] (db.c: scanCommand)
func scan(c *Call) error {
	o, err := c.parseScan(1, true)
	if err != nil {
		return err
	}
	c.scanReply(&o, func(cursor uint64) (uint64, int) {
		n := 0
		next := c.DB.Scan(cursor, func(key string) bool {
			o.seen++
			return o.match == nil || store.MatchString(o.match, key)
		}, func(key string, typ store.Type) {
			if o.typ == nil || is(o.typ, typ.String()) {
				c.BulkString(key)
				n++
			}
		})
		return next, n
	})
	return nil
}
