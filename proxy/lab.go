package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labreply"
	"github.com/miniredisd/miniredisd/resp"
)

// labState is the lab of one upstream. A client that sends LAB talks to it, and not to the upstream.
type labState struct {
	p       *Proxy
	ids     int64
	plan    *lab.Plan
	log     *lab.Log
	table   table             // of the upstream, nil until somebody has added a rule
	scripts map[string]string // texts by SHA1

	turn   *turn
	asker  *asker
	ledger ledger
	left   []*underway // requests without a reply that have left the turn
	judge  func(w *resp.Writer, args [][]byte, logs []lab.History) error
	doctor func(w *resp.Writer, log lab.History, now int64) error

	blackhole  bool     // LAB BLACKHOLE ON
	partitions []string // globs of client names
	lingering  []lingering

	own *owned // the process of the upstream, nil if the proxy has not started it

	held  []*pair // that HOLD keeps waiting, oldest first
	waits []*wait
}

// verb is a subcommand of LAB and its word.
type verb struct {
	name        string // such as "fault add"
	syntax      string
	least, most int // arguments after it
	do          func(l *labState, c *pair, d *due, args [][]byte) (toUpstream []byte)
}

// owned reports whether a verb needs a server that the proxy has started.
func (v *verb) owned() bool { return v.name == "crash" || strings.HasPrefix(v.name, "snapshot ") }

func verbs() []verb {
	const rule = "name [CMD command] [KEY pattern] [SCRIPT sha1-or-text] [CLIENT id-or-pattern] [NTH n] [TIMES n] " +
		"[PROB probability] ACTION action [argument]"
	return []verb{
		{"all", "verb [argument ...]", 1, 1 << 20, (*labState).relayToAll},
		{"blackhole", "ON|OFF", 1, 1, (*labState).blackholeSwitch},
		{"clock advance", "milliseconds", 1, 1, (*labState).clockAdvance},
		{"clock", "", 0, 0, (*labState).clockTime},
		{"crash", crashSyntax, 0, 4, (*labState).crashCommand},
		{"doctor", "", 0, 0, (*labState).diagnose},
		{"fault add", rule, 1, 1 << 20, (*labState).faultAdd},
		{"fault del", "name", 1, 1, (*labState).faultDel},
		{"fault clear", "", 0, 0, (*labState).faultClear},
		{"fault list", "", 0, 0, (*labState).faultList},
		{"help", "", 0, 0, (*labState).help},
		{"hold list", "", 0, 0, (*labState).holdList},
		{"hold release", "name [clients]", 1, 2, (*labState).holdRelease},
		{"hold wait", "name timeout-milliseconds [clients]", 2, 3, (*labState).holdWait},
		{"log export", "", 0, 0, (*labState).logExport},
		{"log reset", "", 0, 0, (*labState).logReset},
		{"log unwatch", "pattern", 1, 1, (*labState).logUnwatch},
		{"log watch", "pattern [AS MUTEX|REENTRANT|RW|FAIR|SEMAPHORE holders|QUEUE]", 1, 4, (*labState).logWatch},
		{"log", "[count]", 0, 1, (*labState).logList},
		{"master", "number verb [argument ...]", 2, 1 << 20, (*labState).relayToOne},
		{"partition client", "name-pattern ON|OFF", 2, 2, (*labState).partition},
		{"partition list", "", 0, 0, (*labState).partitionList},
		{"reset", "", 0, 0, (*labState).reset},
		{"snapshot del", "name", 1, 1, (*labState).snapshotDel},
		{"snapshot list", "", 0, 0, (*labState).snapshotList},
		{"snapshot restore", "name", 1, 1, (*labState).snapshotRestore},
		{"snapshot save", "name", 1, 1, (*labState).snapshotSave},
		{"topology", "", 0, 0, (*labState).topology},
		{"verdict", "[SVG|PAGE [LANG language]] [pattern]", 0, 4, (*labState).verdict},
	}
}

