package command

import (
	"bytes"

	"github.com/miniredisd/miniredisd/store"
)

// hiddenKeys stands for the keys that BY and GET build from the elements: the arguments do not name
// them.
func hiddenKeys([][]byte) []int { return nil }

// sortDestination returns the key of the last STORE that is not the argument of another option
// (db.c: sortGetKeys).
func sortDestination(args [][]byte) (found []int) {
	for i := 2; i < len(args); i++ {
		switch {
		case is(args[i], "limit"):
			i += 2
		case is(args[i], "get"), is(args[i], "by"):
			i++
		case is(args[i], "store") && i+1 < len(args):
			found = []int{i + 1}
		}
	}
	return found
}

// parse parses the options (sort.c: sortCommandGeneric). A BY pattern without a * turns sorting
// off, even if another BY follows.
func (s *sorter) parse(c *Call, args [][]byte, mayStore bool) error {
	for i := 0; i < len(args); i++ {
		a, left := args[i], len(args)-i-1
		switch {
		case is(a, "asc"):
			s.desc = false
		case is(a, "desc"):
			s.desc = true
		case is(a, "alpha"):
			s.alpha = true
		case is(a, "limit") && left >= 2:
			var err error
			if s.offset, err = parseIndex(args[i+1]); err != nil {
				return err
			}
			if s.count, err = parseIndex(args[i+2]); err != nil {
				return err
			}
			i += 2
		case mayStore && is(a, "store") && left >= 1:
			i++
			s.dst = args[i]
		case is(a, "by") && left >= 1:
			i++
			p := parseSortPattern(args[i])
			if p.named && c.Ex.Cluster != nil {
				return errSortByCluster
			}
			if p.named && !c.Ex.permissions.allowsAllKeys(c) {
				return errSortBy
			}
			s.by = &p
			s.unsorted = s.unsorted || !p.named
		case is(a, "get") && left >= 1:
			i++
			if c.Ex.Cluster != nil {
				return errSortGetCluster
			}
			if !c.Ex.permissions.allowsAllKeys(c) {
				return errSortGet
			}
			s.get = append(s.get, parseSortPattern(args[i]))
		default:
			return errSyntax
		}
	}
	return nil
}

// sortPattern is a pattern of BY or GET: # for the element itself, or the name of a key in which
// the element replaces the *. After -> it names a field of a hash.
type sortPattern struct {
	self, named          bool
	before, after, field []byte
}

func parseSortPattern(text []byte) sortPattern {
	before, after, named := bytes.Cut(text, []byte("*"))
	p := sortPattern{self: string(text) == "#", named: named, before: before, after: after}
	if name, field, ok := bytes.Cut(after, []byte("->")); ok && len(field) > 0 {
		p.after, p.field = name, field
	}
	return p
}

// follow returns the value that p finds for an element. It is valid until the next call.
func (s *sorter) follow(c *Call, p *sortPattern, element []byte) (value []byte, ok bool) {
	if p.self {
		return element, true
	}
	if !p.named {
		return nil, false
	}
	s.name = append(append(append(s.name[:0], p.before...), element...), p.after...)
	if p.field == nil {
		value, ok, _ = c.DB.Str(s.name)
		return value, ok
	}
	if h, err := store.Read[*store.Hash](c.DB, s.name); err == nil && h != nil {
		return h.Get(p.field)
	}
	return nil, false
}
