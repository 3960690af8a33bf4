package command

import (
	"math"

	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/store"
)

// This file has the arguments of the commands for fields that expire. Valkey looks for the word FIELDS and
// reads the options before it. Redis has a place for each of them.

// Where the families disagree about fields that expire: since when each of them has this.
const (
	placedFields  dialect.Since = "7.4.0," // options have places, and each mistake its own text
	limitedFields dialect.Since = "7.4.0," // an expiry is at most 2^46 ms
	packedFields  dialect.Since = "7.4.0," // a small hash with such fields is a listpackex
	pastExpires   dialect.Since = ",9.0.0" // a time in the past is the event hexpired, and not hdel
	xEvents       dialect.Since = ",9.0.0" // a field that expires by itself is an event of class x, and not h
)

const (
	errFieldCount   store.Error = "ERR numfields should be greater than 0 and match the provided number of fields"
	errNoFields     store.Error = "ERR Mandatory argument FIELDS is missing or not at the right position"
	errNumFields    store.Error = "ERR Parameter `numFields` should be greater than 0"
	errFieldsNumber store.Error = "ERR Number of fields must be a positive integer"
	errFieldsMatch  store.Error = "ERR The `numfields` parameter must match the number of arguments"
	errFieldsGiven  store.Error = "ERR invalid number of fields"
	errNegativeTime store.Error = "ERR invalid expire time, must be >= 0"
	errTwoChecks    store.Error = "ERR Only one of FXX or FNX arguments can be specified"
	errTwoTimes     store.Error = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified"
)

// fieldsAt returns the place of the word FIELDS in args, from a place on, or 0. It is not the last word.
func fieldsAt(args [][]byte, from int) int {
	for i := from; i < len(args)-1; i++ {
		if is(args[i], "fields") {
			return i
		}
	}
	return 0
}

// countedFields returns the arguments after FIELDS numfields, which are at a place. Each field has size of them.
func countedFields(args [][]byte, at, size int) ([][]byte, error) {
	n, err := parseInt(args[at+1])
	if err != nil {
		return nil, err
	}
	fields := args[at+2:]
	if n <= 0 || n > int64(len(fields)) || int(n)*size != len(fields) {
		return nil, errFieldCount
	}
	return fields, nil
}

// placedCount is countedFields for Redis, which has other words.
func placedCount(args [][]byte, at, size int, notPositive, mismatch error) ([][]byte, error) {
	if at >= len(args)-1 || !is(args[at], "fields") {
		return nil, errNoFields
	}
	n, err := parseInt(args[at+1])
	if err != nil || n <= 0 {
		return nil, notPositive
	}
	fields := args[at+2:]
	if n > int64(len(fields)) || int(n)*size != len(fields) {
		return nil, mismatch
	}
	return fields, nil
}

// parseFields returns the fields of a command without options: key FIELDS numfields field ...
func parseFields(c *Call) ([][]byte, error) {
	if c.Cmd.dialect.Has(placedFields) {
		if _, err := store.ReadAt[*store.Hash](c.DB.Peek(c.Args[1])); err != nil {
			return nil, err
		}
		return placedCount(c.Args, 2, 1, errFieldsNumber, errFieldsMatch)
	}
	if !is(c.Args[2], "fields") {
		return nil, errSyntax
	}
	fields, err := countedFields(c.Args, 2, 1)
	if err == errFieldCount && c.Cmd.Flags&ReadOnly != 0 {
		return nil, errSyntax
	}
	return fields, err
}

// parseHexpire returns the expiry, the condition and the fields of HEXPIRE and its relatives.
func parseHexpire(c *Call, unit ttlUnit) (at int64, o expireConditions, fields [][]byte, err error) {
	if c.Cmd.dialect.Has(placedFields) {
		return parsePlacedHexpire(c, unit)
	}
	place := fieldsAt(c.Args, 3)
	if place == 0 {
		return 0, o, nil, errFieldCount
	}
	if o, err = parseExpireConditions(c.Args[3:place]); err != nil {
		return 0, o, nil, err
	}
	if fields, err = countedFields(c.Args, place, 1); err != nil {
		return 0, o, nil, err
	}
	at, err = fieldTime(c, unit, c.Args[2])
	return at, o, fields, err
}

// parsePlacedHexpire is parseHexpire for Redis: one condition, then FIELDS.
func parsePlacedHexpire(c *Call, unit ttlUnit) (at int64, o expireConditions, fields [][]byte, err error) {
	if _, err = store.ReadAt[*store.Hash](c.DB.Peek(c.Args[1])); err != nil {
		return 0, o, nil, err
	}
	if at, err = fieldTime(c, unit, c.Args[2]); err != nil {
		return 0, o, nil, err
	}
	place := 3
	if !is(c.Args[3], "fields") {
		if o, err = parseExpireConditions(c.Args[3:4]); err != nil {
			return 0, o, nil, errNoFields
		}
		place = 4
	}
	fields, err = placedCount(c.Args, place, 1, errNumFields, errFieldsMatch)
	return at, o, fields, err
}

