package store

// A stream counts the entries that were ever added. From this count follow the entries that a group
// has read and its lag, as long as no entry between the group and the end of the stream was
// deleted. XDEL records the highest ID that it removed. That ID shows where the count is unknown
// (t_stream.c: streamEstimateDistanceFromFirstEverEntry).

// readsWith is the number of entries a group has read once it gets id, which is above all IDs it
// got before.
func (s *Stream) readsWith(g *StreamGroup, id StreamID) int64 {
	if g.EntriesRead != UnknownReads && !s.hasGapFrom(id) {
		return g.EntriesRead + 1
	}
	if s.EntriesAdded == 0 { // XSETID can set 0 although the stream has entries
		return g.EntriesRead
	}
	return s.Place(id)
}

// Lag is the number of entries that a group has not got yet. known is false if the number is
// unknown.
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

// hasGap reports whether XDEL removed an entry after the first remaining entry.
func (s *Stream) hasGap() bool {
	return s.length > 0 && !s.MaxDeletedID.IsZero() && !s.MaxDeletedID.Less(s.firstID)
}

// hasGapFrom reports whether XDEL removed an entry at id or after it.
func (s *Stream) hasGapFrom(id StreamID) bool { return s.hasGap() && !s.MaxDeletedID.Less(id) }

// Place is the number of entries ever added up to id, or UnknownReads.
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
