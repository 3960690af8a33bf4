package store

// What DUMP shows of a stream, and RESTORE puts together: its nodes as they are, with the
// entries that are dead and still in their places, for what trimming does next depends on them.

// StreamNode walks over the entries of a node, dead or alive. The stream must not change meanwhile.
type StreamNode struct {
	First      StreamID // of the entry the node was made for
	Live, Dead int
	Fields     [][]byte // the names in that entry

	// The current entry.
	ID         StreamID
	IsDead     bool
	SameFields bool     // as those of the node
	Args       [][]byte // fields and values

	n   *streamNode
	off int // of the next entry
}

// Node is node i of the stream, before its first entry.
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

// Next is false at the end.
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

// OpenNode adds an empty node for entries from first on, args being the field names of its first entry and
// anything behind each. It tells whether first is behind all there are.
func (s *Stream) OpenNode(first StreamID, args [][]byte) bool {
	if k := len(s.nodes); k > 0 && !s.nodes[k-1].last.Less(first) {
		return false
	}
	n := newStreamNode(first, args)
	s.nodes = append(s.nodes, n)
	s.bytes += cap(n.b)
	return true
}

// PutEntry adds an entry, dead or alive, to the node opened last. It tells whether it is behind all there are.
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

// Complete ends the adding of nodes with what is known of the whole. It tells whether last, the highest ID
// ever given out, is not below what there is.
func (s *Stream) Complete(last, maxDeleted StreamID, added uint64) bool {
	if k := len(s.nodes); k > 0 && last.Less(s.nodes[k-1].last) {
		return false
	}
	s.LastID, s.MaxDeletedID, s.EntriesAdded = last, maxDeleted, added
	s.findFirst()
	return true
}
