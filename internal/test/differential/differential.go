// Package differential sends the same random commands to miniredisd and to a real redis-server. It
// compares raw replies, encodings and times to live, and at the end of a sequence all values.
//
//	table.go, makers.go ──> generator ──> sequence ──> miniredisd ───> replies ──┐
//	      (a seed)                            └──────> redis-server ──> replies ──┴─> agree
//
// The same seed gives the same commands. table.go has a line for each form of a command. known.go lists
// where Redis 7.2 differs from an older oracle. If the servers disagree, the sequence is shortened until
// every command in it is needed, and printed as a transcript.
//
// An oracle of 7.2 or later gets more: scores with many digits, bounds of encodings that change within a
// sequence, the counts of OBJECT REFCOUNT, and DEBUG DIGEST after each sequence. Older ones differ there.
//
// In a transaction only the replies are compared. Not covered are commands that block and results that depend on
// the clock, except times to live. Random picks are compared in their type only, and the picked element must exist.
package differential

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// Options are the options of a run. Empty Groups means all groups.
type Options struct {
	Seed   uint64
	Count  int
	For    time.Duration // how long instead of how many; a difference is reported then, and the run continues
	Groups []string
	Valkey bool // the oracle is a valkey-server, and miniredisd plays one
}

// ends reports whether a run that began at this time has compared enough.
func (o Options) ends(began time.Time, compared int) bool {
	if o.For > 0 {
		return time.Since(began) >= o.For
	}
	return compared >= o.Count
}

const sequenceLength = 300

// Args returns the options that miniredisd must be started with. The oracle gets them by CONFIG SET.
func Args() []string {
	var args []string
	for name, value := range thresholds {
		args = append(args, "--"+name, value)
	}
	return args
}

// Newer are the options for the commands that Redis 7.2 lacks.
func Newer(seed uint64, count int) Options {
	return Options{Seed: seed, Count: count, Groups: []string{newerHashes, newerStrings}, Valkey: true}
}

// AllOfValkey are the options for the commands of Redis 7.2 and those that it lacks.
func AllOfValkey(seed uint64, count int) Options {
	o := Options{Seed: seed, Count: count, Valkey: true}
	for _, t := range table() {
		o.Groups = append(o.Groups, t.group)
	}
	return o
}

// Run compares o.Count commands, in sequences that each begin with empty servers.
func Run(t testing.TB, addr string, other *redistest.Server, o Options) {
	t.Helper()
	d := &duel{
		t:      t,
		oracle: side{redistest.Dial(t, other.Addr), redistest.Dial(t, other.Addr)},
		ours:   side{redistest.Dial(t, addr), redistest.Dial(t, addr)},
		older:  redistest.Older(other.Version, "7.2"),
		valkey: o.Valkey,
	}
	for _, s := range []side{d.oracle, d.ours} {
		s[1].Do("HELLO", "3")
	}
	for name, value := range thresholds {
		// An older oracle does not know all options.
		if r := d.oracle[0].Do("CONFIG", "SET", name, value); r.Kind == '-' && !d.older {
			t.Fatalf("CONFIG SET %s: %s", name, r)
		}
	}
	g, err := newGenerator(o.Groups, oracle{d.older, d.valkey, other.Lacks(d.ours[0])})
	if err != nil {
		t.Fatal(err)
	}
	began, lasted := time.Now(), time.Now()
	n := 0
	for ; !o.ends(began, n); n += sequenceLength {
		if !d.agreeOn(g, o, n) {
			t.Logf("no difference for %s before this one", time.Since(lasted).Round(time.Second))
			lasted = time.Now()
		}
	}
	if o.For > 0 {
		t.Logf("seed %d: %d commands in %s, without a difference in the last %s", o.Seed, n,
			time.Since(began).Round(time.Second), time.Since(lasted).Round(time.Second))
	}
}

// agreeOn compares one sequence, the one that begins with command n of the run.
func (d *duel) agreeOn(g *generator, o Options, n int) bool {
	d.t.Helper()
	// Each sequence has its own seed, so that a longer run begins with the same sequences.
	g.reset(rand.New(rand.NewPCG(o.Seed, uint64(n))))
	length := sequenceLength
	if o.For == 0 {
		length = min(length, o.Count-n)
	}
	seq := sequence{proto: 2 + n/sequenceLength%2}
	for range length {
		seq.commands = append(seq.commands, g.command())
	}
	if !d.differs(seq) {
		return true
	}
	short, diff := d.shorten(seq)
	report := d.t.Fatalf
	if o.For > 0 {
		report = d.t.Errorf
	}
	report("the servers disagree (seed %d, sequence %d, RESP%d)\n%s", o.Seed, n/sequenceLength, seq.proto,
		d.describe(short, diff))
	return false
}

