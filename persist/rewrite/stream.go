package rewrite

import (
	"strconv"

	"github.com/miniredisd/miniredisd/store"
)

// stream writes a stream: its entries, its counters, and its groups (aof.c: rewriteStreamObject).
func (w *Writer) stream(v store.Value, s *store.Stream) {
	if hasLostMessages(s) {
		w.restore(v)
		return
	}
	for i := range s.Nodes() {
		w.node(s.Node(i))
	}
	if s.Len() == 0 { // an entry that goes at once makes a stream without entries
		w.of(7, "XADD")
		for _, word := range [...]string{"MAXLEN", "0", "0-1", "x", "y"} {
			w.text(word)
		}
	}
	w.of(7, "XSETID")
	w.id(s.LastID)
	w.text("ENTRIESADDED")
	w.number(int64(s.EntriesAdded))
	w.text("MAXDELETEDID")
	w.id(s.MaxDeletedID)
	for g := range s.Groups.All() {
		w.group(g)
	}
}

// hasLostMessages reports whether a group has a pending entry whose message was deleted.
func hasLostMessages(s *store.Stream) bool {
	for g := range s.Groups.All() {
		for it := g.Pending(nil, store.StreamID{}); it.Next(); {
			if message := s.Range(it.ID, it.ID, false); !message.Next() {
				return true
			}
		}
	}
	return false
}

func (w *Writer) node(n store.StreamNode) {
	for n.Next() {
		if n.IsDead {
			continue
		}
		w.of(3+len(n.Args), "XADD")
		w.id(n.ID)
		for _, arg := range n.Args {
			w.bulk(arg)
		}
	}
}

func (w *Writer) group(g *store.StreamGroup) {
	name := []byte(g.Name)
	w.of(7, "XGROUP", "CREATE")
	w.bulk(name)
	w.id(g.LastID)
	w.text("ENTRIESREAD")
	w.number(g.EntriesRead)
	for c := range g.Consumers.All() {
		if c.Len() == 0 {
			w.of(5, "XGROUP", "CREATECONSUMER")
			w.bulk(name)
			w.text(c.Name)
		}
		for it := g.Pending(c, store.StreamID{}); it.Next(); {
			w.pending(name, c.Name, it.ID, it.At, it.Count)
		}
	}
}

// pending writes an entry that a consumer has not acknowledged (aof.c: rioWriteStreamPendingEntry).
func (w *Writer) pending(group []byte, consumer string, id store.StreamID, at, count int64) {
	w.of(12, "XCLAIM")
	w.bulk(group)
	w.text(consumer)
	w.text("0")
	w.id(id)
	w.text("TIME")
	w.number(at)
	w.text("RETRYCOUNT")
	w.number(count)
	w.text("JUSTID")
	w.text("FORCE")
}

func (w *Writer) id(id store.StreamID) {
	b := strconv.AppendUint(w.short[:0], id.Ms, 10)
	w.bulk(strconv.AppendUint(append(b, '-'), id.Seq, 10))
}
