package doctor

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// op is an Event about a possible lock. It owns its bytes.
type op struct {
	time, mono int64
	client     int64
	request    int64  // see Event
	owner      string // the client's name
	db         int
	name       string
	args       []string // args[0] is the name as the client sent it; long arguments are cut
	text                // of the script: its SHA1 alone, if the client sent no text
	by         string
	reply      reply
	lost, late bool     // the client does not get the reply, or not yet
	other      bool     // see Event
	real       int64    // see Event
	evicts     string   // see Event
	demands    []demand // of the EXEC around it
	meaning
}

// maxArg is the number of bytes that op keeps of an argument.
const maxArg = holders.LongestToken

// keptOfArg is the number of the first bytes that stay of a longer one.
const keptOfArg = maxArg - 48

func newOp(e Event, m meaning) op {
	o := op{
		time: e.Time, mono: e.Mono, client: e.Client, request: e.Request, owner: e.Name, db: e.DB, name: e.Command,
		by: e.By, args: make([]string, len(e.Args)), reply: parseReply(e.Reply), lost: e.Lost, late: e.Late, other: e.Other,
		real: e.Real, evicts: e.Evicts, meaning: m,
	}
	body := textAt(e.Command)
	for i, a := range e.Args {
		if i != body {
			o.args[i] = cut(a)
		}
	}
	if body < 0 && o.does.has(runs) && len(o.args) > 1 {
		o.script = strings.ToLower(o.args[1])
	}
	return o
}

// cut shortens an argument. Different arguments stay different.
func cut(b []byte) string {
	if len(b) <= maxArg {
		return string(b)
	}
	sum := sha1.Sum(b)
	return fmt.Sprintf("%s...(%d bytes, sha1 %x)", b[:keptOfArg], len(b), sum[:8])
}

// scriptArgs returns the keys and the other arguments of a script.
func (o op) scriptArgs() (keys, rest []string) {
	if len(o.args) < 3 {
		return nil, nil
	}
	n, err := strconv.Atoi(o.args[2])
	if err != nil || n < 0 || n > len(o.args)-3 {
		return nil, nil
	}
	return o.args[3 : 3+n], o.args[3+n:]
}

// key returns the first key of a command that is not a script.
func (o op) key() holders.Key {
	if len(o.args) < 2 {
		return holders.Key{DB: o.db, Name: ""}
	}
	return holders.Key{DB: o.db, Name: o.args[1]}
}

// keys returns the keys that a command changes or shows.
func (o op) keys() []holders.Key {
	at := o.keysOf(nil, o.name, len(o.args), func(i int) string { return o.args[i] })
	keys := make([]holders.Key, 0, len(at))
	for _, i := range at {
		keys = append(keys, holders.Key{DB: o.target(), Name: o.args[i]})
	}
	return keys
}

// target returns the database of the keys: COPY may write into another one.
func (o op) target() int {
	if o.name == "copy" {
		if v, there := o.option("db"); there {
			if n, err := strconv.Atoi(v); err == nil {
				return n
			}
		}
	}
	return o.db
}

// step returns o as a finding shows it.
func (o op) step() holders.Step {
	var b strings.Builder
	for i, a := range o.args {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case i == 1 && (o.name == "eval" || o.name == "eval_ro"):
			fmt.Fprintf(&b, "(%d bytes of script)", o.size)
		case a == "" || strings.ContainsAny(a, " \"'\\") || !printable(a):
			b.WriteString(strconv.QuoteToASCII(a))
		default:
			b.WriteString(a)
		}
	}
	if o.by != "" && o.by != Exec {
		b.WriteString(" (in script " + o.by[:min(8, len(o.by))] + ")")
	} else if o.by == Exec {
		b.WriteString(" (in MULTI)")
	}
	return holders.Step{Time: o.time, Client: o.client, Name: o.owner, Command: b.String(), Reply: o.reply.String()}
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// option returns the argument after an option of SET, MSETEX, DELEX, GETEX or COPY, and reports whether the option is
// there.
func (o op) option(name string) (value string, there bool) {
	first := 3
	switch o.name {
	case "getex", "delex":
		first = 2
	case "msetex":
		first = pairsEnd(len(o.args), func(i int) string { return o.args[i] })
	}
	for i := first; i < len(o.args); i++ {
		if strings.EqualFold(o.args[i], name) {
			if i+1 < len(o.args) {
				value = o.args[i+1]
			}
			return value, true
		}
		if conditional(o.args[i]) {
			i++ // a token may be spelled like an option
		}
	}
	return "", false
}

func hasOption(args [][]byte, name string) bool {
	for i := 3; i < len(args); i++ {
		if strings.EqualFold(string(args[i]), name) {
			return true
		}
	}
	return false
}

// until returns the unix ms at which the key expires that o gives a TTL; 0 means never, and no such time is below 1.
func (o op) until() int64 {
	if o.unit != "" && len(o.args) > o.ttl {
		return o.deadline(o.unit, o.args[o.ttl])
	}
	for _, unit := range []string{"px", "ex", "pxat", "exat"} {
		if v, there := o.option(unit); there {
			return o.deadline(unit, v)
		}
	}
	return 0
}

func (o op) deadline(unit, value string) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0
	}
	switch unit {
	case "ex":
		n = o.time + n*1000
	case "px":
		n += o.time
	case "exat":
		n *= 1000
	}
	return max(n, 1)
}

// reply is a reply, as far as the doctor needs it.
type reply struct {
	kind byte // '-' an error, '_' null, ':' a number, else text; 0 unknown
	n    int64
	text string
}

func parseReply(b []byte) reply {
	if len(b) == 0 {
		return reply{}
	}
	line, rest, _ := bytes.Cut(b[1:], []byte("\r\n"))
	switch b[0] {
	case '-':
		return reply{kind: '-', text: cut(line)}
	case ':':
		n, _ := strconv.ParseInt(string(line), 10, 64)
		return reply{kind: ':', n: n}
	case '_':
		return reply{kind: '_'}
	case '+':
		return reply{kind: '+', text: cut(line)}
	case '$':
		n, err := strconv.Atoi(string(line))
		if err != nil || n < 0 || n > len(rest) {
			return reply{kind: '_'}
		}
		return reply{kind: '$', text: cut(rest[:n])}
	case '*':
		if bytes.HasPrefix(line, []byte("-1")) {
			return reply{kind: '_'}
		}
	}
	return reply{kind: b[0]}
}

func (r reply) failed() bool { return r.kind == '-' }

func (r reply) String() string {
	switch r.kind {
	case ':':
		return strconv.FormatInt(r.n, 10)
	case '_':
		return "(nil)"
	case '+', '-', '$':
		if !printable(r.text) {
			return strconv.QuoteToASCII(r.text)
		}
		return r.text
	}
	return ""
}
