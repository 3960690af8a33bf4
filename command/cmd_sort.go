package command

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

const (
	errSortScore store.Error = "ERR One or more scores can't be converted into double"
	errSortBy    store.Error = "ERR BY option of SORT denied due to insufficient ACL permissions."
	errSortGet   store.Error = "ERR GET option of SORT denied due to insufficient ACL permissions."
)

func sortRows() []Row {
	const (
		cost = "O(N*log(N)) for N elements, O(N) if BY has no asterisk"
		how  = "key [BY by-pattern#1:pattern/pattern] [LIMIT offset count] [GET+ get-pattern#1:pattern/pattern ...] " +
			"[order: ASC | DESC] [sorting:ALPHA]"
		all = Dangerous | NotKeyspace | OnAnyType
	)
	source := at(1, RO|Access)
	weights := KeySpec{Flags: RO | Access, Find: hiddenKeys}
	stored := KeySpec{Flags: OW | Update, Find: sortDestination}
	return []Row{
		{"sort", how + " [STORE destination#2]",
			-2, Write | DenyOOM | all, keys(source, weights, stored), "generic", "1.0.0",
			cost,
			"Sorts the elements of a list, set or sorted set, and returns or stores them.", sortCommand},
		{"sort_ro", how,
			-2, ReadOnly | all, keys(source, weights), "generic", "7.0.0",
			cost,
			"Sorts the elements of a list, set or sorted set, and returns them.", sortReadOnly},
	}
}

// sorter holds the options and the elements of one SORT.
type sorter struct {
	offset, count int
	desc, alpha   bool
	unsorted      bool
	by            *sortPattern // nil to sort by the elements themselves
	get           []sortPattern
	dst           []byte

	items []sortItem
	order []sortKey // of the items to return
	kept  []byte    // copies of values that the next look-up may overwrite
	name  []byte    // the key that follow looks up
}

type sortItem struct {
	element []byte
	weight  []byte // the text found by BY, or nil; only for ALPHA
	score   float64
}

// sortKey is what moves while items are sorted. Items of different rank are in the order of their
// ranks, so few comparisons read the items.
type sortKey struct {
	rank uint64
	item uint32
}

// SORT key [BY pattern] [LIMIT offset count] [GET pattern ...] ... (sort.c: sortCommand)
func sortCommand(c *Call) error { return sortReply(c, true) }

// SORT_RO key [BY pattern] [LIMIT offset count] [GET pattern ...] ... (sort.c: sortroCommand)
func sortReadOnly(c *Call) error { return sortReply(c, false) }

func sortReply(c *Call, mayStore bool) error {
	s := sorter{count: -1}
	if err := s.parse(c, c.Args[2:], mayStore); err != nil {
		return err
	}
	if err := s.load(c, c.Args[1]); err != nil {
		return err
	}
	if !s.unsorted {
		if err := s.weigh(c); err != nil {
			return err
		}
	}
	s.arrange()
	if s.dst != nil {
		s.store(c)
		return nil
	}
	s.reply(c)
	return nil
}

// arrange sorts the elements, as far as LIMIT needs them.
func (s *sorter) arrange() {
	s.order = make([]sortKey, len(s.items))
	for i := range s.order {
		s.order[i].item = uint32(i)
	}
	if s.unsorted {
		return
	}
	s.rank()
	compare := func(a, b sortKey) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		return s.compare(a.item, b.item)
	}
	from, to := s.window(len(s.order))
	if to < len(s.order)/2 {
		selectFirst(s.order, to, compare)
		s.order = s.order[:to]
	}
	slices.SortFunc(s.order, compare)
	s.order = s.order[from:to]
}

// rank gives each item a rank: its score, or the eight bytes of its text after those that all
// texts share.
func (s *sorter) rank() {
	shared := 0
	if s.alpha {
		shared = s.sharedPrefix()
	}
	for i := range s.order {
		rank := uint64(0)
		if s.alpha {
			var eight [8]byte
			copy(eight[:], s.text(i)[shared:])
			rank = binary.BigEndian.Uint64(eight[:])
		} else if rank = math.Float64bits(s.items[i].score + 0); rank>>63 != 0 { // -0 becomes 0
			rank = ^rank
		} else {
			rank |= 1 << 63
		}
		if s.desc {
			rank = ^rank
		}
		s.order[i].rank = rank
	}
}

// text is the text by which ALPHA sorts an item.
func (s *sorter) text(item int) []byte {
	if s.by == nil {
		return s.items[item].element
	}
	return s.items[item].weight
}

// sharedPrefix returns how many bytes all texts begin with in common.
func (s *sorter) sharedPrefix() int {
	if len(s.items) == 0 {
		return 0
	}
	shared := s.text(0)
	for i := range s.items {
		text := s.text(i)
		shared = shared[:min(len(shared), len(text))]
		for j := range shared {
			if shared[j] != text[j] {
				shared = shared[:j]
				break
			}
		}
	}
	return len(shared)
}

func (s *sorter) reply(c *Call) {
	c.Array(len(s.order) * max(len(s.get), 1))
	for _, key := range s.order {
		element := s.items[key.item].element
		if s.get == nil {
			c.Bulk(element)
		}
		for j := range s.get {
			if v, ok := s.follow(c, &s.get[j], element); ok {
				c.Bulk(v)
			} else {
				c.Null()
			}
		}
	}
}

// window returns the range of n elements that LIMIT selects.
func (s *sorter) window(n int) (from, to int) {
	from = min(max(s.offset, 0), n)
	if s.count < 0 || s.count > n-from {
		return from, n
	}
	return from, from + s.count
}

