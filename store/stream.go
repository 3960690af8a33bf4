package store

import (
	"slices"
	"sort"
	"unsafe"
)

// Stream is an append-only log of entries. Each entry is a list of field, value pairs under an
// ascending ID. The nodes lie in a slice sorted by ID. Entries arrive at the end and mostly leave
// at the front, which a slice does cheaply. A binary search for an ID takes a dozen steps.
type Stream struct {
	nodes  []*streamNode
	length int
	bytes  int // capacity of the packed nodes

	LastID       StreamID // highest ID ever assigned, even if its entry is deleted
	MaxDeletedID StreamID // highest ID that XDEL removed; trimming does not count
	EntriesAdded uint64   // of all time; the lag of consumer groups is computed from it
	firstID      StreamID

	Groups     Named[StreamGroup]
	groupBytes *int // of all groups; nil until there is a group

	loan *loan // of the nodes that were not made for it; nil for none
}

// StreamNodeLimits are the sizes at which a node is full. Zero means no limit.
type StreamNodeLimits struct{ Bytes, Entries int }

const (
	streamMaxEntry = 1 << 30 // Redis's bound for a node, and so for an entry
	streamOverhead = int(unsafe.Sizeof(Stream{}))
	nodeOverhead   = int(unsafe.Sizeof(streamNode{})) + int(unsafe.Sizeof((*streamNode)(nil)))
)

const (
	ErrStreamID       = Error("ERR The ID specified in XADD is equal or smaller than the target stream top item")
	ErrStreamTooLarge = Error("ERR Elements are too large to be stored")
)

// NewStream makes an empty stream.
func NewStream(*Keyspace) *Stream { return &Stream{} }

// Len is the number of entries.
func (s *Stream) Len() int { return s.length }

// Encoding is the reply of OBJECT ENCODING.
func (s *Stream) Encoding() string { return "stream" }

func (s *Stream) size() int {
	n := streamOverhead + s.bytes + len(s.nodes)*nodeOverhead
	if s.groupBytes != nil {
		n += *s.groupBytes
	}
	return n
}

func (s *Stream) clone() *Stream {
	c := *s
	c.loan = nil
	c.nodes = make([]*streamNode, len(s.nodes))
	c.bytes = 0
	for i, n := range s.nodes {
		d := *n
		d.b = slices.Clone(n.b)
		c.nodes[i] = &d
		c.bytes += cap(d.b)
	}
	c.Groups, c.groupBytes = Named[StreamGroup]{}, nil
	s.copyGroups(&c)
	return &c
}

// lend is a stream that has the same nodes.
func (s *Stream) lend(to *loan) *Stream {
	s.loan = to
	c := *s
	c.nodes = slices.Clone(s.nodes)
	c.Groups, c.groupBytes = Named[StreamGroup]{}, nil
	s.lendGroups(&c, to)
	return &c
}

// own returns node i for a change. It puts a copy of a lent node in its place.
func (s *Stream) own(i int) *streamNode {
	n := s.nodes[i]
	if !s.loan.isOpen() || n.since == s.loan {
		return n
	}
	c := *n
	c.b, c.since = append(make([]byte, 0, cap(n.b)), n.b...), s.loan
	s.nodes[i] = &c
	return &c
}

// FirstID is the ID of the oldest entry, zero if the stream is empty.
func (s *Stream) FirstID() StreamID { return s.firstID }

// NewestID is the ID of the newest entry that still exists. LastID may be higher.
func (s *Stream) NewestID() StreamID {
	it := s.Range(StreamID{}, MaxStreamID(), true)
	it.Next()
	return it.ID
}

