package command

import (
	"bytes"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// compareRows are the commands that compare a string before they change it. Locks need them: only the
// owner may renew or release. Redis and Valkey disagree about DELEX, so each has a row.
func compareRows() []Row {
	const (
		expiry = "EX seconds | PX milliseconds | EXAT unix-time-seconds:unix-time " +
			"| PXAT unix-time-milliseconds:unix-time | KEEPTTL"
		deletes = "Deletes a key if its string satisfies a condition."
	)
	pairs := counted(1, OW|Update)
	pairs.Step = 2
	return []Row{
		{"delex", "key [condition: IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest]",
			-2, Write | Fast, keys(varying(1, RW|Access|Delete, delexUses)), "string", "8.4.0,",
			"O(1), O(N) to compare N bytes or their digest",
			deletes, delex},
		{"delex", "key (condition: IFEQ ifeq-value | IFNE ifne-value)",
			4, Write, keys(at(1, RM|Delete)), "string", ",9.2.0",
			"O(N) to compare N bytes",
			deletes, delexValkey},
		{"delifeq", "key value",
			3, Write | Fast, keys(at(1, RM|Delete)), "string", ",9.0.0",
			"O(1)",
			"Deletes a key if its string equals a value.", delifeq},
		{"digest", "key",
			2, ReadOnly | Fast, keys(at(1, RO|Access)), "string", "8.4.0,",
			"O(N) for N bytes",
			"Returns the XXH3 hash of a string as 16 hexadecimal digits.", digestOf},
		{"msetex", "numkeys (data: key value) ... [condition: NX | XX] [expiration: " + expiry + "]",
			-4, Write | DenyOOM | RequestMultiShard | ResponseAllSucceeded, keys(pairs), "string", "8.4.0,9.1.0",
			"O(N) for N keys",
			"Stores several strings, with an expiry or a condition on request.", msetex},
	}
}

const (
	errDelexType store.Error = "ERR Key should be of string type if conditions are specified"
	errDelexWord store.Error = "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"
	errDigest    store.Error = "ERR digest must be exactly 16 hexadecimal characters"
	errPairCount store.Error = "ERR invalid numkeys value or out of range"
)

// comparingReads says where SET with IFEQ and its like needs the permission to read the key.
const comparingReads = "8.4.0,"

// condition is what a command asks of the string that it is about to change.
type condition uint8

const (
	noCondition condition = iota
	ifEq                  // it equals the operand
	ifNe                  // it differs, or there is none
	ifDeq                 // its digest equals the operand
	ifDne                 // its digest differs, or there is none
	ifMissing             // there is no key, of any type
	ifExists              // there is one
)

// conditionOf returns the condition of a word, and noCondition for any other word.
func conditionOf(word []byte) condition {
	switch {
	case is(word, "ifeq"):
		return ifEq
	case is(word, "ifne"):
		return ifNe
	case is(word, "ifdeq"):
		return ifDeq
	case is(word, "ifdne"):
		return ifDne
	}
	return noCondition
}

// comparesBy reports whether a word is a condition that the dialect gives to cmd.
func (c *Command) comparesBy(word []byte) bool {
	return len(c.options) > 0 && conditionOf(word) != noCondition && c.Offers(ascii.ToLower(string(word)))
}

// holds reports whether the string at a key satisfies the condition. It fails if the value is no string.
func (when condition) holds(found store.Key, operand []byte) (bool, error) {
	val, err := found.Str()
	switch {
	case when == noCondition:
		return true, nil
	case when == ifMissing || when == ifExists:
		return found.Exists() == (when == ifExists), nil
	case err != nil:
		return false, err
	case !found.Exists():
		return when == ifNe || when == ifDne, nil
	case when == ifEq || when == ifNe:
		return bytes.Equal(val, operand) == (when == ifEq), nil
	case len(operand) != digestLen:
		return false, errDigest
	}
	var room [digestLen]byte
	return bytes.EqualFold(appendDigest(room[:0], val), operand) == (when == ifDeq), nil
}

// digestLen is the length of a digest in hexadecimal digits.
const digestLen = 16

// appendDigest appends the digest of a string: XXH3 with 64 bits and seed 0, in lower case.
func appendDigest(b, val []byte) []byte {
	sum := xxh3.Hash(val)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[sum>>shift&15])
	}
	return b
}

