package store

import (
	"bytes"
	"sync"
	"unsafe"
)

// lentText is a long string that a capture lends. A change in place copies no more than the pages that it changes: a
// change that copied all of 500 MB would hold up other clients for half a second. Unlike other copies it is shared
// by two goroutines. The reader takes the pages in their order, and holds the lock for one of them.
//
//	text   | read | read | as it was | changed | as it was |
//	                                     |
//	saved                              [ old ]
type lentText struct {
	mu    sync.Mutex
	text  []byte         // the length stays
	read  int            // pages that the reader has
	saved map[int][]byte // pages that have changed since
	whole []byte         // what the reader has
}

const (
	pagedAt  = 8 << 20 // a lent string of that many bytes is a lentText; a shorter one is copied when it changes
	pageSize = 64 << 10
)

func (l *lentText) page(p int) []byte { return l.text[p*pageSize : min((p+1)*pageSize, len(l.text))] }

// beforeChange saves the pages that have bytes from <= i < to.
func (l *lentText) beforeChange(from, to int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := max(from/pageSize, l.read); p*pageSize < min(to, len(l.text)); p++ {
		if l.saved[p] == nil {
			l.saved[p] = bytes.Clone(l.page(p))
		}
	}
}

// bytes is the string as it was. It is for the reader.
func (l *lentText) bytes() []byte {
	if l.whole == nil {
		l.whole = make([]byte, 0, len(l.text))
	}
	for len(l.whole) < len(l.text) {
		l.readPage()
	}
	return l.whole
}

func (l *lentText) readPage() {
	l.mu.Lock()
	defer l.mu.Unlock()
	page := l.saved[l.read]
	if page == nil {
		page = l.page(l.read)
	}
	l.whole = append(l.whole, page...)
	delete(l.saved, l.read)
	l.read++
}

// lendText returns a captured string, and lends that of e.
func (c *Capture) lendText(e *entry) entry {
	l := &lentText{text: e.bytes(), saved: map[int][]byte{}}
	if c.ks.lentTexts == nil {
		c.ks.lentTexts = map[unsafe.Pointer]*lentText{}
	}
	c.ks.lentTexts[e.ref] = l
	copied := *e
	copied.timed, copied.enc, copied.ref = 0, encPaged, unsafe.Pointer(l)
	return copied
}

// changeText is called before the bytes from <= i < to of a string change in place.
func (ks *Keyspace) changeText(e *entry, from, to int) {
	if l := ks.lentTexts[e.ref]; l != nil {
		l.beforeChange(from, to)
	}
}
