package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/store"
)

// labValue reads a value for the log.
func labValue(v store.Value) *lab.Value {
	value := &lab.Value{Type: v.Type().String(), Deadline: v.Expire()}
	p := valueParts{}
	switch v.Type() {
	case store.TypeString:
		if text := v.Text(); len(text) > lab.MostBytes {
			value.Unread, value.Len = true, len(text)
		} else {
			value.Text = lab.Word(text)
		}
		return value
	case store.TypeList:
		l := store.As[*store.List](v)
		for it := l.From(0, false); p.more(l.Len()); {
			e, ok := it.Next()
			if !ok {
				break
			}
			p.add(e, nil, 0)
		}
	case store.TypeSet:
		s := store.As[*store.Set](v)
		if p.more(s.Len()) {
			for m := range s.All() {
				p.add(m, nil, 0)
			}
		}
	case store.TypeZSet:
		z := store.As[*store.ZSet](v)
		if p.more(z.Len()) {
			for it := z.Range(0, z.Len(), false); it.Next(); {
				p.add(it.Member, strconv.AppendFloat(nil, it.Score, 'g', -1, 64), 0)
			}
		}
	case store.TypeHash:
		p.hash(store.As[*store.Hash](v))
	case store.TypeStream:
		p.stream(store.As[*store.Stream](v))
	}
	value.Parts, value.Len, value.Unread = p.all, p.len, p.len > lab.MostParts || len(p.all) > lab.MostParts
	if v.Type() != store.TypeList {
		slices.SortFunc(value.Parts, func(a, b lab.Part) int { return cmp.Compare(a.Name, b.Name) })
	}
	if value.Unread {
		value.Parts = nil
	}
	return value
}

// valueParts are those of a value.
type valueParts struct {
	all []lab.Part
	len int
}

// more reports whether a value of n elements is small enough to be read.
func (p *valueParts) more(n int) bool {
	p.len = n
	return n <= lab.MostParts && len(p.all) <= lab.MostParts
}

func (p *valueParts) add(name, value []byte, deadline int64) {
	p.all = append(p.all, lab.Part{Name: lab.Word(name), Value: lab.Word(value), Deadline: deadline})
}

func (p *valueParts) hash(h *store.Hash) {
	if !p.more(h.Len()) {
		return
	}
	if h.Timed() > 0 {
		h.AllTimed(func(field, value []byte, at int64) bool {
			p.add(field, value, at)
			return true
		})
		return
	}
	for field, value := range h.All() {
		p.add(field, value, 0)
	}
}

// stream adds the entries of a stream, and all that its groups know.
func (p *valueParts) stream(s *store.Stream) {
	if !p.more(s.Len()) {
		return
	}
	p.say("last", "%s deleted %s added %d", idText(s.LastID), idText(s.MaxDeletedID), s.EntriesAdded)
	last := store.StreamID{Ms: math.MaxUint64, Seq: math.MaxUint64}
	for it := s.Range(store.StreamID{}, last, false); it.Next(); {
		var fields [][]byte
		for range it.Fields {
			field, value := it.Field()
			fields = append(fields, slices.Clone(field), slices.Clone(value))
		}
		p.add([]byte(idText(it.ID)), []byte(lab.Line(lab.Words(fields))), 0)
	}
	for g := range s.Groups.All() {
		p.say("group "+g.Name, "last %s read %d", idText(g.LastID), g.EntriesRead)
		for c := range g.Consumers.All() {
			p.say("consumer "+g.Name+" "+c.Name, "seen %d active %d", c.Seen, c.Active)
			for it := g.Pending(c, store.StreamID{}); p.more(s.Len()) && it.Next(); {
				p.say("pending "+g.Name+" "+idText(it.ID), "%s at %d, %d times", c.Name, it.At, it.Count)
			}
		}
	}
}

func (p *valueParts) say(name, format string, args ...any) {
	if p.more(p.len) {
		p.add([]byte(name), fmt.Appendf(nil, format, args...), 0)
	}
}

func idText(id store.StreamID) string {
	return strconv.FormatUint(id.Ms, 10) + "-" + strconv.FormatUint(id.Seq, 10)
}
