package rewrite

import (
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"

	values "github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/store"
)

// Writer writes commands. It holds some 64 KB, and of a value no more than one string.
type Writer struct {
	out    io.Writer
	b      []byte
	err    error // of out
	pace   rdb.Pace
	format int // of RESTORE
	key    []byte
	room   int      // elements that the command at hand still gets
	short  [48]byte // for a number
}

const (
	spillAt = 64 << 10
	most    = 64 // elements of a command (server.h: AOF_REWRITE_ITEMS_PER_CMD)
)

// Begin writes what stands before the keys. It is rdb.Saving.As.
func Begin(to io.Writer, s *rdb.Saving) rdb.Target {
	w := &Writer{out: to, pace: s.Pace(), format: s.Format}
	if s.Stamp != 0 {
		w.b = fmt.Appendf(w.b, "#TS:%d\r\n", s.Stamp)
	}
	for _, code := range s.Libraries {
		w.command(3, "FUNCTION", "LOAD")
		w.text(code)
	}
	return w
}

// Select says in which database the next keys are.
func (w *Writer) Select(db int) {
	w.command(2, "SELECT")
	w.number(int64(db))
}

// Size is for an RDB file.
func (w *Writer) Size(int, int) {}

// End writes what is left.
func (w *Writer) End() error {
	w.spill()
	return w.err
}

// Key writes a key.
func (w *Writer) Key(name string, v store.Value, _ store.Past) error {
	w.key = append(w.key[:0], name...)
	switch v.Type() {
	case store.TypeString:
		w.of(3, "SET")
		w.bulk(v.Text())
	case store.TypeList:
		l := store.As[*store.List](v)
		w.elements("RPUSH", l.Len(), elements(l))
	case store.TypeSet:
		s := store.As[*store.Set](v)
		w.elements("SADD", s.Len(), s.All())
	case store.TypeZSet:
		w.zset(store.As[*store.ZSet](v))
	case store.TypeHash:
		w.hash(store.As[*store.Hash](v))
	case store.TypeStream:
		w.stream(v, store.As[*store.Stream](v))
	}
	if at := v.Expire(); at != 0 {
		w.of(3, "PEXPIREAT")
		w.number(at)
	}
	w.pace.Wait()
	return w.err
}

// elements yields those of a list.
func elements(l *store.List) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for node := range l.Packs() {
			for p := node.First(); p >= 0; p = node.Next(p) {
				if !yield(node.Get(p)) {
					return
				}
			}
		}
	}
}

func (w *Writer) elements(name string, n int, all iter.Seq[[]byte]) {
	for element := range all {
		w.part(name, &n, 1)
		w.bulk(element)
	}
}

// part begins a command for the next elements, if it is time for one. left elements are to come, each of that many
// arguments.
func (w *Writer) part(name string, left *int, arguments int) {
	if w.room == 0 {
		w.room = min(*left, most)
		w.of(2+arguments*w.room, name)
	}
	w.room--
	*left--
}

func (w *Writer) zset(z *store.ZSet) {
	left := z.Len()
	add := func(member []byte, score float64) bool {
		w.part("ZADD", &left, 2)
		w.bulk(appendScore(w.short[:0], score))
		w.bulk(member)
		return true
	}
	if z.Encoding() == "listpack" {
		for it := z.Range(0, left, false); it.Next(); {
			add(it.Member, it.Score)
		}
		return
	}
	z.Descending()(add)
}

// appendScore writes a score as ZADD reads it, and no other one.
func appendScore(b []byte, score float64) []byte {
	switch {
	case math.IsInf(score, 1):
		return append(b, "inf"...)
	case math.IsInf(score, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, score, 'g', 17, 64)
}

func (w *Writer) hash(h *store.Hash) {
	left := h.Len()
	for field, value := range h.All() {
		w.part("HMSET", &left, 2)
		w.bulk(field)
		w.bulk(value)
	}
	if h.Timed() == 0 {
		return
	}
	h.AllTimed(func(field, _ []byte, at int64) bool {
		if at != 0 {
			w.of(6, "HPEXPIREAT")
			w.number(at)
			w.text("FIELDS")
			w.text("1")
			w.bulk(field)
		}
		return true
	})
}

// restore writes a value that no other command can make.
func (w *Writer) restore(v store.Value) {
	w.of(4, "RESTORE")
	w.text("0")
	w.bulk(values.Dump(nil, v, w.format))
}

// command begins a command of n arguments, the first of which are words.
func (w *Writer) command(n int, words ...string) {
	w.b = append(strconv.AppendInt(append(w.b, '*'), int64(n), 10), "\r\n"...)
	for _, word := range words {
		w.text(word)
	}
}

// of begins a command of n arguments whose last word stands before the key.
func (w *Writer) of(n int, words ...string) {
	w.command(n, words...)
	w.bulk(w.key)
}

func (w *Writer) text(s string) { w.bulk([]byte(s)) }

func (w *Writer) number(n int64) { w.bulk(strconv.AppendInt(w.short[:0], n, 10)) }

func (w *Writer) bulk(arg []byte) {
	w.b = append(strconv.AppendInt(append(w.b, '$'), int64(len(arg)), 10), "\r\n"...)
	if len(arg) >= spillAt { // it is not copied
		w.spill()
		w.write(arg)
	} else {
		w.b = append(w.b, arg...)
	}
	if w.b = append(w.b, "\r\n"...); len(w.b) >= spillAt {
		w.spill()
	}
}

func (w *Writer) spill() {
	w.write(w.b)
	w.b = w.b[:0]
}

func (w *Writer) write(b []byte) {
	if w.err == nil && len(b) > 0 {
		_, w.err = w.out.Write(b)
	}
}