// thresholds are so small that collections change their encoding within a short sequence.
var thresholds = map[string]string{
	"hash-max-listpack-entries": "6", "hash-max-listpack-value": "20",
	"set-max-intset-entries": "5", "set-max-listpack-entries": "6", "set-max-listpack-value": "20",
	"zset-max-listpack-entries": "6", "zset-max-listpack-value": "20",
	"list-max-listpack-size": "4", "stream-node-max-entries": "4", "hll-sparse-max-bytes": "150",
}

// usualLogs are the directives of COMMANDLOG. Nothing is logged.
var usualLogs = map[string]string{
	"commandlog-execution-slower-than": "-1", "commandlog-slow-execution-max-len": "128",
	"commandlog-request-larger-than": "-1", "commandlog-large-request-max-len": "128",
	"commandlog-reply-larger-than": "-1", "commandlog-large-reply-max-len": "5000",
}

type sequence struct {
	proto    int
	commands []command
}

type command struct {
	mode byte // how replies are compared: ' ' exactly, '~' in any order, '%' pairs in any order, '@' times,
	// '#' what is pending, '&' a log of commands, '?' picks, '^' the collection of the pick before
	args []string
}

func (c command) String() string { return strings.Join(quoteAll(c.args), " ") }

// side has the two connections to one server: RESP2 and RESP3.
type side [2]*redistest.Conn

type duel struct {
	t            testing.TB
	oracle, ours side
	older        bool
	valkey       bool
}

// difference is the first command of a sequence on which the servers disagree.
type difference struct {
	at           int // index of the command; len(commands) for the final look at all values
	probe        command
	oracle, ours resp.Value
}

// play runs a sequence on both servers, each empty at the start, with one write to each.
func (d *duel) play(s sequence) *difference {
	d.t.Helper()
	var probes []command
	var owner []int
	add := func(i int, cs ...command) {
		for _, c := range cs {
			probes = append(probes, c)
			owner = append(owner, i)
		}
	}
	add(0, d.beginning()...)
	multi := false
	for i, c := range s.commands {
		add(i, c)
		if multi = c.inMulti(multi); !multi {
			add(i, d.aftermath(c)...)
		}
	}
	if multi {
		add(len(s.commands), command{' ', []string{"DISCARD"}})
	}
	add(len(s.commands), everything()...)
	if !d.older {
		add(len(s.commands), command{' ', []string{"DEBUG", "DIGEST"}})
	}
	var out []byte
	for _, p := range probes {
		out = resp.AppendRequest(out, p.args...)
	}
	theirs, mine := d.oracle[s.proto-2], d.ours[s.proto-2]
	for _, c := range []*redistest.Conn{theirs, mine} {
		if err := c.Send(out); err != nil {
			d.t.Fatalf("sending: %v", err)
		}
	}
	var first *difference
	var before resp.Value
	var queued []command
	parted := false // the data differ from here on, as docs/differences.md says
	for i, p := range probes {
		want, got := theirs.Read(), mine.Read()
		parted = parted || d.valkey && partsFromValkey(want, got)
		if first == nil && !parted && !d.agreeOnAll(p, queued, want, got, before) {
			first = &difference{owner[i], p, want, got}
		}
		if before = got; got.Str == "QUEUED" {
			queued = append(queued, p)
		} else if !p.inMulti(true) {
			queued = nil
		}
	}
	return first
}

// beginning returns the commands that make a server empty, with the usual configuration.
func (d *duel) beginning() []command {
	var all []command
	for _, line := range []string{"UNWATCH", "FLUSHALL", "FUNCTION FLUSH", "SCRIPT FLUSH"} {
		all = append(all, command{' ', strings.Fields(line)})
	}
	if !d.older {
		all = append(all, configuration(thresholds))
	}
	if d.valkey {
		all = append(all, configuration(usualLogs))
		for _, kind := range []string{"slow", "large-request", "large-reply"} {
			all = append(all, command{' ', []string{"COMMANDLOG", "RESET", kind}})
		}
	}
	return all
}

// inMulti reports whether a transaction is open after c. A wrong EXEC ends it as well.
func (c command) inMulti(before bool) bool {
	switch {
	case c.args[0] == "EXEC", c.args[0] == "DISCARD" && len(c.args) == 1:
		return false
	case c.args[0] == "MULTI" && len(c.args) == 1:
		return true
	}
	return before
}

