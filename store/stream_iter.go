package store

// StreamIter iterates over the entries of a range in either direction. It allocates nothing. A
// change of the stream invalidates it.
//
//	it := s.Range(from, to, false)
//	for it.Next() {
//		for range it.Fields { field, value := it.Field() }
//	}
type StreamIter struct {
	ID     StreamID
	Fields int // of the current entry

	s        *Stream
	n        *streamNode
	ni       int // index of n
	off, end int // the current entry
	from, to StreamID
	rev      bool
	same     bool
	head, p  int // where the next field name and the next value are
}

// Range iterates over the IDs from <= id <= to, and backwards from to if rev.
func (s *Stream) Range(from, to StreamID, rev bool) StreamIter {
	it := StreamIter{s: s, from: from, to: to, rev: rev}
	if rev {
		it.enter(s.nodeFor(to))
	} else {
		it.enter(max(s.nodeFor(from), 0))
		if it.n != nil && it.n.last.Less(from) {
			it.enter(it.ni + 1)
		}
	}
	return it
}

// enter stands before the first entry of node i in the direction of the iterator.
func (it *StreamIter) enter(i int) {
	it.ni, it.n = i, nil
	if i < 0 || i >= len(it.s.nodes) {
		return
	}
	it.n = it.s.nodes[i]
	if it.rev {
		it.off = len(it.n.b)
	} else {
		it.end = it.n.body
	}
}

// Next moves to the next entry of the range that is not deleted. It returns false at the end, with
// a zero ID.
func (it *StreamIter) Next() bool {
	for it.n != nil {
		if !it.step() {
			continue
		}
		if it.n.b[it.off]&streamDead != 0 {
			continue
		}
		it.ID, it.p = it.n.id(it.off)
		past, early := it.to.Less(it.ID), it.ID.Less(it.from)
		if it.rev {
			past, early = early, past
		}
		if past {
			break
		}
		if !early {
			it.open()
			return true
		}
	}
	it.n, it.ID = nil, StreamID{}
	return false
}

// step moves by one entry, deleted or not. It returns false if it reached another node.
func (it *StreamIter) step() bool {
	if it.rev {
		if it.off == it.n.body {
			it.enter(it.ni - 1)
			return false
		}
		it.end = it.off
		it.off = it.n.prev(it.end)
		return true
	}
	if it.end == len(it.n.b) {
		it.enter(it.ni + 1)
		return false
	}
	it.off = it.end
	it.end = it.n.next(it.off)
	return true
}

func (it *StreamIter) open() {
	count, head := uvarint(it.n.b, 0)
	it.same = it.n.b[it.off]&streamSameFields != 0
	if it.same {
		it.head = head
	} else {
		count, it.p = uvarint(it.n.b, it.p)
	}
	it.Fields = int(count)
}

// Field returns the next pair of the current entry. It may be called Fields times. Both alias the
// stream.
func (it *StreamIter) Field() (field, value []byte) {
	if it.same {
		field, it.head = stringAt(it.n.b, it.head)
	} else {
		field, it.p = stringAt(it.n.b, it.p)
	}
	value, it.p = stringAt(it.n.b, it.p)
	return field, value
}
