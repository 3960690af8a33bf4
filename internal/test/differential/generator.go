package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator generates the commands of one sequence.
type generator struct {
	*rand.Rand
	groups []group
	// focus is the group of most commands of a sequence. So collections grow and shrink, which they do
	// not if every command uses another type.
	focus   group
	numeric bool // only numbers as elements, so that integer encodings last
	older   bool // the oracle is older than Redis 7.2
	valkey  bool // the oracle is a Valkey
	bounds  group
	shifts  bool // the bounds change within the sequence
	multi   bool // MULTI has no EXEC yet
}

// The groups of commands that Redis 7.2 lacks, and of scripts that are not for it. Only who names them gets them.
const (
	newerHashes    = "hashttl"
	newerStrings   = "stringif"
	newerLogs      = "commandlog"
	failingScripts = "failing"
)

type group struct {
	name  string
	lines []line
}

type line struct {
	mode   byte
	syntax []node
}

// oracle is what the generator knows of the other server.
type oracle struct {
	older   bool            // than Redis 7.2
	valkey  bool            // or it is a Valkey
	unknown map[string]bool // the commands that it lacks
}

// leavesOut reports whether a line of the table is not for this oracle. It returns the line without the marks that
// say so.
func (o oracle) leavesOut(line string) (rest string, out bool) {
	if rest, marked := strings.CutPrefix(line, "! "); marked {
		line, out = rest, o.older
	}
	if rest, marked := strings.CutPrefix(line, "V "); marked {
		line, out = rest, out || o.valkey
	}
	return line, out
}

// newGenerator makes a generator of the commands in the named groups, or in all.
func newGenerator(names []string, o oracle) (*generator, error) {
	g := &generator{older: o.older, valkey: o.valkey}
	all := makers()
	for _, t := range table() {
		if len(names) > 0 && !slices.Contains(names, t.group) && t.group != "bounds" {
			continue
		}
		if len(names) == 0 && slices.Contains([]string{newerHashes, newerStrings, newerLogs, failingScripts}, t.group) {
			continue
		}
		gr := group{name: t.group}
		for _, text := range t.lines {
			l := line{mode: ' '}
			text, left := o.leavesOut(text)
			if left {
				continue
			}
			if strings.IndexByte("~%@?#&", text[0]) >= 0 {
				l.mode, text = text[0], text[2:]
			}
			if name, _, _ := strings.Cut(text, " "); o.unknown[strings.ToLower(name)] {
				continue
			}
			var err error
			if l.syntax, err = parseSyntax(text, all); err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			gr.lines = append(gr.lines, l)
		}
		if gr.name == "bounds" {
			g.bounds = gr
			continue
		}
		g.groups = append(g.groups, gr)
	}
	if len(g.groups) == 0 {
		return nil, fmt.Errorf("%v: no such groups", names)
	}
	return g, nil
}

func (g *generator) reset(r *rand.Rand) {
	g.Rand = r
	g.focus = g.groups[r.IntN(len(g.groups))]
	g.numeric = r.IntN(4) == 0
	g.shifts = !g.older && !g.valkey && r.IntN(2) == 0
	g.multi = false
}

// command returns the next command. A transaction has about six.
func (g *generator) command() command {
	c := command{' ', []string{g.pick("EXEC", "EXEC", "EXEC", "DISCARD")}}
	if !g.multi || g.IntN(6) > 0 {
		c = g.next()
	}
	g.multi = c.inMulti(g.multi)
	return c
}

func (g *generator) next() command {
	gr := g.focus
	if g.IntN(4) == 0 {
		gr = g.groups[g.IntN(len(g.groups))]
	}
	if g.shifts && g.IntN(20) == 0 {
		gr = g.bounds
	}
	l := gr.lines[g.IntN(len(gr.lines))]
	for l.mode == '&' && g.multi { // a size that COMMANDLOG notes would count the digits of its IDs
		l = gr.lines[g.IntN(len(gr.lines))]
	}
	c := command{l.mode, g.expand(nil, l.syntax)}
	if !fragile(c) && c.args[0] != "CONFIG" && g.IntN(25) == 0 {
		g.addFault(&c)
	}
	return c
}

// addFault usually makes a command wrong, because servers must report the same fault. It does not touch
// the keys of lexical ranges, which must keep one score for all members, nor the bytes of HyperLogLogs.
func (g *generator) addFault(c *command) {
	bytes := c.args[0] == "APPEND" || c.args[0] == "SETRANGE"
	if len(c.args) == 1 || strings.HasPrefix(c.args[1], "x") || strings.HasPrefix(c.args[1], "y") && bytes {
		return
	}
	sound := slices.Clone(c.args)
	i := 1 + g.IntN(len(c.args)-1)
	switch g.IntN(5) {
	case 0:
		c.args = slices.Delete(c.args, i, i+1)
	case 1:
		c.args = slices.Insert(c.args, i, c.args[i])
	case 2:
		c.args[i] = g.pick("", "x", "-1", "0", "1.5", "99999999999999999999", "NX", "LIMIT", "(1")
	case 3:
		c.args = append(c.args, g.pick("x", "1", "WITHSCORES", "GET", ""))
	case 4:
		c.args[1], c.args[i] = c.args[i], c.args[1]
	}
	switch {
	case len(c.args) > 1 && strings.EqualFold(c.args[1], "FIELDS"): // Valkey takes such a key for the word
		c.args = sound
	case len(c.args) > 1 && c.args[1] != "x" && strings.HasPrefix(c.args[1], "x"): // its members keep their score
		c.args = sound
	case g.valkey && c.args[0][0] == 'Z' && beginsBefore(c.args): // see first
		c.args = sound
	}
}

// beginsBefore reports whether a range has a LIMIT with a negative offset.
func beginsBefore(args []string) bool {
	for i := range len(args) - 1 {
		if strings.EqualFold(args[i], "LIMIT") && strings.HasPrefix(args[i+1], "-") {
			return true
		}
	}
	return false
}

func (g *generator) expand(args []string, nodes []node) []string {
	for _, n := range nodes {
		times := 1
		if n.repeat {
			times += g.IntN(4) * g.IntN(2)
		}
		if n.maybe && g.IntN(2) == 0 {
			times = 0
		}
		for range times {
			switch {
			case n.choices != nil:
				args = g.expand(args, n.choices[g.IntN(len(n.choices))])
			case n.maker != nil:
				args = append(args, n.maker(g))
			default:
				word := n.literal
				if len(args) > 0 && g.IntN(8) == 0 {
					word = strings.ToLower(word)
				}
				args = append(args, word)
			}
		}
	}
	return args
}

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }
