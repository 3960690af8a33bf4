package differential

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// agree reports whether two replies to c mean the same. before is miniredisd's reply to the command
// before.
func (d *duel) agree(c command, want, got, before resp.Value) bool {
	ok := false
	switch c.mode {
	case '@':
		ok = sameTime(c.args[0], want, got)
	case '#':
		ok = samePending(want, got)
	case '?':
		ok = want.Kind == got.Kind && want.Null == got.Null && len(want.Elems) == len(got.Elems) &&
			(want.Kind != '-' || want.Str == got.Str)
	case '^':
		ok = canonical(want, '~') == canonical(got, '~') && within(before, got)
	default:
		ok = canonical(want, c.mode) == canonical(got, c.mode)
	}
	return ok || otherWords(want, got) || collated(c, want, got) || d.older && knownDifference(c, want, got) ||
		d.valkey && differsFromValkey(c, want, got)
}

// otherWords reports whether both servers refuse to compile a script, each with its parser's own text.
func otherWords(want, got resp.Value) bool {
	const refused = "ERR Error compiling script "
	return strings.HasPrefix(want.Str, refused) && strings.HasPrefix(got.Str, refused)
}

// within reports whether all picked elements are in the collection from.
func within(picked, from resp.Value) bool {
	if picked.Kind == '-' || picked.Null {
		return true
	}
	elems := picked.Elems
	if picked.Kind == '$' {
		elems = []resp.Value{picked}
	}
	for _, e := range elems {
		if !slices.ContainsFunc(from.Elems, func(f resp.Value) bool { return f.Str == e.Str }) {
			return false
		}
	}
	return true
}

// canonical returns v as text. Elements that may have any order are sorted.
func canonical(v resp.Value, mode byte) string {
	if mode == '~' || mode == '%' {
		v = sorted(v, mode == '%')
	}
	return v.String()
}

func sorted(v resp.Value, pairs bool) resp.Value {
	size := 1
	// RESP3 sends some pairs as arrays of two.
	if v.Kind == '%' || pairs && len(v.Elems)%2 == 0 && len(v.Elems) > 0 && v.Elems[0].Elems == nil {
		size = 2
	}
	var groups [][]resp.Value
	for g := range slices.Chunk(v.Elems, size) {
		g = slices.Clone(g)
		for i := range g {
			g[i] = sorted(g[i], pairs)
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b []resp.Value) int { return strings.Compare(a[0].String(), b[0].String()) })
	v.Elems = slices.Concat(groups...)
	return v
}

// samePending compares two replies of XPENDING: lists of ID, consumer, milliseconds since the delivery,
// and number of deliveries.
func samePending(want, got resp.Value) bool {
	if len(want.Elems) != len(got.Elems) {
		return false
	}
	for i, w := range want.Elems {
		g := got.Elems[i]
		if len(w.Elems) != 4 || len(g.Elems) != 4 || !sameTime("PENDING", w.Elems[2], g.Elems[2]) {
			return false
		}
		for _, k := range []int{0, 1, 3} {
			if w.Elems[k].String() != g.Elems[k].String() {
				return false
			}
		}
	}
	return len(want.Elems) > 0 || want.String() == got.String()
}

// sameTime compares two times and allows for the time between the two requests. Different times in the
// table differ by more.
func sameTime(name string, want, got resp.Value) bool {
	if want.Kind == '*' && got.Kind == '*' && len(want.Elems) == len(got.Elems) && len(want.Elems) > 0 { // HTTL
		for i := range want.Elems {
			if !sameTime(strings.TrimPrefix(name, "H"), want.Elems[i], got.Elems[i]) {
				return false
			}
		}
		return true
	}
	if want.Kind != ':' || got.Kind != ':' || want.Int < 0 || got.Int < 0 {
		return want.String() == got.String()
	}
	tolerance := int64(20)
	if name[0] == 'P' {
		tolerance *= 1000
	}
	return max(want.Int-got.Int, got.Int-want.Int) <= tolerance
}
