package command

import (
	"slices"
	"strings"
)

// Argument is one argument of a command in COMMAND DOCS. The Syntax of a row has this grammar:
//
//	name            an argument; its type follows from the name, or is given: name:double
//	TOKEN           a literal word; TOKEN name is an argument behind the word
//	[ x ]           x is optional
//	( x ) , x | y   a group; one of several
//	x ...           x once or more; TOKEN+ x ... repeats the word each time
type Argument struct {
	Name, Type, Token                 string
	Optional, Multiple, MultipleToken bool
	Args                              []Argument // the arguments of a block, or the choices of a oneof
}

// ParseSyntax reads the Syntax of a row.
func ParseSyntax(syntax string) []Argument {
	for _, mark := range []string{"[", "]", "(", ")", "|"} {
		syntax = strings.ReplaceAll(syntax, mark, " "+mark+" ")
	}
	p := syntaxParser{words: strings.Fields(syntax)}
	return p.sequence()
}

type syntaxParser struct{ words []string }

func (p *syntaxParser) peek() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0]
}

func (p *syntaxParser) next() string {
	w := p.peek()
	p.words = p.words[min(1, len(p.words)):]
	return w
}

// sequence reads arguments up to the end of the text, of a group or of a choice.
func (p *syntaxParser) sequence() (args []Argument) {
	for {
		switch w := p.peek(); w {
		case "", "]", ")", "|":
			return args
		case "...":
			p.next()
			args[len(args)-1].Multiple = true
		default:
			args = append(args, p.item())
		}
	}
}

func (p *syntaxParser) item() Argument {
	switch w := p.next(); {
	case w == "[":
		a := p.choice()
		a.Optional = true
		return a
	case w == "(":
		return p.choice()
	case isToken(w):
		return p.token(w)
	default:
		return named(w)
	}
}

// token reads a word and the argument behind it, if any.
func (p *syntaxParser) token(w string) Argument {
	word, repeated := strings.CutSuffix(w, "+")
	switch next := p.peek(); {
	case next == "", next == "[", next == "|", next == "]", next == ")", next == "...", isToken(next):
		return Argument{Name: strings.ToLower(word), Type: "pure-token", Token: word}
	}
	a := p.item()
	a.Token, a.MultipleToken = word, repeated
	return a
}

// choice reads up to the closing bracket. The result is an argument, a block of arguments, or a oneof.
func (p *syntaxParser) choice() Argument {
	var choices []Argument
	for {
		choices = append(choices, block(p.sequence()))
		if p.next() != "|" {
			break
		}
	}
	if len(choices) == 1 {
		return choices[0]
	}
	return Argument{Name: choices[0].Name, Type: "oneof", Args: choices}
}

// block joins arguments. In LIMIT offset count, the word marks the whole block.
func block(args []Argument) Argument {
	if len(args) == 1 {
		return args[0]
	}
	b := Argument{Name: args[0].Name, Type: "block", Args: args}
	if first := args[0]; first.Token != "" && first.Type != "pure-token" && !first.Multiple && !first.Optional {
		b.Name, b.Token = strings.ToLower(first.Token), first.Token
		b.Args = slices.Clone(args)
		b.Args[0].Token = ""
	}
	return b
}

func isToken(w string) bool { return w == strings.ToUpper(w) && !strings.ContainsAny(w, "[]()|") }

// typeByName returns the type of an argument whose syntax gives none.
func typeByName(name string) string {
	switch name {
	case "key", "source", "destination", "newkey":
		return "key"
	case "seconds", "milliseconds", "count", "start", "stop", "end", "offset", "index", "numkeys", "db", "cursor",
		"timeout", "bit", "increment", "decrement":
		return "integer"
	case "pattern":
		return "pattern"
	}
	return "string"
}

func named(w string) Argument {
	name, typ, given := strings.Cut(w, ":")
	if !given {
		typ = typeByName(name)
	}
	return Argument{Name: name, Type: typ}
}
