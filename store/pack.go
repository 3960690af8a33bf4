package store

// Pos is the position of an entry in a Pack: an offset, or -1 for none. A change of the pack
// invalidates all positions, except those that the changing method returns.
type Pos = int

// Pack is a list of byte strings in one allocation, for collections that are too small for an
// index. The collector sees one object without pointers. It has the role of Redis's listpack, but
// not its format: see pack_size.go.
//
//	 0        lead    head                              len(b)      cap(b)
//	 | n head | free  | entry | entry | ...     | entry | free      |
//
//	entry = length of the bytes (uvarint) | the bytes | length of both (backwards)
//
// Free space may be at either end, so a list node is as cheap to fill and to drain at its head as
// at its tail. The zero value is an empty pack. A pack that is a whole value lies in its key's entry:
// then n and head are in the lead of the block. Other packs leave the lead unused.
type Pack struct {
	b    []byte
	head uint32
	n    uint32
}

// The lead of a block is n and head, of one byte each in a small block and of four in others.
const (
	smallBlock = 240 // bytes, a size class of the allocator
	smallLead  = 2
	largeLead  = 8
)

// leadOf is the size of the lead of a block, in bytes.
func leadOf(b []byte) int {
	if cap(b) <= smallBlock {
		return smallLead
	}
	return largeLead
}

// Len is the number of entries.
func (l *Pack) Len() int { return int(l.n) }

// Bytes is the size of the entries, lengths included.
func (l *Pack) Bytes() int { return len(l.b) - int(l.head) }

// Mem is the memory of the pack in bytes, free space included.
func (l *Pack) Mem() int { return cap(l.b) }

// First is the position of the first entry.
func (l *Pack) First() Pos {
	if l.n == 0 {
		return -1
	}
	return int(l.head)
}

// Last is the position of the last entry.
func (l *Pack) Last() Pos {
	if l.n == 0 {
		return -1
	}
	return l.before(len(l.b))
}

// Next is the position after p.
func (l *Pack) Next(p Pos) Pos {
	if p = l.after(p); p == len(l.b) {
		return -1
	}
	return p
}

// Prev is the position before p.
func (l *Pack) Prev(p Pos) Pos {
	if p == int(l.head) {
		return -1
	}
	return l.before(p)
}

// Get is the entry at p. It aliases the pack and is valid until the next change.
func (l *Pack) Get(p Pos) []byte {
	n := int(l.b[p])
	if n < 0x80 {
		p++
	} else {
		n, p = l.long(p)
	}
	return l.b[p : p+n : p+n]
}

// after is the end of the entry at p.
func (l *Pack) after(p Pos) int {
	// Up to 126 bytes both lengths take one byte; 127 makes the backward one two.
	if n := int(l.b[p]); n < 0x7f {
		return p + n + 2
	}
	n, body := l.long(p)
	size := body - p + n
	return p + size + varintLen(size)
}

// before is the start of the entry that ends at end.
func (l *Pack) before(end int) Pos {
	c := l.b[end-1]
	if c < 0x80 {
		return end - 1 - int(c)
	}
	size, shift := int(c&0x7f), 7
	for i := end - 2; ; i-- {
		c = l.b[i]
		size |= int(c&0x7f) << shift
		if c < 0x80 {
			return i - size
		}
		shift += 7
	}
}

// long reads a length of any width. It returns the length and the start of the bytes.
func (l *Pack) long(p Pos) (n, body int) {
	for shift := 0; ; shift += 7 {
		c := l.b[p]
		p++
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			return n, p
		}
	}
}

