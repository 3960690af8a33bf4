package store

// How many entries a group has read, and how many are ahead of it, is found by counting what was ever added to
// the stream. That works as long as nothing between the group and the stream's end has been deleted; XDEL leaves
// behind the highest ID it removed, and from that follows where counting has become guesswork
// (t_stream.c: streamEstimateDistanceFromFirstEverEntry).

// readsWith is the number of entries a group has read when it gets id, which is beyond all it had.
func (s *Stream) readsWith(g *StreamGroup, id StreamID) int64 {
	if g.EntriesRead != UnknownReads && !s.hasGapFrom(id) {
		return g.EntriesRead + 1
	}
	if s.EntriesAdded == 0 { // XSETID can say so of a stream that has entries
		return g.EntriesRead
	}
	return s.Place(id)
}

// Lag is the number of entries a group has not been delivered yet; known is false when it cannot be told.
func (s *Stream) Lag(g *StreamGroup) (lag int64, known bool) {
	if s.EntriesAdded == 0 {
		return 0, true
	}
	read := g.EntriesRead
	if read == UnknownReads || s.hasGapFrom(g.LastID) {
		read = s.Place(g.LastID)
	}
	return int64(s.EntriesAdded) - read, read != UnknownReads
}

// hasGap tells whether XDEL removed an entry from among those that are left.
func (s *Stream) hasGap() bool {
	return s.length > 0 && !s.MaxDeletedID.IsZero() && !s.MaxDeletedID.Less(s.firstID)
}

// hasGapFrom tells whether XDEL did so at id or beyond.
func (s *Stream) hasGapFrom(id StreamID) bool { return s.hasGap() && !s.MaxDeletedID.Less(id) }

// Place is how many entries were ever added up to id, or UnknownReads.
func (s *Stream) Place(id StreamID) int64 {
	added, length := int64(s.EntriesAdded), int64(s.length)
	last := id.Compare(s.LastID)
	switch {
	case added == 0:
		return 0
	case length == 0 && last <= 0, last == 0:
		return added
	case last > 0:
		return UnknownReads
	case s.hasGap():
		return UnknownReads
	case id.Less(s.firstID):
		return added - length
	case id == s.firstID:
		return added - length + 1
	}
	return UnknownReads
}
