package store_test

import (
	"fmt"

	"github.com/miniredisd/miniredisd/store"
)

// group is one of three groups, with one of three consumers.
func (l *largeKey) group() (*store.Stream, *store.StreamGroup, *store.StreamConsumer) {
	s, name := l.stream(), fmt.Appendf(nil, "g%d", l.r.IntN(3))
	s.CreateGroup(name, store.StreamID{}, 0)
	g := s.Group(name)
	c, _ := g.CreateConsumer(fmt.Appendf(nil, "c%d", l.r.IntN(3)), int64(l.next))
	return s, g, c
}

// appendPending appends an entry, and delivers it.
func (l *largeKey) appendPending() {
	l.append()
	s, g, c := l.group()
	s.Deliver(g, c, store.StreamID{Ms: l.next}, int64(l.next), false)
}

// changePending changes what is pending in each way that there is.
func (l *largeKey) changePending() {
	s, g, c := l.group()
	id := store.StreamID{Ms: l.next - l.r.Uint64N(largeSize)}
	switch l.r.IntN(20) {
	case 0, 1, 2, 3:
		l.appendPending()
	case 4, 5, 6, 7:
		g.Assign(id, c).Count++
	case 8, 9, 10, 11:
		for it := g.Pending(c, id); l.r.IntN(5) > 0 && it.Next(); {
			it.Redeliver(int64(l.r.IntN(1000)))
		}
	case 12:
		g.DeleteConsumer([]byte(c.Name))
	case 13:
		s.DestroyGroup([]byte(g.Name))
	case 14: // long runs end, so blocks join
		for range 100 {
			g.Acknowledge(id)
			id.Ms++
		}
	default:
		g.Acknowledge(id)
	}
}

// deliver makes n entries pending for one consumer of one group.
func (l *largeKey) deliver(n int) {
	s := l.stream()
	s.CreateGroup(k, store.StreamID{}, 0)
	c, _ := s.Group(k).CreateConsumer(k, 1)
	for range n {
		l.append()
		s.Deliver(s.Group(k), c, store.StreamID{Ms: l.next}, 7, false)
	}
}

// acknowledge acknowledges the entries from a number to another, but for each n-th.
func (l *largeKey) acknowledge(n, from, to int) {
	for i := from; i < to; i++ {
		if i%n > 0 {
			l.stream().Group(k).Acknowledge(store.StreamID{Ms: uint64(i + 1)})
		}
	}
}
