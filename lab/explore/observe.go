package explore

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
)

// entry is an entry of a master's log.
type entry struct {
	lab.Entry
	master int // from 1
}

// merged returns the entries of all masters in the order in which they happened.
func merged(histories []lab.History) []entry {
	var all []entry
	for _, h := range histories {
		for _, en := range h.Entries {
			all = append(all, entry{en, h.Master})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Mono, b.Mono), cmp.Compare(a.master, b.master), cmp.Compare(a.Seq, b.Seq))
	})
	return all
}

// place is a lock on a master, or a channel.
type place struct {
	master  int
	glob    string
	message bool
	kind    string // a command or a script, "" for all requests
}

// step is a request about any key, in the order of the log.
type step struct {
	who, name string // the number and the name of its client
	command   string // or the script
	shown     string // as people write it
	wrote     bool
}

// newest is the newest request of a client about a lock.
type newest struct {
	at       int   // its index in observer.all
	came     int64 // us
	state    int   // how often the lock had changed
	repeated int   // how many requests before it were the same, and nobody changed the lock between them
}

// observer numbers the requests of one run as rules do it.
type observer struct {
	e        *Explorer
	censuses map[place]*lab.Census
	clients  lab.Census           // of all requests
	counts   map[string]int       // by place and client
	wrote    map[int64]bool       // by client: the script or EXEC that runs has changed a key
	inside   map[int]*transaction // by master
	held     map[int64]bool       // by client: its newest request waits, and the log has it twice
	state    map[string]int       // by glob: how often its keys have changed
	all      []seen               // about locks
	last     map[string]newest    // by place and client
	steps    []step
}

// look returns the points of a run, and all its requests, in the order in which they came.
func (e *Explorer) look(histories []lab.History) ([]seen, []step) {
	o := &observer{e: e, censuses: map[place]*lab.Census{}, counts: map[string]int{}, wrote: map[int64]bool{},
		inside: map[int]*transaction{}, held: map[int64]bool{}, state: map[string]int{},
		last: map[string]newest{}}
	all := merged(histories)
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.came(), b.came()) })
	for _, en := range all {
		switch {
		case en.Event == noted && len(en.Cmd) > 0:
			o.message(en)
		case en.Event == lab.EventExpired:
			o.state[e.lockOf(en.Key)]++
		case len(en.Cmd) == 0 || en.Client == 0:
		case en.By == doctor.Exec:
			o.queued(en)
		case en.By != "":
			o.wrote[en.Client] = o.wrote[en.Client] || e.changes(en)
		default:
			o.executed(en.master)
			o.request(en)
		}
	}
	for master := range e.opt.Masters {
		o.executed(master + 1)
	}
	return o.all, o.steps
}

// transaction is an EXEC under way. The log has its commands, and no entry for the EXEC itself.
type transaction struct {
	first entry
	keys  []string
	words []string
}

// queued takes a command of EXEC.
func (o *observer) queued(en entry) {
	t := o.inside[en.master]
	if t == nil || t.first.Run != en.Run {
		o.executed(en.master)
		t = &transaction{first: en}
		o.inside[en.master] = t
	}
	t.keys = append(t.keys, o.e.about(en).keys...)
	t.words = append(t.words, en.Cmd[1:]...)
	o.wrote[en.Client] = o.wrote[en.Client] || o.e.changes(en)
}

// executed ends the EXEC of a master, if one is under way.
func (o *observer) executed(master int) {
	if t := o.inside[master]; t != nil {
		delete(o.inside, master)
		o.add(t.first, about{name: "EXEC", keys: t.keys, writes: true}, t.words)
	}
}

func (o *observer) request(en entry) {
	a, words := o.e.about(en), en.Cmd[1:]
	waits := en.Outcome == lab.Held || en.Outcome == lab.Delayed
	switch again := o.held[en.Client]; {
	case a.name == "WAIT" || a.name == "WAITAOF":
		return // they name no lock; the verdict reads them
	case again && !waits:
		delete(o.held, en.Client)
		return // the log has it from when it came
	case a.script != "" && a.unknown(en):
		return // the text follows, and that is the same step
	}
	if waits {
		o.held[en.Client] = true
	}
	if waits && a.name == "EXEC" {
		return // its commands follow
	}
	if a.script != "" {
		words = en.Cmd[min(2, len(en.Cmd)):]
	}
	o.add(en, a, words)
}

// add numbers a request about each lock that it names. It is a point of the first one.
func (o *observer) add(en entry, a about, words []string) {
	wrote := o.e.changes(en) || o.wrote[en.Client]
	delete(o.wrote, en.Client)
	args := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(a.keys, w) })
	who := number(o.clients.Number(en.Client*int64(o.e.opt.Masters)+int64(en.master)-1, en.Name, args))
	o.steps = append(o.steps, step{who, en.Name, a.kind(), a.name, wrote})
	for i, glob := range o.e.globs(a) {
		if wrote {
			o.state[glob]++
		}
		state := o.state[glob] + o.state[""]
		p := point{glob: glob, reads: !a.writes, script: a.script}
		var ofClient, ofKind string
		p.order, p.N, ofClient = o.count(place{en.master, glob, false, ""}, en, args)
		p.kindOrder, p.kindN, ofKind = o.count(place{en.master, glob, false, a.kind()}, en, args)
		if i > 0 || a.channel && (!a.publishes || en.Reply == "0") {
			continue // a channel that nobody listens to is no part of a lock
		}
		p.byKind = a.publishes || glob == ""
		p.Command, p.Key, p.Master, p.Writes = a.name, shown(glob), en.master, wrote
		now := newest{at: len(o.all), state: state, came: en.came()}
		var polled time.Duration
		if before, ok := o.last[ofKind]; ok && before == o.last[ofClient] && !o.all[before.at].Writes {
			polled = time.Duration(now.came-before.came) * time.Microsecond
			if !wrote && before.state == state {
				now.repeated = before.repeated + 1
			}
		}
		p.repeats = now.repeated > 1
		o.last[ofKind], o.last[ofClient] = now, now
		o.all = append(o.all, seen{p, en.Name, en.Client, polled})
	}
}

