package store

// StreamTrim is the arguments of XTRIM, and of XADD with trimming. Trimming drops the oldest
// entries: those beyond MaxLen or, with ByID, those below MinID. Approx drops whole nodes only. A
// Limit above zero bounds the number of dropped entries.
type StreamTrim struct {
	ByID   bool
	MinID  StreamID
	MaxLen int64
	Approx bool
	Limit  int64
}

// Trim returns the number of entries it dropped.
func (s *Stream) Trim(t StreamTrim) int {
	before, nodes := s.length, 0
	for i, n := range s.nodes {
		dropped := before - s.length
		if !t.ByID && int64(s.length) <= t.MaxLen || t.Limit > 0 && int64(dropped+n.live) > t.Limit {
			break
		}
		if t.ByID && !n.last.Less(t.MinID) || !t.ByID && int64(s.length-n.live) < t.MaxLen {
			if !t.Approx {
				s.trimNode(s.own(i), t)
			}
			break
		}
		s.length -= n.live
		s.bytes -= cap(n.b)
		nodes++
	}
	clear(s.nodes[:nodes])
	s.nodes = s.nodes[nodes:]
	if s.length < before {
		s.findFirst()
	}
	return before - s.length
}

// trimNode drops entries from the front of a node, which keeps at least one entry.
func (s *Stream) trimNode(n *streamNode, t StreamTrim) {
	for off := n.body; off < len(n.b); off = n.next(off) {
		if t.ByID {
			if id, _ := n.id(off); !id.Less(t.MinID) {
				return
			}
		} else if int64(s.length) <= t.MaxLen {
			return
		}
		if n.b[off]&streamDead == 0 {
			n.kill(off)
			s.length--
		}
	}
}
