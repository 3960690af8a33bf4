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
	case '&':
		ok = sameLog(c, want, got)
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

// agreeOnAll is agree for a command, or for EXEC and what it runs.
func (d *duel) agreeOnAll(c command, queued []command, want, got, before resp.Value) bool {
	if c.args[0] != "EXEC" || len(want.Elems) != len(queued) || len(got.Elems) != len(queued) || len(queued) == 0 {
		return d.agree(c, want, got, before)
	}
	for i, c := range queued {
		if !d.agree(c, want.Elems[i], got.Elems[i], resp.Value{}) {
			return false
		}
	}
	return true
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

// sameLog compares two logs of commands. The ID of an entry, its times and the address of the client may be any. The
// value of a slow command is a time. The size of a reply in a transaction counts those before it, and some errors have
// other words.
func sameLog(c command, want, got resp.Value) bool {
	tolerance := map[string]int64{"LARGE-REQUEST": 0, "LARGE-REPLY": 100}
	wanted, a := logged(want)
	found, b := logged(got)
	most, sizes := tolerance[strings.ToUpper(c.args[len(c.args)-1])]
	for i := range min(len(a), len(b)) {
		if sizes && max(a[i]-b[i], b[i]-a[i]) > most {
			return false
		}
	}
	return wanted == found
}

// unsized are words of commands whose replies have no certain size: a log has IDs, and a pick may be any.
var unsized = []string{"LOG\"", "XINFO", "OBJECT", "RAND"}

// logged returns a log as text and the sizes, without such commands.
func logged(log resp.Value) (entries string, sizes []int64) {
	var text strings.Builder
	for _, e := range log.Elems {
		if len(e.Elems) != 6 || len(e.Elems[3].Elems) == 0 {
			return log.String(), nil
		}
		words := strings.ToUpper(e.Elems[3].String())
		if slices.ContainsFunc(unsized, func(word string) bool { return strings.Contains(words, word) }) {
			continue
		}
		text.WriteString(e.Elems[3].String() + e.Elems[5].String() + "\n")
		sizes = append(sizes, e.Elems[2].Int)
	}
	if len(log.Elems) == 0 {
		return log.String(), nil
	}
	return text.String(), sizes
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
