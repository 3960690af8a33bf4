package differential

import (
	"fmt"
	"strings"
)

// node is a part of a command's syntax in table.go:
//
//	WORD or 0        the word itself; a ' before a word in lower case
//	word             an argument from the maker of that name
//	[ x ]            x or nothing
//	( x | y )        x or y, equally likely; also in brackets
//	word+  ( x )+    one to four times
type node struct {
	literal string
	maker   maker
	choices [][]node
	maybe   bool
	repeat  bool
}

type maker func(g *generator) string

type parser struct {
	words  []string
	makers map[string]maker
}

func parseSyntax(s string, makers map[string]maker) ([]node, error) {
	for _, c := range []string{"[", "]", "(", ")", "|"} {
		s = strings.ReplaceAll(s, c, " "+c+" ")
	}
	p := &parser{strings.Fields(s), makers}
	choices, err := p.choices("")
	if err == nil && len(choices) != 1 {
		err = fmt.Errorf("%q: | outside of brackets", s)
	}
	if err != nil {
		return nil, err
	}
	return choices[0], nil
}

func (p *parser) choices(end string) ([][]node, error) {
	all := [][]node{nil}
	for len(p.words) > 0 {
		w := p.words[0]
		p.words = p.words[1:]
		last := &all[len(all)-1]
		switch w {
		case end:
			return all, nil
		case "|":
			all = append(all, nil)
			continue
		case "]", ")":
			return nil, fmt.Errorf("unexpected %s", w)
		case "[", "(":
			inner, err := p.choices(map[string]string{"[": "]", "(": ")"}[w])
			if err != nil {
				return nil, err
			}
			*last = append(*last, node{choices: inner, maybe: w == "["})
			continue
		case "+":
			(*last)[len(*last)-1].repeat = true
			continue
		}
		n, err := p.word(w)
		if err != nil {
			return nil, err
		}
		*last = append(*last, n)
	}
	if end != "" {
		return nil, fmt.Errorf("%s is missing", end)
	}
	return all, nil
}

func (p *parser) word(w string) (n node, err error) {
	w, n.repeat = strings.CutSuffix(w, "+")
	if w == "" || w[0] < 'a' || w[0] > 'z' {
		n.literal = strings.TrimPrefix(w, "'")
		return n, nil
	}
	n.maker = p.makers[w]
	if n.maker == nil {
		err = fmt.Errorf("%s: no maker of this name", w)
	}
	return n, err
}