// fieldTime turns the expiry of a field into a Unix time in ms.
func fieldTime(c *Call, unit ttlUnit, arg []byte) (int64, error) {
	v, err := parseInt(arg)
	if err != nil {
		return 0, err
	}
	if v < 0 && c.Cmd.dialect.Has(placedFields) {
		return 0, errNegativeTime
	}
	invalid := v < 0
	if unit == ttlEX || unit == ttlEXAT {
		invalid = invalid || v > math.MaxInt64/1000
		v *= 1000
	}
	if unit == ttlEX || unit == ttlPX {
		invalid = invalid || v > math.MaxInt64-c.Now
		v += c.Now
	}
	if invalid || v > fieldLimit(c) {
		return 0, errorf("ERR invalid expire time in '%s' command", c.Cmd.Name)
	}
	return v, nil
}

// hashOptions are the options of HGETEX and HSETEX.
type hashOptions struct {
	nx, xx, fnx, fxx, keepTTL, persist bool

	unit     ttlUnit
	ttl      []byte   // the argument after unit, not parsed yet
	expireAt int64    // unit and ttl as a Unix time in ms
	fields   [][]byte // for HSETEX each followed by its value
}

// parseHashOptions reads the arguments of HGETEX or HSETEX. The time is read later, by resolve.
func parseHashOptions(c *Call, get bool) (o hashOptions, err error) {
	if c.Cmd.dialect.Has(placedFields) {
		if get {
			err = o.parsePlacedGet(c)
		} else {
			err = o.parsePlacedSet(c)
		}
		return o, err
	}
	place, size := fieldsAt(c.Args, 2), 2
	if place == 0 {
		return o, errFieldCount
	}
	if get {
		size = 1
	}
	for i := 2; i < place; i++ {
		var next []byte
		if i+1 < place {
			next = c.Args[i+1]
		}
		used, ok := o.option(c, c.Args[i], next, get)
		if !ok {
			return o, errSyntax
		}
		i += used
	}
	o.fields, err = countedFields(c.Args, place, size)
	return o, err
}

// option takes a word of Valkey's, and perhaps the next one. An option may be repeated: the last time counts.
func (o *hashOptions) option(c *Call, word, next []byte, get bool) (used int, ok bool) {
	unit := ttlUnitOf(word)
	switch {
	case !get && !o.xx && is(word, "nx") && c.Cmd.Offers("nx"):
		o.nx = true
	case !get && !o.nx && is(word, "xx") && c.Cmd.Offers("xx"):
		o.xx = true
	case !get && !o.fxx && is(word, "fnx"):
		o.fnx = true
	case !get && !o.fnx && is(word, "fxx"):
		o.fxx = true
	case !get && o.unit == ttlNone && is(word, "keepttl"):
		o.keepTTL = true
	case get && o.unit == ttlNone && is(word, "persist"):
		o.persist = true
	case unit != ttlNone && (o.unit == ttlNone || o.unit == unit) && !o.keepTTL && !o.persist && next != nil:
		o.unit, o.ttl = unit, next
		return 1, true
	default:
		return 0, false
	}
	return 0, true
}

// parsePlacedGet reads the arguments of Redis's HGETEX: at most one option, then FIELDS.
func (o *hashOptions) parsePlacedGet(c *Call) (err error) {
	if _, err := store.ReadAt[*store.Hash](c.DB.Peek(c.Args[1])); err != nil {
		return err
	}
	place := 2
	switch unit := ttlUnitOf(c.Args[2]); {
	case unit != ttlNone:
		o.unit, o.ttl, place = unit, c.Args[3], 4
		if err := o.resolve(c); err != nil {
			return err
		}
	case is(c.Args[2], "persist"):
		o.persist, place = true, 3
	}
	o.fields, err = placedCount(c.Args, place, 1, errFieldsNumber, errFieldsMatch)
	return err
}

// parsePlacedSet reads the arguments of Redis's HSETEX: options in any order, then FIELDS.
func (o *hashOptions) parsePlacedSet(c *Call) (err error) {
	for i := 2; i < len(c.Args); i++ {
		word, timed := c.Args[i], o.unit != ttlNone || o.keepTTL
		switch unit := ttlUnitOf(word); {
		case is(word, "fields"):
			if i == len(c.Args)-1 {
				return errArity(c.Cmd.Name)
			}
			o.fields, err = placedCount(c.Args, i, 2, errFieldsGiven, errArity(c.Cmd.Name))
			return err
		case is(word, "fnx"), is(word, "fxx"):
			if o.fnx || o.fxx {
				return errTwoChecks
			}
			o.fnx, o.fxx = is(word, "fnx"), is(word, "fxx")
		case (unit != ttlNone || is(word, "keepttl")) && timed:
			return errTwoTimes
		case is(word, "keepttl"):
			o.keepTTL = true
		case unit != ttlNone && i+1 < len(c.Args):
			i++
			o.unit, o.ttl = unit, c.Args[i]
			if err := o.resolve(c); err != nil {
				return err
			}
		default:
			return errorf("ERR unknown argument: %s", word)
		}
	}
	return errNoFields
}

// resolve reads the time.
func (o *hashOptions) resolve(c *Call) (err error) {
	if o.unit != ttlNone {
		o.expireAt, err = fieldTime(c, o.unit, o.ttl)
	}
	return err
}

// fieldLimit is the Unix time in ms from which on Redis takes no expiry of a field. Valkey has no limit.
func fieldLimit(c *Call) int64 {
	if c.Cmd.dialect.Has(limitedFields) {
		return 1 << 46
	}
	return math.MaxInt64
}