// elsewhere says why the proxy lacks a subcommand that a server has, and what to use instead.
func elsewhere(name string) string {
	const own = "start miniredisd itself with --lab yes"
	switch name {
	case "clock freeze", "clock set", "clock rate", "clock run":
		return "the clock is the upstream's, and a proxy can only move the deadlines of keys: use LAB CLOCK ADVANCE, or " +
			own
	case "disk", "evict", "step", "record", "replication", "failover", "push":
		return "it needs a server that can be changed from inside: " + own
	case "doctor reset":
		return "the doctor of a proxy reads the log: use LAB LOG RESET"
	case "listen":
		return "a proxy does not have it: use LAB BLACKHOLE or LAB FAULT"
	}
	return ""
}

// execute answers LAB. It returns the bytes for the upstream, if it has to be asked.
func (l *labState) execute(c *pair, args [][]byte) (toUpstream []byte) {
	c.control = true
	c.setMuted()
	d := &due{number: c.asked, here: true}
	c.due = append(c.due, d)
	words := make([]string, 0, 2)
	for _, arg := range args[1:min(len(args), 3)] {
		words = append(words, string(ascii.AppendLower(nil, arg)))
	}
	all := verbs()
	for n := len(words); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		at := slices.IndexFunc(all, func(v verb) bool { return v.name == name })
		if why := elsewhere(name); at < 0 && why != "" {
			l.fail(c, d, name, "%s", why)
			return nil
		}
		if at < 0 {
			continue
		}
		v, rest := &all[at], args[1+n:]
		switch {
		case v.owned() && l.own == nil:
			l.fail(c, d, name, "the proxy has not started the upstream: start both with miniredisd proxy --server COMMAND")
		case c.multi:
			l.fail(c, d, name, "it is not allowed in transactions")
		case len(rest) < v.least:
			l.fail(c, d, name, "expects %s", v.syntax)
		case len(rest) > v.most:
			l.fail(c, d, name, "'%s' is one argument too many", lab.Printable(string(rest[v.most])))
		default:
			return v.do(l, c, d, rest)
		}
		return nil
	}
	l.fail(c, d, lab.Printable(strings.Join(words, " ")), "there is no such subcommand: LAB HELP lists them")
	return nil
}

// answer writes the reply to LAB.
func (l *labState) answer(c *pair, d *due, write func(w *resp.Writer)) {
	w := c.writer()
	write(w)
	d.ready, d.reply = true, w.Buf
	if c.tell != nil {
		c.tell(d.reply)
	}
	if !c.ended {
		c.replies.later()
	}
}

func (l *labState) fail(c *pair, d *due, verb, why string, args ...any) {
	text := errorText(verb, fmt.Sprintf(why, args...))
	l.answer(c, d, func(w *resp.Writer) { w.Error(text) })
}

func errorText(verb, why string) string { return "ERR LAB " + strings.ToUpper(verb) + ": " + why }

func (l *labState) ok(c *pair, d *due) []byte {
	l.answer(c, d, (*resp.Writer).OK)
	return nil
}

func (l *labState) help(c *pair, d *due, _ [][]byte) []byte {
	l.answer(c, d, func(w *resp.Writer) {
		all := slices.DeleteFunc(verbs(), func(v verb) bool { return v.owned() && l.own == nil })
		w.Array(len(all) + 1)
		w.Status("LAB <subcommand> [<arg> [value] [opt] ...]. At a proxy the subcommands are:")
		for _, v := range all {
			w.Status(strings.TrimSpace(strings.ToUpper(v.name) + " " + v.syntax))
		}
	})
	return nil
}

