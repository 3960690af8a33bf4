package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// closed stands for the reply of a connection that the server has closed.
var closed = reply{text: "(closed)"}

// reply is a reply as text, one line for each value. Both the expected lines and the server's reply
// become a reply, so that patterns are compared with the text that -update would write.
type reply struct {
	text  string
	elems []reply // of a map: key, value, key, value
}

// isMap reports whether a kind has pairs: a map or an attribute. The last element of an attribute is the
// reply that it describes.
func (r reply) isMap() bool { return r.text != "" && strings.Contains("%|", r.text[:1]) }

func render(v resp.Value) reply {
	r := reply{text: head(v)}
	for _, e := range v.Elems {
		r.elems = append(r.elems, render(e))
	}
	return r
}

func head(v resp.Value) string {
	switch {
	case v.Null && v.Kind == '_':
		return "_"
	case v.Null:
		return string(v.Kind) + "-1"
	}
	switch v.Kind {
	case ':':
		return ":" + strconv.FormatInt(v.Int, 10)
	case '$':
		return quote(v.Str)
	case '=', '!':
		return string(v.Kind) + quote(v.Str)
	case '*', '~', '>':
		return string(v.Kind) + strconv.Itoa(len(v.Elems))
	case '%', '|':
		return string(v.Kind) + strconv.Itoa(len(v.Elems)/2)
	}
	q := quote(v.Str)
	return string(v.Kind) + strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), `\\`, `\`)
}

func (r reply) lines(indent string) []string {
	out := []string{indent + r.text}
	indent += "  "
	for i := 0; i < len(r.elems); i++ {
		key := ""
		if r.isMap() && i+1 < len(r.elems) {
			key = r.elems[i].text + " => "
			i++
		}
		v := r.elems[i].lines(indent)
		v[0] = indent + key + r.elems[i].text
		out = append(out, v...)
	}
	return out
}

func (r reply) String() string { return strings.Join(r.lines(""), "\n") }

// sorted sorts the elements of every level by their text, one by one or in pairs.
func (r reply) sorted(pairs bool) reply {
	groups := r.groups(pairs)
	for _, g := range groups {
		for i := range g {
			g[i] = g[i].sorted(pairs)
		}
	}
	slices.SortStableFunc(groups, func(a, b []reply) int { return strings.Compare(a[0].String(), b[0].String()) })
	return reply{text: r.text, elems: slices.Concat(groups...)}
}

func (r reply) groups(pairs bool) [][]reply {
	n := 1
	// RESP3 sends some pairs as arrays of two.
	if r.isMap() || pairs && len(r.elems)%2 == 0 && len(r.elems) > 0 && r.elems[0].elems == nil {
		n = 2
	}
	return slices.Collect(slices.Chunk(slices.Clone(r.elems), n))
}

// parse reads the lines of one reply.
func parse(lines []string) (reply, error) {
	r, rest, err := parseAt(lines, "")
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%q: more than the one reply a command has (take further ones with \"<\")", rest[0])
	}
	return r, err
}

func parseAt(lines []string, indent string) (r reply, rest []string, err error) {
	if len(lines) == 0 {
		return r, nil, fmt.Errorf("the reply ends where an element is due")
	}
	text, ok := strings.CutPrefix(lines[0], indent)
	if !ok || text == "" || text[0] == ' ' {
		return r, nil, fmt.Errorf("%q: want an indentation of %d spaces", lines[0], len(indent))
	}
	return parseText(text, lines[1:], indent)
}

func parseText(text string, rest []string, indent string) (r reply, _ []string, err error) {
	r.text = text
	n, ok := count(text)
	if !ok {
		return r, rest, nil
	}
	indent += "  "
	for range n {
		var e reply
		if r.isMap() {
			r.elems, rest, err = parsePair(r.elems, rest, indent)
		} else {
			e, rest, err = parseAt(rest, indent)
			r.elems = append(r.elems, e)
		}
		if err != nil {
			return r, nil, err
		}
	}
	if text[0] == '|' {
		var e reply
		e, rest, err = parseAt(rest, indent)
		r.elems = append(r.elems, e)
	}
	return r, rest, err
}

func parsePair(elems []reply, lines []string, indent string) (_ []reply, rest []string, err error) {
	if len(lines) == 0 || !strings.HasPrefix(lines[0], indent) {
		return nil, nil, fmt.Errorf("the map ends where a pair is due")
	}
	key, value := cutPair(lines[0][len(indent):])
	if value == "" {
		return nil, nil, fmt.Errorf("%q: want a pair, key => value", lines[0])
	}
	e, rest, err := parseText(value, lines[1:], indent)
	return append(elems, reply{text: key}, e), rest, err
}

func count(text string) (n int, ok bool) {
	if !strings.ContainsAny(text[:1], "*~>%|") {
		return 0, false
	}
	n, err := strconv.Atoi(text[1:])
	return n, err == nil && n >= 0
}

func cutPair(s string) (key, value string) {
	if s != "" && s[0] == '"' {
		if _, n, err := unquote(s); err == nil {
			return s[:n], strings.TrimPrefix(s[n:], " => ")
		}
	}
	key, value, _ = strings.Cut(s, " => ")
	return key, value
}

// matcher compares replies and remembers the values of <name=...> patterns.
type matcher struct {
	known           map[string]string
	anyOrder, pairs bool
}

func (m *matcher) match(want, got reply) bool {
	if want.text == "<...>" {
		return true
	}
	if len(want.elems) != len(got.elems) || !m.matchText(want.text, got.text) {
		return false
	}
	if !m.anyOrder {
		return m.matchAll(want.elems, got.elems)
	}
	left := got.groups(m.pairs)
	for _, w := range want.groups(m.pairs) {
		i := slices.IndexFunc(left, func(g []reply) bool { return m.matchAll(w, g) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func (m *matcher) matchAll(want, got []reply) bool {
	return slices.EqualFunc(want, got, m.match)
}

var (
	placeholder = regexp.MustCompile(`<(?:([a-z]+)=)?([a-z]+|-?\d+\.\.-?\d+)>`)
	kinds       = map[string]string{
		"int": `-?\d+`, "float": `-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)|nan`, "hex": `[0-9a-f]+`, "id": `\d+-\d+`,
		"addr": `[^ "]+:\d+`, "word": `[^ "]+`, "any": `.*`,
	}
)

func (m *matcher) matchText(want, got string) bool {
	if want == got {
		return true
	}
	var re strings.Builder
	var checks []func(string) bool
	last := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		name, kind := "", want[at[4]:at[5]]
		if at[2] >= 0 {
			name = want[at[2]:at[3]]
		}
		pattern, check := m.pattern(name, kind)
		if pattern == "" {
			continue
		}
		re.WriteString(regexp.QuoteMeta(want[last:at[0]]) + "(" + pattern + ")")
		checks = append(checks, check)
		last = at[1]
	}
	if last == 0 {
		return false
	}
	re.WriteString(regexp.QuoteMeta(want[last:]))
	found := regexp.MustCompile("^" + re.String() + "$").FindStringSubmatch(got)
	if found == nil {
		return false
	}
	for i, check := range checks {
		if !check(found[i+1]) {
			return false
		}
	}
	return true
}

// pattern returns the regular expression of a placeholder and a check of the matched text. The
// expression is "" if the text only looks like a placeholder.
func (m *matcher) pattern(name, kind string) (re string, check func(string) bool) {
	remember := func(s string) bool {
		if name != "" {
			m.known[name] = s
		}
		return true
	}
	if lo, hi, ok := strings.Cut(kind, ".."); ok {
		return `-?\d+`, func(s string) bool {
			a, _ := strconv.ParseInt(lo, 10, 64)
			b, _ := strconv.ParseInt(hi, 10, 64)
			v, err := strconv.ParseInt(s, 10, 64)
			return err == nil && a <= v && v <= b && remember(s)
		}
	}
	if v, ok := m.known[kind]; ok && name == "" {
		return regexp.QuoteMeta(v), remember
	}
	return kinds[kind], remember
}
