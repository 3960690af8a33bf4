package store

// DUMP and RESTORE copy the nodes of a stream as they are, deleted entries included: the next
// trimming depends on them.

// StreamNode iterates over the entries of a node, deleted ones included. The stream must not change
// meanwhile.
type StreamNode struct {
	First      StreamID // of the entry that opened the node
	Live, Dead int
	Fields     [][]byte // the names in that entry

	// The current entry.
	ID         StreamID
	IsDead     bool
	SameFields bool     // the fields are those of the node
	Args       [][]byte // fields and values

	n   *streamNode
	off int // of the next entry
}

// Node returns node i of the stream, before its first entry.
func (s *Stream) Node(i int) StreamNode {
	n := s.nodes[i]
	v := StreamNode{First: n.first, Live: n.live, Dead: n.dead, n: n, off: n.body}
	count, p := uvarint(n.b, 0)
	for range count {
		var field []byte
		field, p = stringAt(n.b, p)
		v.Fields = append(v.Fields, field)
	}
	return v
}

// Next moves to the next entry. It returns false at the end.
func (v *StreamNode) Next() bool {
	if v.off == len(v.n.b) {
		return false
	}
	it := StreamIter{n: v.n, off: v.off}
	it.ID, it.p = v.n.id(v.off)
	it.open()
	v.ID, v.IsDead, v.SameFields = it.ID, v.n.b[v.off]&streamDead != 0, it.same
	v.Args = v.Args[:0]
	for range it.Fields {
		field, value := it.Field()
		v.Args = append(v.Args, field, value)
	}
	v.off = v.n.next(v.off)
	return true
}

// OpenNode adds an empty node for entries from first on. args has the field names of its first
// entry, each followed by any value. OpenNode returns false if first is not above all IDs of the
// stream.
func (s *Stream) OpenNode(first StreamID, args [][]byte) bool {
	if k := len(s.nodes); k > 0 && !s.nodes[k-1].last.Less(first) {
		return false
	}
	n := newStreamNode(first, args, nil)
	s.nodes = append(s.nodes, n)
	s.bytes += cap(n.b)
	return true
}

// PutEntry adds an entry, deleted if dead, to the latest node. It returns false if id is not above
// all IDs of the stream.
func (s *Stream) PutEntry(id StreamID, args [][]byte, dead bool) bool {
	n := s.nodes[len(s.nodes)-1]
	if id.Less(n.first) || n.live+n.dead > 0 && !n.last.Less(id) {
		return false
	}
	s.bytes -= cap(n.b)
	off := len(n.b)
	n.add(id, args)
	s.bytes += cap(n.b)
	s.length++
	if dead {
		n.kill(off)
		s.length--
	}
	return true
}

// Complete sets the counters of the stream after its nodes were added. It returns false if last,
// the highest ID ever assigned, is below an existing ID.
func (s *Stream) Complete(last, maxDeleted StreamID, added uint64) bool {
	if k := len(s.nodes); k > 0 && last.Less(s.nodes[k-1].last) {
		return false
	}
	s.LastID, s.MaxDeletedID, s.EntriesAdded = last, maxDeleted, added
	s.findFirst()
	return true
}