func varintLen(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// entryLen is the size of an entry of n bytes.
func entryLen(n int) int {
	if n < 0x7f {
		return n + 2
	}
	size := varintLen(n) + n
	return size + varintLen(size)
}

// packSize is the size of a pack's entries with these bytes.
func packSize(entries [][]byte) (n int) {
	for _, v := range entries {
		n += entryLen(len(v))
	}
	return n
}

// put writes v as an entry at p, where entryLen(len(v)) bytes are reserved for it.
func (l *Pack) put(p Pos, v []byte) {
	n := len(v)
	if n < 0x7f {
		b := l.b[p : p+n+2]
		b[0] = byte(n)
		copy(b[1:], v)
		b[n+1] = byte(n + 1)
		return
	}
	start := p
	for ; n >= 0x80; n >>= 7 {
		l.b[p] = byte(n) | 0x80
		p++
	}
	l.b[p] = byte(n)
	p++
	p += copy(l.b[p:], v)
	size := p - start
	i := p + varintLen(size) - 1
	for ; size >= 0x80; size >>= 7 {
		l.b[i] = byte(size) | 0x80
		i--
	}
	l.b[i] = byte(size)
}

// Append adds v at the tail.
func (l *Pack) Append(v []byte) {
	need, end := entryLen(len(v)), len(l.b)
	if cap(l.b)-end >= need {
		l.b = l.b[:end+need]
	} else {
		end = l.open(end, need)
	}
	l.put(end, v)
	l.n++
}

// AppendPair adds two entries at the tail and grows the pack at most once.
func (l *Pack) AppendPair(v, w []byte) {
	first := entryLen(len(v))
	p := l.open(len(l.b), first+entryLen(len(w)))
	l.put(p, v)
	l.put(p+first, w)
	l.n += 2
}

// Prepend adds v at the head.
func (l *Pack) Prepend(v []byte) {
	need, p := entryLen(len(v)), int(l.head)
	if p >= leadOf(l.b)+need {
		p -= need
		l.head = uint32(p)
	} else {
		p = l.open(p, need)
	}
	l.put(p, v)
	l.n++
}

// InsertBefore adds v before the entry at p and returns its position.
func (l *Pack) InsertBefore(p Pos, v []byte) Pos {
	p = l.open(p, entryLen(len(v)))
	l.put(p, v)
	l.n++
	return p
}

// InsertAfter adds v after the entry at p and returns its position.
func (l *Pack) InsertAfter(p Pos, v []byte) Pos {
	return l.InsertBefore(l.after(p), v)
}

// Replace replaces the entry at p by v and returns its position.
func (l *Pack) Replace(p Pos, v []byte) Pos {
	old, size := l.after(p)-p, entryLen(len(v))
	switch {
	case size > old:
		p = l.open(p, size-old)
	case size < old:
		p = l.close(p, old-size)
	}
	l.put(p, v)
	return p
}

// Delete removes the entry at p and returns the position of the next entry.
func (l *Pack) Delete(p Pos) Pos { return l.DeleteN(p, 1) }

// DeleteN removes n entries from p on, or all if there are fewer. It returns the position of the
// next entry.
func (l *Pack) DeleteN(p Pos, n int) Pos {
	end := p
	for ; n > 0 && end < len(l.b); n-- {
		end = l.after(end)
		l.n--
	}
	if p = l.close(p, end-p); p == len(l.b) {
		return -1
	}
	return p
}

// Index is the position of entry i. A negative i counts from the tail.
func (l *Pack) Index(i int) Pos {
	n := int(l.n)
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return -1
	}
	if i < n/2 {
		p := int(l.head)
		for ; i > 0; i-- {
			p = l.after(p)
		}
		return p
	}
	p := len(l.b)
	for ; i < n; i++ {
		p = l.before(p)
	}
	return p
}

// Find searches for v from p on. After each entry that it compares it skips skip entries.
func (l *Pack) Find(p Pos, v []byte, skip int) Pos {
	if p < 0 {
		return -1
	}
	tail := byte(0) // names tend to differ at their ends
	if len(v) > 0 {
		tail = v[len(v)-1]
	}
	b := l.b
	for p < len(b) {
		n, body := int(b[p]), p+1
		if n >= 0x80 {
			n, body = l.long(p)
		}
		if n == len(v) && (n == 0 || b[body+n-1] == tail && string(b[body:body+n]) == string(v)) {
			return p
		}
		p = l.after(p)
		for i := skip; i > 0 && p < len(b); i-- {
			p = l.after(p)
		}
	}
	return -1
}
