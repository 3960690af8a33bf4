package command

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// FoundKey is one key among the arguments of a request.
type FoundKey struct {
	Index int // position of the argument
	Flags KeyFlag
}

const errInvalidKeys store.Error = "ERR Invalid arguments specified for command"

// AppendKeys appends the keys of a request (db.c: getKeysFromCommandWithSpecs). args[0] is the name of
// the command. If numkeys is not a number, appendLoosely finds the keys.
func (c *Command) AppendKeys(found []FoundKey, args [][]byte) []FoundKey {
	none := len(found)
	for i := range c.Keys {
		k := &c.Keys[i]
		if k.Flags&NotKey != 0 {
			continue
		}
		if k.Find != nil {
			for _, i := range k.Find(args) {
				found = append(found, FoundKey{i, k.Flags &^ Incomplete})
			}
			continue
		}
		begin := k.begin(args)
		if begin == 0 {
			continue
		}
		flags := k.Flags
		if k.Uses != nil {
			flags = k.Uses(c, args)
		}
		first, last, step := k.span(args, begin)
		if last < first || last >= len(args) {
			return c.appendLoosely(found[:none], args)
		}
		for i := first; i <= last; i += step {
			found = append(found, FoundKey{i, flags})
		}
	}
	return found
}

// appendLoosely appends the keys of a request whose numkeys is not a number, as Redis did before 7.0
// (db.c: genericGetKeys). It reads numkeys as C's atoi does, and adds the keys at fixed places. The
// command will refuse the request. But a client without permission for a key must hear about the
// permission, not about numkeys. A number that exceeds the arguments finds no keys. MSETEX, whose keys
// have a step, is newer and has no such way.
func (c *Command) appendLoosely(found []FoundKey, args [][]byte) []FoundKey {
	none := len(found)
	for i := range c.Keys {
		k := &c.Keys[i]
		if !k.NumKeys || k.Step > 1 || k.Index >= len(args) {
			continue
		}
		first, n := k.Index+k.First, atoi(args[k.Index])
		if n > len(args)-first {
			return found[:none]
		}
		for i := range n {
			found = append(found, FoundKey{Index: first + i})
		}
	}
	if len(found) == none {
		return found
	}
	for i := range c.Keys {
		if k := &c.Keys[i]; !k.NumKeys {
			found = append(found, FoundKey{Index: k.Index})
		}
	}
	return found
}

// atoi reads the 32-bit number at the beginning of b, as in C. Without a number it returns 0.
func atoi(b []byte) int {
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	end := 0
	for end < len(b) && ('0' <= b[end] && b[end] <= '9' || end == 0 && (b[0] == '+' || b[0] == '-')) {
		end++
	}
	n, _ := strconv.ParseInt(string(b[:end]), 10, 64) // out of range it returns the nearest number
	return int(int32(n))
}

// begin returns the argument at which the search begins, or 0 if the keyword is missing.
func (k *KeySpec) begin(args [][]byte) int {
	if k.Keyword == "" {
		return k.Index
	}
	word := strings.ToLower(k.Keyword)
	if k.Index < 0 {
		for i := len(args) + k.Index; i > 0; i-- {
			if i+1 < len(args) && is(args[i], word) {
				return i + 1
			}
		}
		return 0
	}
	for i := k.Index; i+1 < len(args); i++ {
		if is(args[i], word) {
			return i + 1
		}
	}
	return 0
}

// span returns the range of keys from begin on. If there are none, last is before first or after the
// arguments.
func (k *KeySpec) span(args [][]byte, begin int) (first, last, step int) {
	if begin >= len(args) {
		return 0, -1, 1
	}
	first, last, step = begin, begin+k.Last, max(k.Step, 1)
	switch {
	case k.NumKeys:
		n, ok := ascii.ParseInt(args[begin])
		if !ok || int32(n) < 1 {
			return 0, -1, 1
		}
		first = begin + k.First
		last = first + (int(int32(n))-1)*step
	case k.Last < 0 && k.Limit > 1:
		last = begin + (len(args)-begin)/k.Limit - 1
	case k.Last < 0:
		last = len(args) + k.Last
	}
	return first, last, step
}

// legacyRange returns the keys as COMMAND INFO showed them before key specifications: the first and
// last position and a step (server.c: populateCommandLegacyRangeSpec).
func (c *Command) legacyRange() (first, last, step int) {
	for i := range c.Keys {
		k := &c.Keys[i]
		if k.Keyword != "" || k.NumKeys || k.unknown() {
			continue
		}
		to := k.Last
		if to >= 0 {
			to += k.Index
		}
		switch {
		case first == 0:
			first, last, step = k.Index, to, max(k.Step, 1)
		case last >= 0 && k.Index == last+1 && step == max(k.Step, 1):
			last = to
		}
	}
	return first, last, step
}

// movable reports whether legacyRange misses keys (COMMAND INFO: movablekeys).
func (c *Command) movable() bool {
	first, ranges := 0, 0
	for i := range c.Keys {
		k := &c.Keys[i]
		if k.Keyword != "" || k.NumKeys || k.unknown() || k.Flags&Incomplete != 0 {
			return true
		}
		if first == 0 || k.Index != first+1 {
			ranges++
		}
		first = k.Index
	}
	return false
}

// AppendSubjects appends the keys or the channels of a request, for the lab. A request with a wrong
// number of arguments has none.
func (c *Command) AppendSubjects(found, args [][]byte) [][]byte {
	if !c.takes(len(args)) {
		return found
	}
	switch c.Channels {
	case acl.FirstChannel:
		return append(found, args[1])
	case acl.EveryChannel, acl.EveryPattern:
		return append(found, args[1:]...)
	}
	var few [8]FoundKey // on the stack: the lab asks this of each request
	for _, key := range c.AppendKeys(few[:0], args) {
		found = append(found, args[key.Index])
	}
	return found
}