// load reads the elements. Unsorted elements keep the order of the collection, or its reverse with
// DESC, and only those that LIMIT selects are read.
func (s *sorter) load(c *Call, key []byte) error {
	found := c.DB.Lookup(key, store.LookupNone)
	if !found.Exists() {
		return nil
	}
	switch found.Type() {
	case store.TypeList:
		l, err := store.ReadAt[*store.List](found)
		s.loadList(l)
		return err
	case store.TypeSet:
		set, err := store.ReadAt[*store.Set](found)
		s.loadSet(c, set)
		return err
	case store.TypeZSet:
		z, err := store.WriteAt[*store.ZSet](found)
		z.Unpack() // sort.c converts a listpack, which OBJECT ENCODING shows
		s.loadZSet(z)
		return err
	}
	return errWrongType
}

// part returns the range of n elements to load, and whether to load from the end.
func (s *sorter) part(n int) (from, to int, back bool) {
	if s.unsorted {
		from, to = s.window(n)
		n = to - from
	} else {
		to = n
	}
	s.items = make([]sortItem, 0, n)
	return from, to, s.unsorted && s.desc
}

func (s *sorter) add(element []byte) {
	s.items = append(s.items, sortItem{element: element})
}

func (s *sorter) loadList(l *store.List) {
	from, to, back := s.part(l.Len())
	if from == to {
		return
	}
	first := from
	if back {
		first = l.Len() - 1 - from
	}
	it := l.From(first, back)
	for range to - from {
		v, _ := it.Next()
		s.add(v)
	}
}

// loadSet sorts the elements of an unsorted set if a key or a script gets them: they must have the
// same order every time.
func (s *sorter) loadSet(c *Call, set *store.Set) {
	if s.unsorted && (s.dst != nil || c.Ex.Scripts.run.on) {
		s.unsorted, s.alpha, s.by = false, true, nil
	}
	from, to, _ := s.part(set.Len())
	aliases := set.Encoding() == "hashtable" // other encodings make the text of a number
	i := 0
	for m := range set.All() {
		if i == to {
			break
		}
		if i >= from {
			if !aliases {
				m = s.keep(m)
			}
			s.add(m)
		}
		i++
	}
}

func (s *sorter) loadZSet(z *store.ZSet) {
	from, to, back := s.part(z.Len())
	if back {
		from, to = z.Len()-to, z.Len()-from
	}
	for it := z.Range(from, to, back); it.Next(); {
		s.add(it.Member)
	}
}

// keep copies b, because the next look-up may overwrite it. The result is never nil.
func (s *sorter) keep(b []byte) []byte {
	if cap(s.kept)-len(s.kept) < len(b) || s.kept == nil {
		s.kept = make([]byte, 0, max(2*cap(s.kept), len(b), 256))
	}
	n := len(s.kept)
	s.kept = append(s.kept, b...)
	return s.kept[n:len(s.kept):len(s.kept)]
}

// weigh finds the weight by which each element is sorted. Without a value for BY the weight is 0,
// or with ALPHA less than any text.
func (s *sorter) weigh(c *Call) error {
	if s.alpha && s.by == nil {
		return nil
	}
	for i := range s.items {
		it := &s.items[i]
		weight := it.element
		if s.by != nil {
			var ok bool
			if weight, ok = s.follow(c, s.by, it.element); !ok {
				continue
			}
		}
		if s.alpha {
			it.weight = s.keep(weight)
			continue
		}
		var ok bool
		if it.score, ok = sortScore(weight); !ok {
			return errSortScore
		}
	}
	return nil
}

// compare compares two items, given by their indexes (sort.c: sortCompare). Equal items keep the
// order in which they were loaded.
func (s *sorter) compare(i, j uint32) int {
	var d int
	a, b := &s.items[i], &s.items[j]
	switch {
	case !s.alpha:
		if d = cmp.Compare(a.score, b.score); d == 0 {
			d = bytes.Compare(a.element, b.element)
		}
	case s.by == nil:
		d = bytes.Compare(a.element, b.element)
	case a.weight == nil && b.weight != nil:
		d = -1
	case a.weight != nil && b.weight == nil:
		d = 1
	default:
		d = bytes.Compare(a.weight, b.weight)
	}
	if s.desc {
		d = -d
	}
	if d == 0 {
		d = int(i) - int(j)
	}
	return d
}

// store stores the result as a list, with an empty string for each nil.
func (s *sorter) store(c *Call) {
	l := store.NewList(c.KS)
	l.Unpack(store.DefaultFill)
	for _, key := range s.order {
		element := s.items[key.item].element
		if s.get == nil {
			l.PushTail(element)
		}
		for j := range s.get {
			v, _ := s.follow(c, &s.get[j], element)
			l.PushTail(v)
		}
	}
	l.Settle()
	n := l.Len()
	switch {
	case n > 0:
		store.Put(c.DB, s.dst, l)
		c.Changed(ClassList, "sortstore", s.dst)
		c.Count(n - 1)
	case c.DB.Delete(s.dst):
		c.Changed(ClassGeneric, "del", s.dst)
	}
	c.Int(int64(n))
}

// sortScore parses a number as strtod does: leading space is skipped, a zero byte ends the text,
// and an empty text is 0.
func sortScore(text []byte) (score float64, ok bool) {
	if v, ok := parseShort(text); ok {
		return v, true
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	if len(text) == 0 {
		return 0, true
	}
	const smallest = 0x1p-1022 // strtod reports an error for smaller numbers, which lose digits
	v, err := strtod(bytes.TrimLeft(text, " \t\n\v\f\r"))
	if err != nil || math.IsNaN(v) || math.Abs(v) < smallest && !isZero(text) {
		return 0, false
	}
	return v, true
}
