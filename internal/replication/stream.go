package replication

import "strings"

// Stream is the history of a server's data. The zero Stream has no backlog: what is fed is only counted later, when
// Begin was called.
type Stream struct {
	ID, ID2 string // ID2 is NoID for none
	Offset  int64  // the number of the last byte
	Second  int64  // ID2 names the bytes before this one; -1 for none (server.h: second_replid_offset)
	Size    int64  // bytes that the backlog keeps at least, if there were that many
	Active  bool   // there is a backlog

	first, last *block
	spare       *block // of blockMin bytes each, for what comes next
	spares      int64
	kept        int64 // bytes in all blocks
	room        int64 // bytes that all blocks take
}

// block is a part of the backlog. Its bytes never change: only its end grows.
type block struct {
	next *block
	from int64 // the number of its first byte
	buf  []byte
}

// NoID is a second ID that is not there.
const NoID = "0000000000000000000000000000000000000000"

const (
	blockMin   = 16 << 10 // the size of a block; it is at most a 16th of the backlog, so that little too much is kept
	spareShare = 4        // of the backlog at most this part is spare blocks
)

// New returns a stream without a backlog. id is 40 hexadecimal digits.
func New(id string) Stream { return Stream{ID: id, ID2: NoID, Second: -1} }

// Begin makes a backlog. The history before it is not known, so it gets a new ID (replication.c:
// createReplicationBacklog).
func (s *Stream) Begin(id string) {
	s.ID, s.ID2, s.Second = id, NoID, -1
	s.Resume()
}

// Resume makes an empty backlog for the history that is already named: that of a master whose stream continues here.
func (s *Stream) Resume() {
	s.first = newBlock(s.Offset+1, blockMin)
	s.last, s.spare, s.spares, s.kept, s.room, s.Active = s.first, nil, 0, 0, blockMin, true
}

// Adopt makes the history that of a master, at an offset. It begins an empty backlog.
func (s *Stream) Adopt(id string, offset int64) {
	s.ID, s.ID2, s.Second, s.Offset = id, NoID, -1, offset
	s.Resume()
}

// End forgets the backlog. What comes later has no numbers, so it belongs to a new history (replication.c:
// freeReplicationBacklog).
func (s *Stream) End(id string) {
	s.ID, s.ID2, s.Second = id, NoID, -1
	s.first, s.last, s.spare, s.spares, s.kept, s.room, s.Active = nil, nil, nil, 0, 0, 0, false
}

// Shift gives the history a new name from here on (replication.c: shiftReplicationId).
func (s *Stream) Shift(id string) { s.ID, s.ID2, s.Second = id, s.ID, s.Offset+1 }

func newBlock(from int64, size int) *block { return &block{from: from, buf: make([]byte, 0, size)} }

// end is the number of the byte after the block.
func (b *block) end() int64 { return b.from + int64(len(b.buf)) }

// Append adds bytes to the end. grown says that it took more memory: then it is time for Trim.
func (s *Stream) Append(p []byte) (grown bool) {
	for len(p) > 0 {
		b := s.last
		if len(b.buf) == cap(b.buf) {
			b.next = s.block(min(max(len(p), blockMin), max(int(s.Size/16), blockMin)))
			b, s.last, grown = b.next, b.next, true
		}
		n := min(len(p), cap(b.buf)-len(b.buf))
		b.buf = append(b.buf, p[:n]...)
		p = p[n:]
		s.kept += int64(n)
		s.Offset += int64(n)
	}
	return grown
}

// block returns an empty block for the end of the stream.
func (s *Stream) block(size int) *block {
	from := s.Offset + 1
	if size > blockMin || s.spare == nil {
		s.room += int64(size)
		return newBlock(from, size)
	}
	b := s.spare
	s.spare, s.spares = b.next, s.spares-1
	b.next, b.from, b.buf = nil, from, b.buf[:0]
	return b
}

// Trim drops blocks that the backlog does not need. It keeps the bytes from a number on, for a slow reader
// (replication.c: incrementalTrimReplicationBacklog). With unread nobody refers to the bytes before that number, so
// their memory is used again.
func (s *Stream) Trim(keep int64, unread bool) {
	for s.Active && s.first != s.last && s.first.end() <= keep && s.kept-int64(len(s.first.buf)) > s.Size {
		b := s.first
		s.first = b.next
		s.kept -= int64(len(b.buf))
		// A cursor may stand at the end of a block until it moves on.
		if unread && b.end() < keep && cap(b.buf) == blockMin && (s.spares+1)*blockMin <= s.Size/spareShare {
			b.next, s.spare = s.spare, b
			s.spares++
			continue
		}
		s.room -= int64(cap(b.buf))
	}
}

// First is the number of the first byte in the backlog: of the next byte to come, if it is empty. It is 0 without a
// backlog.
func (s *Stream) First() int64 {
	if !s.Active {
		return 0
	}
	return s.first.from
}

// Kept is how many bytes are in the backlog.
func (s *Stream) Kept() int64 { return s.kept }

// Mem is how many bytes the backlog takes.
func (s *Stream) Mem() int64 { return s.room }

// Refusal is why a replica cannot continue.
type Refusal uint8

const (
	Accepted  Refusal = iota
	OtherID           // it follows another history
	BeyondID2         // it has bytes after the end of what the second ID names
	NotKept           // the backlog has not the bytes that it asks for
)

// Continue says whether a replica that has followed the history id can go on with the byte from (replication.c:
// masterTryPartialResynchronization).
func (s *Stream) Continue(id string, from int64) Refusal {
	switch is1, is2 := strings.EqualFold(id, s.ID), strings.EqualFold(id, s.ID2); {
	case !is1 && !is2:
		return OtherID
	case !is1 && from > s.Second:
		return BeyondID2
	case !s.Active || from < s.first.from || from > s.Offset+1:
		return NotKept
	}
	return Accepted
}

// Cursor is a place in a stream, of one reader. What it has not read stays in memory.
type Cursor struct {
	at  *block
	pos int
}

// Reader returns a cursor before the byte from, which must be in the backlog, or the next one to come.
func (s *Stream) Reader(from int64) Cursor {
	b := s.first
	for b.next != nil && b.end() <= from {
		b = b.next
	}
	return Cursor{b, int(from - b.from)}
}

// Next returns bytes that follow, and moves past them. None has a number above last. It returns nil at the end.
// Nobody changes these bytes.
func (c *Cursor) Next(last int64) []byte {
	for c.at.next != nil && c.pos == len(c.at.buf) {
		c.at, c.pos = c.at.next, 0
	}
	from := c.pos
	to := int(min(int64(len(c.at.buf)), last+1-c.at.from))
	if from >= to {
		return nil
	}
	c.pos = to
	return c.at.buf[from:to:to]
}

// From is the number of the next byte to read.
func (c *Cursor) From() int64 { return c.at.from + int64(c.pos) }
