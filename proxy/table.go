package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
)

// table has the commands of an upstream, by their names in lower case: "get", "client|kill". The upstream says in its
// reply to COMMAND where the keys of a command are, so a command that is newer than the proxy has keys as well.
type table map[string]*command

// command says where the keys of a command are among its arguments (commands.def: keySpecs).
type command struct {
	name   string
	specs  []spec
	blocks bool  // it may wait for others before it replies
	reads  bool  // it writes nothing
	idles  bool  // it has nothing to do with keys
	runs   bool  // it runs a script
	opaque bool  // it may touch other keys than specs says
	subs   table // nil for a command without subcommands
}

// spec is one way to find keys (server.h: keySpec).
type spec struct {
	index   int    // where they begin, if there is no keyword
	keyword []byte // they begin after this word
	from    int    // where to look for the word; a negative number counts from the end

	counted    bool // a number says how many keys there are
	last, step int
	limit      int
	num, first int // where that number and the first key are, from the beginning
}

// parseTable reads the reply to COMMAND.
func parseTable(reply []byte) (table, error) {
	v, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(reply)))
	switch {
	case err != nil:
		return nil, err
	case v.Kind == '-':
		return nil, fmt.Errorf("the upstream has refused COMMAND: %s", v.Str)
	}
	return commandsOf(v), nil
}

func commandsOf(v resp.Value) table {
	all := table{}
	for _, row := range v.Elems {
		if len(row.Elems) < 6 {
			continue
		}
		c := &command{name: ascii.ToLower(row.Elems[0].Str)}
		c.addFlags(row.Elems[2].Elems)
		if first := int(row.Elems[3].Int); len(row.Elems) > 8 {
			c.opaque = c.runs // the specs know better than the flag movablekeys
			for _, s := range row.Elems[8].Elems {
				c.addSpec(s)
			}
		} else if first > 0 { // before Redis 7
			last := int(row.Elems[4].Int)
			if last > 0 {
				last -= first
			}
			c.specs = []spec{{index: first, last: last, step: max(int(row.Elems[5].Int), 1)}}
		}
		if len(row.Elems) > 9 && len(row.Elems[9].Elems) > 0 {
			c.subs = commandsOf(row.Elems[9])
		}
		c.idles = c.idles && !c.opaque && len(c.specs) == 0
		all[c.name] = c
	}
	return all
}

func (c *command) addFlags(flags []resp.Value) {
	has := func(name string) bool {
		return slices.ContainsFunc(flags, func(flag resp.Value) bool { return flag.Str == name })
	}
	c.runs = has("no_mandatory_keys") || strings.HasPrefix(c.name, "eval") || strings.HasPrefix(c.name, "fcall")
	c.blocks, c.reads = has("blocking"), !has("write") && !c.runs
	pauses := c.name == "client|pause" // nobody can look behind it
	c.idles, c.opaque = c.reads && (pauses || !has("admin")), c.runs || has("movablekeys")
}

// isPlain reports whether a command touches the keys of its specs, and no other ones.
func (c *command) isPlain() bool { return len(c.specs) > 0 && !c.opaque }

// isWhole reports whether a command writes, and names no keys: it is about all of them.
func (c *command) isWhole() bool { return len(c.specs) == 0 && !c.reads && !c.runs }

// addSpec reads a map of RESP2 or RESP3. Both have names and values in turn.
func (c *command) addSpec(v resp.Value) {
	begin, find := field(v, "begin_search"), field(v, "find_keys")
	for _, flag := range field(v, "flags").Elems {
		if ascii.EqualFold(flag.Str, "not_key") {
			return
		}
		c.opaque = c.opaque || ascii.EqualFold(flag.Str, "incomplete")
	}
	at, how := field(begin, "spec"), field(find, "spec")
	s := spec{
		index: int(field(at, "index").Int), keyword: []byte(field(at, "keyword").Str), from: int(field(at, "startfrom").Int),
		last: int(field(how, "lastkey").Int), step: max(int(field(how, "keystep").Int), 1),
		limit: int(field(how, "limit").Int),
		num:   int(field(how, "keynumidx").Int), first: int(field(how, "firstkey").Int),
	}
	switch field(find, "type").Str {
	case "keynum":
		s.counted = true
	case "range":
	default: // unknown
		c.opaque = true
		return
	}
	if field(begin, "type").Str == "unknown" {
		c.opaque = true
		return
	}
	c.specs = append(c.specs, s)
}

func field(v resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if v.Elems[i].Str == name {
			return v.Elems[i+1]
		}
	}
	return resp.Value{}
}

// find returns the command of a request, or nil.
func (t table) find(args [][]byte) *command {
	c := t[string(ascii.AppendLower(nil, args[0]))]
	if c != nil && c.subs != nil && len(args) > 1 {
		if sub := c.subs[c.name+"|"+string(ascii.AppendLower(nil, args[1]))]; sub != nil {
			return sub
		}
	}
	return c
}

// keys returns the keys of a request (db.c: getKeysUsingKeySpecs).
func (c *command) keys(args [][]byte) (keys [][]byte) {
	for i := range c.specs {
		s := &c.specs[i]
		first := s.begin(args)
		if first <= 0 || first >= len(args) {
			continue
		}
		last := s.end(args, first)
		if s.counted {
			first += s.first
		}
		for at := first; at <= last && at < len(args); at += s.step {
			keys = append(keys, args[at])
		}
	}
	return keys
}

// begin returns where keys begin, 0 for nowhere.
func (s *spec) begin(args [][]byte) int {
	if len(s.keyword) == 0 {
		return s.index
	}
	at, by := s.from, 1
	if s.from < 0 {
		at, by = len(args)+s.from, -1
	}
	for ; at > 0 && at < len(args); at += by {
		if ascii.EqualFold(args[at], s.keyword) {
			return at + 1
		}
	}
	return 0
}

// end returns where the last key is.
func (s *spec) end(args [][]byte, first int) int {
	switch {
	case s.counted && first+s.num < len(args):
		n, err := strconv.Atoi(string(args[first+s.num]))
		if err != nil || n < 0 || n > len(args) {
			return 0
		}
		return first + s.first + (n-1)*s.step
	case s.counted:
		return 0
	case s.last >= 0:
		return first + s.last
	case s.limit > 1:
		return first + (len(args)-first)/s.limit + s.last
	}
	return len(args) + s.last
}
