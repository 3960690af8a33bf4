package config

import "github.com/miniredisd/miniredisd/internal/ascii"

// kind is the type of a directive's value.
type kind uint8

const (
	boolean kind = iota
	integer
	memory  // bytes, with an optional unit
	percent // memory or "n%"; the field has -n for a percentage
	octal
	word  // one of row.words
	words // some of row.words
	text
	// The kinds below have their own parsers in special.go.
	bind
	save
	outputLimit
	oomValues
	percentiles
	events
	directory
	replicaOf
	played // the names of dialects
)

type flag uint16

const (
	immutable flag = 1 << iota
	hidden         // CONFIG GET shows it for its exact name only
	sensitive      // a password: its value must not reach a log
	volatile       // the name of a file: CONFIG SET reads it again even if the name stays the same
	protected      // CONFIG SET needs enable-protected-configs
	settled        // CONFIG SET refuses it while data are loaded
	unset          // the empty string means that the directive is absent
	inert          // it has no effect: see the package comment, also for the next two
	refused        // any value but the default is an error
	withheld       // CONFIG SET refuses it, a file may set it, and CONFIG GET shows the default
	own            // Redis does not have it: CONFIG GET wants its exact name, and REWRITE adds no line; see help
)

// row is one directive (config.c: standardConfig).
type row struct {
	name, alias string
	kind        kind
	flags       flag
	def         string            // the default, as CONFIG GET shows it
	min, max    int64             // the range of a number
	words       []string          // what word and words accept
	field       func(*Config) any // returns a pointer to the field; nil for an inert directive
	arg, help   string            // what -h says of a directive that Redis does not have
}

// Option is a directive that Redis does not have, as -h shows it: --Name Arg.
type Option struct{ Name, Arg, Help string }

// Own returns the directives that Redis does not have.
func Own() []Option {
	var all []Option
	for i := range table {
		if r := &table[i]; r.flags&own != 0 {
			all = append(all, Option{r.name, r.arg, r.help})
		}
	}
	return all
}

// multi reports whether a directive takes several values.
func (r *row) multi() bool {
	switch r.kind {
	case bind, save, outputLimit, oomValues, percentiles, replicaOf, words:
		return true
	}
	return false
}

// lookup finds a directive by its name or alias, in upper or lower case.
func lookup(name string) (r *row, isAlias bool) {
	name = ascii.ToLower(name)
	for i := range table {
		switch {
		case table[i].name == name:
			return &table[i], false
		case table[i].alias == name && name != "":
			return &table[i], true
		}
	}
	return nil, false
}

// Nearest returns the directive that is most likely meant by the name of none. It is "" for a directive, and if no name
// is like it.
func Nearest(name string) string {
	if r, _ := lookup(name); r != nil {
		return ""
	}
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].name
	}
	return ascii.Nearest(name, names)
}

// refusal returns the error text for a directive that is refused or withheld.
func refusal(name string) string {
	switch name {
	case "activedefrag":
		return "active defragmentation is not supported by miniredisd: Go does not move allocated memory"
	case "tls-cluster":
		return "not supported by miniredisd: its nodes live in one process and have no bus"
	case "tls-key-file-pass", "tls-client-key-file-pass":
		return "encrypted private keys are not supported by miniredisd: crypto/tls does not read them"
	case "loadmodule":
		return "modules are not supported by miniredisd"
	}
	return "not supported by miniredisd"
}
