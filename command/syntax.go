package command

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/dialect"
)

// Argument is one argument of a command in COMMAND DOCS. The Syntax of a row has this grammar:
//
//	name            an argument; its type follows from the name, or is given: name:double
//	TOKEN           a literal word, whose name may be given: change:CH
//	TOKEN name      an argument after a literal word
//	[ x ]           x is optional
//	( x ) , x | y   a group; one of several; it has the name of its first argument
//	[range: x y]    a name for the group in brackets
//	x ...           x once or more; TOKEN+ x ... repeats the word each time
//	name@6.2.0      the version that brought the argument, a dialect.Since; name@-6.2.0 is deprecated since then.
//	                That of a newer TOKEN stands at its first argument
//	name/text       what people see in place of the name; it ends the word
//	name#1          the key specification of the argument, where counting keys does not find it
type Argument struct {
	Name, Type, Token                 string
	Display                           string        // what people see; empty for groups
	Since                             dialect.Since // empty when the whole command has the same
	DeprecatedSince                   string        // the same
	KeySpec                           int           // 0: count the keys
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
		return argument(w)
	}
}

// token reads a word and the argument after it, if any.
func (p *syntaxParser) token(w string) Argument {
	word, repeated := strings.CutSuffix(w, "+")
	switch next := p.peek(); {
	case next == "", next == "[", next == "|", next == "]", next == ")", next == "...", isToken(next):
		return argument(word)
	}
	a := p.item()
	a.Token, a.MultipleToken = word, repeated
	return a
}

// choice reads up to the closing bracket. The result is an argument, a block of arguments, or a oneof.
func (p *syntaxParser) choice() Argument {
	label := ""
	if strings.HasSuffix(p.peek(), ":") {
		label = p.next()
	}
	var choices []Argument
	for {
		grouped := p.peek() == "("
		choices = append(choices, block(p.sequence(), grouped))
		if p.next() != "|" {
			break
		}
	}
	a := choices[0]
	if len(choices) > 1 {
		a = Argument{Name: a.Name, Type: "oneof", Args: choices}
	}
	if label != "" {
		l := argument(label)
		a.Name, a.Since, a.DeprecatedSince = l.Name, l.Since, l.DeprecatedSince
	}
	return a
}

// block joins arguments. In LIMIT offset count, the word marks the whole block. In (COUNT count) [ANY],
// where the first argument is grouped, it marks that argument.
func block(args []Argument, grouped bool) Argument {
	if len(args) == 1 {
		return args[0]
	}
	b := Argument{Name: args[0].Name, Type: "block", Args: args}
	first := args[0]
	marks := first.Token != "" && first.Type != "pure-token" && !first.Multiple && !first.Optional
	if marks && !grouped {
		b.Name, b.Token = strings.ToLower(first.Token), first.Token
		b.Args = slices.Clone(args)
		b.MultipleToken = first.MultipleToken
		b.Args[0].Token, b.Args[0].MultipleToken = "", false
		if first.Since.Newer() {
			b.Since, b.Args[0].Since = first.Since, ""
		}
	}
	return b
}

// isToken reports whether a word is a literal one, with or without a name and versions.
func isToken(w string) bool {
	if strings.ContainsAny(w, "[]()|") {
		return false
	}
	w, _, _ = strings.Cut(w, "/")
	if _, typ, given := strings.Cut(w, ":"); given {
		return typ != "" && typ == strings.ToUpper(typ)
	}
	return w == strings.ToUpper(w)
}

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

// argument reads a word of the syntax: name#spec@since-deprecated:type/display. A literal word stands in
// place of the name or of the type.
func argument(w string) Argument {
	w, display, differs := strings.Cut(w, "/")
	w, typ, _ := strings.Cut(w, ":")
	w, versions, _ := strings.Cut(w, "@")
	name, spec, _ := strings.Cut(w, "#")
	a := Argument{Name: name, Type: typ}
	since, deprecated, _ := strings.Cut(versions, "-")
	a.Since, a.DeprecatedSince = dialect.Since(since), deprecated
	a.KeySpec, _ = strconv.Atoi(spec)
	switch {
	case typ == "" && isToken(name):
		a.Name, a.Type, a.Token = strings.ToLower(name), "pure-token", name
	case typ != "" && isToken(typ):
		a.Type, a.Token = "pure-token", typ
	case typ == "":
		a.Type = typeByName(name)
	}
	if a.Display = a.Name; differs {
		a.Display = display
	}
	return a
}
