package rdb

import (
	"encoding/binary"

	"github.com/miniredisd/miniredisd/store"
)

// A stream is its nodes, its counters, and the groups. Each node is a listpack under the
// ID of its first entry. It begins with the numbers of its live and deleted entries and with the
// field names of its first entry:
//
//	live dead n field1 .. fieldn 0
//
// Each entry has its flags, the difference of its ID to that of the node, and either the values of
// those fields or its own fields. The last number is the count of elements, for reading backwards:
//
//	flags ms seq            value1 .. valuen            n+3
//	flags ms seq n field1 value1 .. fieldn valuen      2n+4
const (
	entryDead       = 1
	entrySameFields = 2
)

func appendStream(b []byte, s *store.Stream, f *form) []byte {
	kind := byte(typeStream2)
	if f.version >= VersionRead {
		kind = typeStream3
	}
	b = appendNumber(f.begin(b, kind), uint64(s.Nodes()))
	for i := range s.Nodes() {
		node := s.Node(i)
		b = appendNode(f.text(b, appendRawID(nil, node.First)), &node, f)
	}
	b = appendNumber(b, uint64(s.Len()))
	b = appendID(appendID(appendID(b, s.LastID), s.FirstID()), s.MaxDeletedID)
	b = appendNumber(b, s.EntriesAdded)
	b = appendNumber(b, uint64(s.Groups.Len()))
	for g := range s.Groups.All() {
		b = appendGroup(b, g, kind, f)
	}
	return b
}

func appendNode(b []byte, n *store.StreamNode, f *form) []byte {
	w := f.pack(b)
	w.number(int64(n.Live))
	w.number(int64(n.Dead))
	w.number(int64(len(n.Fields)))
	for _, field := range n.Fields {
		w.text(field)
	}
	w.number(0)
	for n.Next() {
		flags := int64(0)
		if n.IsDead {
			flags |= entryDead
		}
		if n.SameFields {
			flags |= entrySameFields
		}
		w.number(flags)
		w.number(int64(n.ID.Ms - n.First.Ms))
		w.number(int64(n.ID.Seq - n.First.Seq))
		before := w.n - 3
		if !n.SameFields {
			w.number(int64(len(n.Args) / 2))
		}
		for i, v := range n.Args {
			if i%2 == 1 || !n.SameFields {
				w.text(v)
			}
		}
		w.number(int64(w.n - before))
	}
	return w.done()
}

func appendGroup(b []byte, g *store.StreamGroup, kind byte, f *form) []byte {
	b = appendID(f.text(b, []byte(g.Name)), g.LastID)
	b = appendNumber(b, uint64(g.EntriesRead))
	b = appendNumber(b, uint64(g.Len()))
	for it := g.Pending(nil, store.StreamID{}); it.Next(); {
		b = binary.LittleEndian.AppendUint64(appendRawID(b, it.ID), uint64(it.At))
		b = appendNumber(b, uint64(it.Count))
	}
	b = appendNumber(b, uint64(g.Consumers.Len()))
	for c := range g.Consumers.All() {
		b = binary.LittleEndian.AppendUint64(f.text(b, []byte(c.Name)), uint64(c.Seen))
		if kind == typeStream3 {
			b = binary.LittleEndian.AppendUint64(b, uint64(c.Active))
		}
		b = appendNumber(b, uint64(c.Len()))
		for it := g.Pending(c, store.StreamID{}); it.Next(); {
			b = appendRawID(b, it.ID)
		}
	}
	return b
}

func appendID(b []byte, id store.StreamID) []byte {
	return appendNumber(appendNumber(b, id.Ms), id.Seq)
}

// appendRawID writes an ID in 16 bytes that sort like the ID.
func appendRawID(b []byte, id store.StreamID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, id.Ms), id.Seq)
}
