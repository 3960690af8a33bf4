package node_test

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/resp"
)

// generator generates requests from the arguments that COMMAND DOCS describes.
type generator struct {
	rng   *rand.Rand
	group string // group of the command; half of the keys have a fitting type
	// numkeys is the number of keys announced so far, or 0.
	numkeys int
}

func (g *generator) pick(from []string) string { return from[g.rng.IntN(len(from))] }

func keyNames() []string {
	return []string{
		"string", "number", "float", "ttl", "list", "list:big", "set", "set:ints", "hash", "hash:big", "zset", "zset:big",
		"stream", "missing", "",
	}
}

func (g *generator) key() string {
	own := map[string][]string{
		"string": {"string", "number", "float"}, "bitmap": {"string", "number"}, "list": {"list", "list:big"},
		"set": {"set", "set:ints"}, "hash": {"hash", "hash:big"}, "sorted-set": {"zset", "zset:big"}, "stream": {"stream"},
	}[g.group]
	if len(own) > 0 && g.rng.IntN(2) == 0 {
		return g.pick(own)
	}
	return g.pick(keyNames())
}

func (g *generator) integer() string {
	return g.pick([]string{
		"0", "1", "2", "3", "5", "10", "100", "-1", "-2", "-100",
		"9223372036854775807", "-9223372036854775808", "4294967296",
	})
}

func (g *generator) text() string {
	return g.pick([]string{
		"a", "b", "f", "n", "1", "2", "m7", "element-3", "*", "-", "+", "$", "(a", "[c", "(1", "0-1", "1-1", "", "x y",
		"\x00\r\n\xff",
	})
}

func (g *generator) double() string {
	return g.pick([]string{"0", "1", "-1.5", "3.0e3", "inf", "-inf", "nan", "(2", "1e400", "0x10"})
}

// nonsense returns n words of any kind.
func (g *generator) nonsense(n int) (words []string) {
	options := []string{
		"NX", "XX", "GT", "LT", "CH", "INCR", "LIMIT", "COUNT", "WITHSCORES", "STORE", "BYLEX", "REV", "MATCH", "ASC",
		"GET", "STREAMS", "MAXLEN", "~", "LEFT", "AGGREGATE", "BEFORE", "EX", "KEEPTTL",
	}
	for range n {
		words = append(words, g.pick([]string{g.key(), g.integer(), g.text(), g.double(), g.pick(options)}))
	}
	return words
}

// arguments generates words for a list of documented arguments.
func (g *generator) arguments(list resp.Value) (words []string) {
	for _, v := range list.Elems {
		words = append(words, g.argument(pairs(v))...)
	}
	return words
}

func (g *generator) argument(arg map[string]resp.Value) (words []string) {
	flag := func(name string) bool {
		return slices.ContainsFunc(arg["flags"].Elems, func(f resp.Value) bool { return f.Str == name })
	}
	if flag("optional") && g.rng.IntN(3) > 0 {
		return nil
	}
	times := 1
	if flag("multiple") {
		times = 1 + g.rng.IntN(3)
		if arg["type"].Str == "key" && g.numkeys > 0 {
			times, g.numkeys = g.numkeys, 0
		}
	}
	token, hasToken := arg["token"]
	for i := range times {
		if hasToken && (i == 0 || flag("multiple_token")) {
			words = append(words, token.Str)
		}
		words = append(words, g.value(arg)...)
	}
	return words
}

func (g *generator) value(arg map[string]resp.Value) []string {
	ids := []string{"id", "start", "end", "threshold", "last-id"}
	if g.group == "stream" && slices.Contains(ids, arg["name"].Str) {
		return []string{g.pick([]string{"0", "1-1", "2-1", "3", "9-9", "*", "-", "+", "$", "(1-1", "1-*"})}
	}
	switch arg["type"].Str {
	case "pure-token":
		return nil
	case "oneof":
		return g.argument(pairs(arg["arguments"].Elems[g.rng.IntN(len(arg["arguments"].Elems))]))
	case "block":
		return g.arguments(arg["arguments"])
	case "key":
		return []string{g.key()}
	case "integer", "unix-time":
		if arg["name"].Str == "numkeys" {
			g.numkeys = 1 + g.rng.IntN(3)
			return []string{strconv.Itoa(g.numkeys)}
		}
		return []string{g.integer()}
	case "double":
		return []string{g.double()}
	}
	return []string{g.text()}
}
