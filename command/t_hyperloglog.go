package command

import (
	"github.com/miniredisd/miniredisd/internal/hll"
	"github.com/miniredisd/miniredisd/store"
)

func hyperloglogRows() []Row {
	return []Row{
		{"pfadd", "key [element ...]",
			-2, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "hyperloglog", "2.8.9",
			"O(N) for N elements",
			"Adds elements to a HyperLogLog.", pfadd},
		{"pfcount", "key ...",
			-2, ReadOnly | MayReplicate, keys(span(1, -1, 1, RW|Access)), "hyperloglog", "2.8.9",
			"O(1) for one key, whose estimate is cached; O(N) to merge N keys",
			"Estimates the number of distinct elements in HyperLogLogs.", pfcount},
		{"pfdebug", "subcommand key",
			3, Write | DenyOOM | Admin, keys(at(2, RW|Access)), "hyperloglog", "2.8.9",
			"N/A",
			"Shows the internals of a HyperLogLog.", pfdebug},
		{"pfmerge", "destkey:key [sourcekey:key ...]",
			-2, Write | DenyOOM, keys(at(1, RW|Access|Insert), span(2, -1, 1, RO|Access)), "hyperloglog", "2.8.9",
			"O(N) for N keys, each of 16384 registers",
			"Merges HyperLogLogs into one.", pfmerge},
		{"pfselftest", "",
			1, Admin, nil, "hyperloglog", "2.8.9",
			"N/A",
			"Tests the arithmetic of HyperLogLogs.", pfselftest},
	}
}

const (
	errNotHLL    store.Error = "WRONGTYPE Key is not a valid HyperLogLog string value."
	errBrokenHLL store.Error = "INVALIDOBJ Corrupted HLL object detected"
)

// asSketch checks that the string at key is a HyperLogLog. It returns nil for a
// missing key.
func asSketch(key store.Key) (hll.Sketch, error) {
	b, err := key.Str()
	switch {
	case err != nil || !key.Exists():
		return nil, err
	case !hll.Valid(b):
		return nil, errNotHLL
	}
	return b, nil
}

// sketchToChange returns the sketch at key, or nil for a missing key. The bytes belong to the
// store: they may be changed in place but not grown.
func sketchToChange(found store.Key, key []byte) (hll.Sketch, error) {
	s, err := asSketch(found)
	if s == nil {
		return nil, err
	}
	return found.MutStr(key, 0, len(s))
}

// PFADD key [element ...] (hyperloglog.c: pfaddCommand)
func pfadd(c *Call) error {
	key := c.Args[1]
	found := c.DB.Lookup(key, store.LookupWrite)
	s, err := sketchToChange(found, key)
	if err != nil {
		return err
	}
	added := 0
	if s == nil {
		s, added = hll.New(), 1
	}
	for _, element := range c.Args[2:] {
		changed, sound := s.Add(element, c.Cfg.HLLSparseMaxBytes)
		if !sound {
			found.SetRaw(key, s, true) // elements added before the error stay
			return errBrokenHLL
		}
		if changed {
			added++
		}
	}
	if added == 0 {
		c.Int(0)
		return nil
	}
	s.Stale()
	found.SetRaw(key, s, true)
	c.Changed(ClassString, "pfadd", key)
	c.Count(added - 1)
	c.Int(1)
	return nil
}

// PFCOUNT key ... (hyperloglog.c: pfcountCommand)
func pfcount(c *Call) error {
	if len(c.Args) > 2 {
		return pfcountUnion(c)
	}
	found := c.DB.Lookup(c.Args[1], store.LookupNone)
	s, err := asSketch(found)
	if err != nil {
		return err
	}
	if s == nil {
		c.Int(0)
		return nil
	}
	if s, err = found.MutStr(c.Args[1], 0, len(s)); err != nil {
		return err
	}
	count, fresh := s.Cached()
	if !fresh {
		var sound bool
		if count, sound = s.Count(); !sound {
			return errBrokenHLL
		}
		s.Cache(count)
		c.Touched(c.Args[1])
	}
	c.Int(int64(count))
	return nil
}

func pfcountUnion(c *Call) error {
	var u hll.Union
	if _, err := c.unite(&u); err != nil {
		return err
	}
	c.Int(int64(u.Count()))
	return nil
}

// unite merges the sketches at all keys. dense reports whether one of them is dense.
func (c *Call) unite(u *hll.Union) (dense bool, err error) {
	for _, key := range c.Args[1:] {
		s, err := asSketch(c.DB.Lookup(key, store.LookupNone))
		if err != nil {
			return dense, err
		}
		if s == nil {
			continue
		}
		dense = dense || s.Dense()
		if !u.Take(s) {
			return dense, errBrokenHLL
		}
	}
	return dense, nil
}

// PFMERGE destkey [sourcekey ...] (hyperloglog.c: pfmergeCommand)
// Redis fires the event of PFADD here, too.
func pfmerge(c *Call) error {
	var u hll.Union
	dense, err := c.unite(&u)
	if err != nil {
		return err
	}
	key := c.Args[1]
	found := c.DB.Lookup(key, store.LookupWrite)
	s, err := sketchToChange(found, key)
	if err != nil {
		return err
	}
	if s == nil {
		s = hll.New()
	}
	if dense && !s.Densify() {
		return errBrokenHLL
	}
	s.Merge(&u, c.Cfg.HLLSparseMaxBytes)
	s.Stale()
	found.SetRaw(key, s, true)
	c.Changed(ClassString, "pfadd", key)
	c.OK()
	return nil
}

// PFDEBUG subcommand key (hyperloglog.c: pfdebugCommand)
func pfdebug(c *Call) error {
	key := c.Args[2]
	found := c.DB.Lookup(key, store.LookupWrite)
	s, err := sketchToChange(found, key)
	if err != nil {
		return err
	}
	if s == nil {
		return store.Error("ERR The specified key does not exist")
	}
	switch sub := c.Args[1]; {
	case is(sub, "getreg"):
		if s, _, err = c.densify(found, key, s); err != nil {
			return err
		}
		c.Array(hll.Registers)
		for i := range hll.Registers {
			c.Int(int64(s.Register(i)))
		}
	case is(sub, "decode"):
		if s.Dense() {
			return store.Error("ERR HLL encoding is not sparse")
		}
		c.BulkString(s.Decode())
	case is(sub, "encoding"):
		if s.Dense() {
			c.Status("dense")
		} else {
			c.Status("sparse")
		}
	case is(sub, "todense"):
		_, changed, err := c.densify(found, key, s)
		if err != nil {
			return err
		}
		c.Int(int64(changed))
	default:
		return errorf("ERR Unknown PFDEBUG subcommand '%s'", sub)
	}
	return nil
}

// densify makes the sketch at key dense. Watchers of the key are not notified: the value is the
// same.
func (c *Call) densify(found store.Key, key []byte, s hll.Sketch) (now hll.Sketch, changed int, err error) {
	if s.Dense() {
		return s, 0, nil
	}
	if !s.Densify() {
		return s, 0, errBrokenHLL
	}
	found.SetRaw(key, s, true)
	c.Count(1)
	return s, 1, nil
}

// PFSELFTEST (hyperloglog.c: pfselftestCommand)
func pfselftest(c *Call) error {
	if fault := hll.SelfTest(); fault != "" {
		return store.Error("TESTFAILED " + fault)
	}
	c.OK()
	return nil
}