// DIGEST key (Redis 8.4)
func digestOf(c *Call) error {
	found := c.DB.Lookup(c.Args[1], store.LookupNone)
	val, err := found.Str()
	if err != nil {
		return err
	}
	if !found.Exists() {
		c.Null()
		return nil
	}
	var room [digestLen]byte
	c.Bulk(appendDigest(room[:0], val))
	return nil
}

// DELEX key [IFEQ value | IFNE value | IFDEQ digest | IFDNE digest] (Redis 8.4)
// Redis looks at the key before it looks at the condition.
func delex(c *Call) error {
	if len(c.Args) != 2 && len(c.Args) != 4 {
		return errArity(c.Cmd.Name)
	}
	found := c.DB.Lookup(c.Args[1], store.LookupWrite)
	if !found.Exists() || len(c.Args) == 2 {
		return deleteIf(c, found, noCondition, nil)
	}
	if _, err := found.Str(); err != nil {
		return errDelexType
	}
	when := conditionOf(c.Args[2])
	if when == noCondition {
		return errDelexWord
	}
	return deleteIf(c, found, when, c.Args[3])
}

// delexUses returns how DELEX uses its key: a condition reads the value.
func delexUses(_ *Command, args [][]byte) KeyFlag {
	if len(args) > 2 {
		return RW | Access | Delete
	}
	return RM | Delete
}

// DELEX key <IFEQ value | IFNE value> (Valkey 9.2)
func delexValkey(c *Call) error {
	when := conditionOf(c.Args[2])
	if when != ifEq && when != ifNe {
		return errSyntax
	}
	return deleteIf(c, c.DB.Lookup(c.Args[1], store.LookupWrite), when, c.Args[3])
}

// DELIFEQ key value (t_string.c: delifeqCommand)
func delifeq(c *Call) error {
	return deleteIf(c, c.DB.Lookup(c.Args[1], store.LookupWrite), ifEq, c.Args[2])
}

// deleteIf deletes what was found at the key of a command if it satisfies a condition. It replies with the
// number of deleted keys.
func deleteIf(c *Call, found store.Key, when condition, operand []byte) error {
	holds, err := when.holds(found, operand)
	switch {
	case err != nil:
		return err
	case !holds || !found.Exists():
		c.Int(0)
		return nil
	}
	found.Delete()
	c.Changed(ClassGeneric, "del", c.Args[1])
	c.Propagate([]byte("DEL"), c.Args[1])
	c.Int(1)
	return nil
}

// MSETEX numkeys (key value) ... [NX | XX] [EX seconds | ... | KEEPTTL] (t_string.c: msetexCommand)
func msetex(c *Call) error {
	count, err := parseInt(c.Args[1])
	switch {
	case err != nil || count <= 0 || count > math.MaxInt32:
		return errPairCount
	case count > int64(len(c.Args)-2)/2:
		return errSyntax
	}
	end := 2 + 2*int(count)
	pairs, o := c.Args[2:end], setOptions{}
	if err := o.parse(c.Cmd, c.Args[end:], false); err != nil {
		return err
	}
	if o.get {
		return errSyntax
	}
	if err := o.resolveTTL(c); err != nil {
		return err
	}
	for i := 0; i < len(pairs); i += 2 {
		exists := c.DB.Lookup(pairs[i], store.LookupWrite).Exists()
		if o.nx && exists || o.xx && !exists {
			c.Int(0)
			return nil
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		putStr(c, pairs[i], c.DB.Lookup(pairs[i], store.LookupWrite), pairs[i+1], &o)
	}
	c.Int(1)
	return nil
}