// Add appends an entry of field, value pairs.
func (s *Stream) Add(id StreamID, args [][]byte, lim StreamNodeLimits) error {
	if !s.LastID.Less(id) {
		return ErrStreamID
	}
	total := 0
	for _, a := range args {
		total += len(a)
	}
	if total > streamMaxEntry {
		return ErrStreamTooLarge
	}
	n, free := s.tail(total, lim)
	if n == nil {
		n = newStreamNode(id, args, free)
		n.since = s.loan
		s.nodes = append(s.nodes, n)
	} else {
		s.bytes -= cap(n.b)
	}
	n.add(id, args)
	s.bytes += cap(n.b)
	if s.length == 0 {
		s.firstID = id
	}
	s.length++
	s.EntriesAdded++
	s.LastID = id
	return nil
}

// tail is the last node if total more bytes fit in it by Redis's rule. Else tail returns no node, and
// memory for the next node.
func (s *Stream) tail(total int, lim StreamNodeLimits) (n *streamNode, free []byte) {
	if len(s.nodes) == 0 {
		return nil, nil
	}
	n = s.own(len(s.nodes) - 1)
	if lim.Bytes == 0 || lim.Bytes > streamMaxEntry {
		lim.Bytes = streamMaxEntry
	}
	if n.packed+total < lim.Bytes && (lim.Entries == 0 || n.live+n.dead < lim.Entries) {
		return n, nil
	}
	s.bytes -= cap(n.b)
	free = n.seal()
	s.bytes += cap(n.b)
	return nil, free
}

// Delete removes one entry. It returns false if there is no entry with this ID.
func (s *Stream) Delete(id StreamID) bool {
	it := s.Range(id, id, false)
	if !it.Next() {
		return false
	}
	if it.n.live == 1 {
		s.dropNode(it.ni)
	} else {
		s.own(it.ni).kill(it.off)
	}
	s.length--
	if s.MaxDeletedID.Less(id) {
		s.MaxDeletedID = id
	}
	if id == s.firstID {
		s.findFirst()
	}
	return true
}

func (s *Stream) dropNode(i int) {
	s.bytes -= cap(s.nodes[i].b)
	if i == 0 { // a stream read as a queue: no node moves
		s.nodes[0] = nil
		s.nodes = s.nodes[1:]
		return
	}
	s.nodes = slices.Delete(s.nodes, i, i+1)
}

func (s *Stream) findFirst() {
	it := s.Range(StreamID{}, MaxStreamID(), false)
	it.Next()
	s.firstID = it.ID
}

// nodeFor is the index of the only node that can hold id: the last one that begins at or before id.
// It is -1 if id is before all nodes.
func (s *Stream) nodeFor(id StreamID) int {
	if k := len(s.nodes) - 1; k < 0 || !id.Less(s.nodes[k].first) {
		return k
	}
	return sort.Search(len(s.nodes), func(i int) bool { return id.Less(s.nodes[i].first) }) - 1
}

// Nodes is the number of nodes, which is the number of keys in Redis's radix tree.
func (s *Stream) Nodes() int { return len(s.nodes) }

// RadixNodes is the number of nodes in Redis's radix tree over the first IDs of the nodes, for
// XINFO. IDs of 16 big-endian bytes form a tree with a node for each branch, for each leaf, and for
// each run of bytes between them.
func (s *Stream) RadixNodes() int {
	return radixNodes(len(s.nodes), func(i int) StreamID { return s.nodes[i].first })
}

func radixNodes(keys int, id func(i int) StreamID) int {
	if keys == 0 {
		return 1
	}
	total := 0
	path := make([]int, 0, 17) // depths of the branches above the newest leaf, root first
	pop := func(depth, parent int) {
		total++
		if depth-parent > 1 {
			total++
		}
	}
	top := func() int {
		if len(path) == 0 {
			return -1
		}
		return path[len(path)-1]
	}
	for i := range keys {
		shared := -1
		if i+1 < keys {
			shared = id(i).sharedBytes(id(i + 1))
		}
		for depth := 16; ; {
			parent := max(top(), shared)
			pop(depth, parent)
			if parent == shared {
				break
			}
			depth = parent
			path = path[:len(path)-1]
		}
		if shared > top() {
			path = append(path, shared)
		}
	}
	return total
}
