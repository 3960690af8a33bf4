package store

import "unsafe"

// pages is a slice in blocks, so that a loan copies no element (see loan). Each page but the last one is full.
type pages[T any] struct {
	all  []page[T]
	n    int
	loan *loan // the latest that has got the pages, or nil
}

type page[T any] struct {
	elems []T
	since *loan // that was the latest when the page was made
}

const pageLen = 1 << 10

func (p *pages[T]) len() int { return p.n }

func (p *pages[T]) at(i uint32) T { return p.all[i/pageLen].elems[i%pageLen] }

func (p *pages[T]) set(i uint32, v T) { p.own(i / pageLen)[i%pageLen] = v }

// own returns the elements of page i for a change. It puts a copy in place of lent ones.
func (p *pages[T]) own(i uint32) []T {
	page := &p.all[i]
	if p.loan.isOpen() && page.since != p.loan {
		page.elems = append(make([]T, 0, cap(page.elems)), page.elems...)
		page.since = p.loan
	}
	return page.elems
}

// grow adds zero elements until there are n.
func (p *pages[T]) grow(n int) {
	for ; p.n < n; p.n++ {
		i := uint32(p.n / pageLen)
		if int(i) == len(p.all) {
			p.all = append(p.all, page[T]{since: p.loan})
		}
		var zero T
		p.all[i].elems = append(p.own(i), zero)
	}
}

// drop removes the last element.
func (p *pages[T]) drop() {
	p.n--
	i := uint32(p.n / pageLen)
	if p.n%pageLen == 0 {
		p.all[i] = page[T]{}
		p.all = p.all[:i]
		return
	}
	p.all[i].elems = p.all[i].elems[:p.n%pageLen]
}

// lend is a list that has the same pages.
func (p *pages[T]) lend(to *loan) pages[T] {
	p.loan = to
	c := *p
	c.all = append([]page[T](nil), p.all...)
	return c
}

func (p *pages[T]) clone() pages[T] {
	var c pages[T]
	c.n, c.all = p.n, make([]page[T], len(p.all))
	for i, from := range p.all {
		c.all[i].elems = append([]T(nil), from.elems...)
	}
	return c
}

// bytes is the memory of the pages.
func (p *pages[T]) bytes() int {
	if p.n == 0 {
		return 0
	}
	var v T
	last := len(p.all) - 1
	elems := last*pageLen + cap(p.all[last].elems)
	return elems*int(unsafe.Sizeof(v)) + cap(p.all)*int(unsafe.Sizeof(p.all[0]))
}
