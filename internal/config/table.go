package config

import "strings"

type kind uint8

const (
	boolean kind = iota
	integer
	memory  // bytes, with units
	percent // memory or "n%", kept negative
	octal
	word  // one of row.words
	words // several of row.words, which combine
	text
	// The rest have a reader of their own in special.go.
	bind
	save
	outputLimit
	oomValues
	percentiles
	events
	directory
	replicaOf
)

type flag uint16

const (
	immutable flag = 1 << iota
	hidden         // answered only when asked for by its exact name
	sensitive
	protected // CONFIG SET needs enable-protected-configs
	unset     // the empty string means absent
	inert
	refused  // any value but the default is an error
	withheld // so for CONFIG SET only; a file may ask for it, and CONFIG GET answers the default
	own      // Redis has no such directive: only its exact name is answered, and REWRITE adds no line
)

type row struct {
	name, alias string
	kind        kind
	flags       flag
	def         string // as CONFIG GET answers it
	lo, hi      int64
	words       []string
	field       func(*Config) any
}

// multi tells whether a line may carry several values.
func (r *row) multi() bool {
	switch r.kind {
	case bind, save, outputLimit, oomValues, percentiles, replicaOf, words:
		return true
	}
	return false
}

// lookup finds a directive by its name or its alias, in any case.
func lookup(name string) (r *row, isAlias bool) {
	name = strings.ToLower(name)
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

// refusal says why the value of a refused directive cannot be accepted.
func refusal(name string) string {
	switch name {
	case "activedefrag":
		return "active defragmentation is not supported by miniredisd: Go does not move what it has allocated"
	case "appendonly":
		return "append-only files are not supported by miniredisd: data is kept in memory only"
	case "cluster-enabled":
		return "cluster mode is not supported by miniredisd"
	case "replicaof":
		return "replication is not supported by miniredisd"
	case "tls-port":
		return "TLS is not supported by miniredisd"
	case "loadmodule":
		return "modules are not supported by miniredisd"
	}
	return "not supported by miniredisd"
}