// configuration sets directives again, which the sequence before may have changed.
func configuration(directives map[string]string) command {
	args := []string{"CONFIG", "SET"}
	for _, name := range slices.Sorted(maps.Keys(directives)) {
		args = append(args, name, directives[name])
	}
	return command{' ', args}
}

// differs reports whether the servers disagree on a sequence twice. A single difference may come from a
// server that had to wait between two commands, so that its times differ.
func (d *duel) differs(s sequence) bool {
	d.t.Helper()
	return d.play(s) != nil && d.play(s) != nil && d.play(s) != nil
}

// aftermath returns the commands that compare the keys of c after it has run.
func (d *duel) aftermath(c command) []command {
	var probes []command
	if c.mode == '?' {
		probes = append(probes, sourceOf(c))
	}
	var seen []string
	for _, a := range c.args[1:] {
		if isKey(a) && !slices.Contains(seen, a) {
			seen = append(seen, a)
			probes = append(probes, command{' ', []string{"OBJECT", "ENCODING", a}}, command{'@', []string{"PTTL", a}})
			if !d.older {
				probes = append(probes, command{' ', []string{"OBJECT", "REFCOUNT", a}})
			}
		}
	}
	return probes
}

// everything returns commands that read all values. A command of the wrong type gives the same error on
// both sides.
func everything() []command {
	probes := []command{{' ', []string{"DBSIZE"}}}
	for _, k := range allKeys() {
		probes = append(probes,
			command{' ', []string{"TYPE", k}}, command{' ', []string{"GET", k}}, command{'%', []string{"HGETALL", k}},
			command{' ', []string{"LRANGE", k, "0", "-1"}}, command{'~', []string{"SMEMBERS", k}},
			command{' ', []string{"ZRANGE", k, "0", "-1", "WITHSCORES"}}, command{' ', []string{"XRANGE", k, "-", "+"}})
	}
	return probes
}

// shorten removes commands and then arguments, as long as the servers still disagree.
func (d *duel) shorten(s sequence) (sequence, *difference) {
	d.t.Helper()
	fails := func(cs []command) bool { return d.play(sequence{s.proto, cs}) != nil }
	s.commands = shorten(s.commands, fails)
	for i := range s.commands {
		if fragile(s.commands[i]) {
			continue
		}
		head := s.commands[i].args[:1]
		rest := shorten(s.commands[i].args[1:], func(args []string) bool {
			cs := slices.Clone(s.commands)
			cs[i].args = slices.Concat(head, args)
			return fails(cs)
		})
		s.commands[i].args = slices.Concat(head, rest)
	}
	return s, d.play(s)
}

// shorten removes ever shorter parts of list, as long as fails is true for the rest.
func shorten[T any](list []T, fails func([]T) bool) []T {
	for size := len(list); size > 0; {
		removed := false
		for at := 0; at+size <= len(list); {
			if rest := slices.Concat(list[:at], list[at+size:]); fails(rest) {
				list, removed = rest, true
			} else {
				at += size
			}
		}
		if !removed || size > len(list) {
			size /= 2
		}
	}
	return list
}

// fragile reports whether shorten must not change the arguments of c. With other arguments the reply
// might be random (HRANDFIELD without a count), keys might expire during the run, or c might do what
// known.go says the table avoids.
func fragile(c command) bool {
	name := c.args[0]
	return c.mode != ' ' || name == "XSETID" || name[0] == 'P' || strings.HasPrefix(name, "SORT")
}

// describe formats a sequence as the body of a transcript.
func (d *duel) describe(s sequence, diff *difference) string {
	var b strings.Builder
	for _, c := range s.commands {
		fmt.Fprintf(&b, "> %s\n", c)
	}
	if diff == nil {
		return b.String() + "(and the shortened list agrees: the difference depends on time or chance)"
	}
	if diff.at == len(s.commands) || diff.probe.String() != s.commands[diff.at].String() {
		fmt.Fprintf(&b, "> %s\n", diff.probe)
	}
	fmt.Fprintf(&b, "redis-server: %s\nminiredisd:   %s", diff.oracle, diff.ours)
	return b.String()
}

func quoteAll(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if a == "" || strings.ContainsFunc(a,
			func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\'' || r == '\\' }) {
			out[i] = fmt.Sprintf("%q", a)
		}
	}
	return out
}