// faultAdd asks the upstream for its commands before it adds the first rule.
func (l *labState) faultAdd(c *pair, d *due, args [][]byte) []byte {
	r, err := lab.ParseRule(args)
	switch {
	case err != nil:
		l.answer(c, d, func(w *resp.Writer) { w.Error(err.Error()) })
		return nil
	case r.Action.OnPush():
		l.fail(c, d, "fault add", "a proxy has no ACTION %s: it passes messages on", r.Action)
		return nil
	case r.Order > 0 && l.own == nil:
		l.fail(c, d, "fault add", "ORDER needs a proxy that has started the upstream (--server COMMAND): only then it "+
			"knows which scripts the upstream has; use CLIENT with the name of a client")
		return nil
	case r.Action == lab.Hold && r.ClientID == c.id && c.tell == nil:
		l.fail(c, d, "fault add", "CLIENT %d is this connection, and a client that sends LAB is never held", c.id)
		return nil
	}
	if l.table != nil {
		l.answer(c, d, func(w *resp.Writer) { l.add(w, r) })
		return nil
	}
	if c.tell != nil {
		l.learnTable(func(err error) {
			if err != nil {
				l.fail(c, d, "fault add", "%v", err)
				return
			}
			l.answer(c, d, func(w *resp.Writer) { l.add(w, r) })
		})
		return nil
	}
	c.asking = true
	d.here, d.learn = false, func(reply []byte) []byte {
		c.asking = false
		c.requests.later()
		w := c.writer()
		var err error
		if l.table, err = parseTable(reply); err != nil {
			l.table = nil
			w.Error(errorText("fault add", err.Error()))
		} else {
			l.add(w, r)
		}
		return w.Buf
	}
	return resp.AppendRequest(nil, "COMMAND")
}

// add adds a rule, once the commands are known.
func (l *labState) add(w *resp.Writer, r *lab.Rule) {
	if r.Cmd != "" {
		name, sub, _ := strings.Cut(r.Cmd, "|")
		if known := l.table[name]; known == nil || sub != "" && known.subs[r.Cmd] == nil {
			w.Error(errorText("fault add", fmt.Sprintf(
				"CMD expects the name of a command of the upstream, or name|subcommand, not '%s'", lab.Printable(r.Cmd))))
			return
		}
	}
	if err := l.plan.Add(r); err != nil {
		w.Error(err.Error())
		return
	}
	w.OK()
}

func (l *labState) faultDel(c *pair, d *due, args [][]byte) []byte {
	r := l.plan.Del(string(args[0]))
	if r == nil {
		l.fail(c, d, "fault del", "there is no rule '%s'", lab.Printable(string(args[0])))
		return nil
	}
	l.lift(r)
	return l.ok(c, d)
}

func (l *labState) faultClear(c *pair, d *due, _ [][]byte) []byte {
	l.liftAll()
	return l.ok(c, d)
}

func (l *labState) liftAll() {
	rules := l.plan.Rules
	l.plan.Clear()
	for _, r := range rules {
		l.lift(r)
	}
}

// lift ends what a removed rule still does.
func (l *labState) lift(r *lab.Rule) {
	l.release(r.Name, len(l.held))
	for _, w := range slices.Clone(l.waits) {
		if w.rule == r.Name {
			l.endWait(w, (*resp.Writer).NullArray)
		}
	}
}

func (l *labState) faultList(c *pair, d *due, _ [][]byte) []byte {
	l.answer(c, d, func(w *resp.Writer) {
		labreply.Rules(w, l.plan.Rules, func(rule string) int { return len(l.heldBy(rule)) })
	})
	return nil
}

// reset removes the rules and the log. Clients that wait because of a rule continue. A server that was down answers
// when the reply comes.
func (l *labState) reset(c *pair, d *due, _ [][]byte) []byte {
	each(l.nodes(), func(l *labState, then func(error)) {
		down := l.isDown()
		l.forgets(l.turn.u)
		if !down {
			then(nil)
			return
		}
		l.turn.does(func(u *underway) { // after the start
			l.turn.over(u)
			then(nil)
		})
	}, func(error) { l.ok(c, d) })
	return nil
}

func (l *labState) forgets(u *upstream) {
	l.liftAll()
	for each := range u.pairs {
		if each.parked != nil {
			each.unpark()
		}
		if each.decided != nil {
			each.decided = &parked{}
		}
		for _, d := range each.due {
			each.hurry(d)
			d.past = true
			each.replies.later()
		}
	}
	l.log.Reset()
	l.log.UnwatchAll()
	clear(l.ledger.known)
	l.ledger.ahead, l.ledger.last = 0, 0
	l.heal(u)
	if l.isDown() {
		l.comesUp()
	}
	for each := range u.pairs {
		if each.under != nil {
			each.under.forgotten = true
		}
	}
}