// count numbers the client of a request at a place, and the request among those of that client.
func (o *observer) count(at place, en entry, args []string) (order, n int, who string) {
	if o.censuses[at] == nil {
		o.censuses[at] = &lab.Census{}
	}
	order = o.censuses[at].Number(en.Client, en.Name, args)
	who = fmt.Sprint(at, order)
	o.counts[who]++
	return order, o.counts[who], who
}

// message takes a message to a waiter.
func (o *observer) message(en entry) {
	p := point{glob: o.e.channel(en.Key)}
	p.order, p.N, _ = o.count(place{en.master, p.glob, true, ""}, en, nil)
	p.kindOrder, p.kindN = p.order, p.N
	p.Command, p.Key, p.Master, p.Message = en.Cmd[0], shown(p.glob), en.master, true
	o.all = append(o.all, seen{p, en.Name, en.Client, 0})
}

// came returns when a request came, in us. The log has a command that waited where it was answered.
func (en entry) came() int64 { return cmp.Or(en.Came, en.Mono) }

// about is what the table of commands says about a request.
type about struct {
	name      string   // in capitals, without a subcommand
	keys      []string // or channels
	writes    bool     // it may change a key
	every     bool     // it changes keys that it does not name
	channel   bool     // keys are channels
	publishes bool
	script    string // its SHA1, or the name of the function; "" for other commands
}

// kind is what a rule can name: a script, or a command.
func (a *about) kind() string { return cmp.Or(a.script, strings.ToLower(a.name)) }

// unknown reports whether the server did not know the script of a request.
func (a *about) unknown(en entry) bool {
	missing := strings.HasPrefix(en.Reply, "NOSCRIPT") || strings.Contains(en.Reply, "Function not found")
	return en.Outcome == lab.Failed && missing
}

// about reads a request. A command that is not in the table names one key, and may change it.
func (e *Explorer) about(en entry) about {
	name := strings.ToLower(en.Cmd[0])
	a := about{name: strings.ToUpper(name), keys: en.Keys, writes: true}
	cmd := e.rows[name]
	if cmd != nil && len(en.Cmd) > 1 {
		cmd = cmp.Or(cmd.Subs[strings.ToLower(en.Cmd[1])], cmd)
	}
	if cmd == nil {
		a.keys = []string{en.Key}
		return a
	}
	if len(a.keys) == 0 { // the entry has all words
		args := make([][]byte, len(en.Cmd))
		for i, word := range en.Cmd {
			args[i] = []byte(word)
		}
		for _, key := range cmd.AppendSubjects(nil, args) {
			a.keys = append(a.keys, string(key))
		}
	}
	a.channel, a.publishes = cmd.Channels != 0, name == "publish" || name == "spublish"
	a.every = cmd.Flags&command.AllKeys != 0
	if len(en.Cmd) > 1 && (strings.HasPrefix(name, "eval") || strings.HasPrefix(name, "fcall")) {
		a.script = scriptOf(name, en.Cmd[1])
		a.writes = !strings.HasSuffix(name, "_ro")
	} else {
		a.writes = cmd.Flags&command.Write != 0
	}
	return a
}

// scriptOf returns the SHA1 of a script, or the name of a function. The log has the SHA1 of a long text behind it.
func scriptOf(command, word string) string {
	switch at := strings.LastIndex(word, "sha1 "); {
	case strings.HasPrefix(command, "fcall"):
		return word
	case strings.HasPrefix(command, "evalsha"):
		return strings.ToLower(word)
	case at > 0 && strings.HasSuffix(word, ")") && len(word)-at == len("sha1 )")+2*sha1.Size:
		return word[at+len("sha1 ") : len(word)-1]
	}
	return fmt.Sprintf("%x", sha1.Sum([]byte(raw(word))))
}

// globs returns the locks that a request is about. That of one which changes all keys is "".
func (e *Explorer) globs(a about) (globs []string) {
	if a.every {
		return []string{""}
	}
	for _, key := range a.keys {
		glob := e.lockOf(key)
		if a.channel {
			glob = e.channel(key)
		}
		if glob != "" && !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	return globs
}

// changes reports whether a command has changed a key, as far as its reply tells. A reply of 0 says in most commands
// that nothing has changed, and is a number or an earlier value in others.
func (e *Explorer) changes(en entry) bool {
	switch a := e.about(en); {
	case len(en.Changes) > 0:
		return true
	case !a.writes || a.script != "" || en.Outcome == lab.Failed || en.Outcome == lab.NotExecuted ||
		en.Outcome == lab.Held || en.Outcome == lab.Delayed:
		return false
	case en.Kind == "_":
		return slices.ContainsFunc(en.Cmd, func(w string) bool { return strings.EqualFold(w, "get") })
	case slices.Contains([]string{"HSET", "HMSET", "ZADD", "GEOADD", "SETBIT"}, a.name),
		strings.Contains(a.name, "INCR"), strings.Contains(a.name, "DECR"):
		return true
	}
	return en.Reply != "0" || en.Kind != ":" && en.Kind != ""
}
