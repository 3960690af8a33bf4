package server

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// The lock lab: what a lock client's tests want to happen to a server and can bring
// about nowhere else, at the moment they say. All of it is asked for by LAB, a command
// like others, from any client:
//
//	lab_clock.go    the time: LAB CLOCK
//	lab_net.go      connections that fail: LAB LISTEN, LAB BLACKHOLE, LAB PARTITION
//	lab_crash.go    the end of the process: LAB CRASH
//	lab_snapshot.go the keyspace as it was: LAB SNAPSHOT
//	lab_fault.go    what goes wrong: LAB FAULT; lab_seam.go does it
//	lab_hold.go     requests that wait for a word: LAB HOLD
//	lab_log.go      what has happened: LAB LOG
//	lab_reset.go    all of this as it was at the start: LAB RESET
//	lab_masters.go  other masters of the process: LAB ALL, LAB MASTER; visit.go gets there
//	lab_doctor.go   what users of locks do wrong: LAB DOCTOR
//
// The directive lab turns it on. While it is off, s.lab is nil, and that is all the
// rest of the server looks at.
type labState struct {
	*Server

	clock  *command.LabClock
	seen   int64 // unix ns, when the last pass ended
	doctor *doctor.Doctor

	deaf       bool        // LAB LISTEN OFF
	blackhole  bool        // LAB BLACKHOLE ON
	partitions []string    // globs of client names
	lingering  []lingering // sockets of clients that were closed while they were muted, the oldest first

	config    *config.Config // as it was at the start
	crashing  *crash         // to be done at the end of the pass
	down      *reactor.Timer // until the server listens again, nil while it is up
	snapshots map[string]*snapshot

	plan     *lab.Plan
	history  *lab.Log
	armed    bool       // requests have to be looked at: see arm
	parked   []*client  // by HOLD, who came first is first
	barriers []*barrier // LAB HOLD WAIT
}

func (s *Server) newLab(clock *command.Clock) *labState {
	l := &labState{
		Server: s,
		clock:  clock.Lab, seen: clock.Lab.Now(clock.Mono()),
		plan: lab.NewPlan(s.cfg.Seed, store.MatchPattern), history: lab.NewLog(store.MatchPattern),
	}
	l.doctor = doctor.New(l.logFinding, nil, 0)
	return l
}

const errLabOff store.Error = "ERR LAB is off: start the server with --lab yes"

// rows are LAB and its subcommands.
func (l *labState) rows() []command.Row {
	return append([]command.Row{
		row("lab", "",
			-2, 0, labGroup, labSince,
			"Depends on subcommand.",
			"Controls time and faults, for tests.", nil),
		row("lab|help", "",
			2, command.Loading|command.Stale|command.AllowBusy, labGroup, labSince,
			"O(1)",
			"Lists the subcommands.", command.Help),
	}, slices.Concat(l.clockRows(), l.faultRows(), l.holdRows(), l.logRows(), l.netRows(), l.crashRows(), l.snapshotRows(),
		l.mastersRows(), l.doctorRows(), l.resetRows())...)
}

const (
	labGroup = "lab"
	labSince = "0.1.0" // of miniredisd: Redis has nothing like it
)

// row is a row of LAB: name is that of the subcommand. None of them is let into a
// transaction: some take the time that others need to go on. A pause may end by the lab's
// time alone, so it does not hold them.
//
// more is AllowBusy for those that are answered in the middle of a script that runs on:
// whoever has brought that about wants to see what is going on, and to change it. These are
// the ones that have to do with connections, rules and the log alone. A script never stops
// in the middle of a command of its own, so that all of this is whole. It must find as they
// were: its keys, in the middle of what it does to them; its time, which stands still; and
// the executor that runs it.
func (l *labState) row(name, syntax string, arity int, more command.Flag, complexity, summary string, do func(*command.Call) error) command.Row {
	const flags = command.Admin | command.NoScript | command.NoMulti | command.NeverPaused | command.Loading | command.Stale
	return row("lab|"+name, syntax,
		arity, flags|more, labGroup, labSince,
		complexity,
		summary,
		func(c *command.Call) error {
			if l == nil {
				return errLabOff
			}
			l.running.lab.control = true
			return do(c)
		})
}

// labWord is the row of a word behind a subcommand: ADVANCE of LAB CLOCK ADVANCE.
type labWord struct {
	name        string // "" where there is none, labCount for any number
	least, most int    // arguments behind it
	flags       command.Flag
	do          func(c *command.Call, args [][]byte) error
}

// labCount stands for a number in place of a word, which is then the only argument.
const labCount = "a number"

// wordsRow is row of a subcommand that has words, each with flags of its own.
func (l *labState) wordsRow(name, syntax string, arity int, complexity, summary string, words ...labWord) command.Row {
	var flags command.Flag
	for _, w := range words {
		flags |= w.flags
	}
	return l.row(name, syntax, arity, flags, complexity, summary, func(c *command.Call) error {
		word, args := "", c.Args[2:]
		if len(args) > 0 {
			word, args = labVerb(args[0]), args[1:]
		}
		at := slices.IndexFunc(words, func(w labWord) bool { return w.is(word) })
		if at < 0 && len(c.Args) == 2 {
			return labError(name, "expects %s", wordList(words))
		}
		if at < 0 {
			return labError(name, "expects %s, not '%s'", wordList(words), lab.Printable(string(c.Args[2])))
		}
		w := &words[at]
		verb := strings.TrimSpace(name + " " + w.title())
		switch {
		case len(args) < w.least:
			return labError(verb, "%s is missing", argumentName(syntax, w.name, len(args)))
		case len(args) > w.most:
			return labError(verb, "'%s' is too much", lab.Printable(string(args[w.most])))
		}
		if w.flags&command.AllowBusy == 0 {
			if err := l.ex.Scripts.Busy(); err != nil {
				return err
			}
		}
		return w.do(c, args)
	})
}

func (w *labWord) is(word string) bool {
	if w.name == labCount {
		n, ok := ascii.ParseInt([]byte(word))
		return ok && n >= 0
	}
	return w.name == word
}

// title is the word as errors name it.
func (w *labWord) title() string {
	if w.name == labCount {
		return ""
	}
	return w.name
}

// wordList is what could have been said.
func wordList(words []labWord) string {
	var names []string
	for _, w := range words {
		if w.name == "" {
			names = append(names, "nothing")
		} else {
			names = append(names, w.name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// argumentName is what the syntax calls the argument at a place behind a word.
func argumentName(syntax, word string, at int) string {
	names := strings.FieldsFunc(syntax, func(r rune) bool { return strings.ContainsRune(" ()[]|", r) })
	name, _, _ := strings.Cut(names[slices.Index(names, word)+1+at], ":")
	return name
}

// labError is the error of a LAB command: it says which argument is wrong, and how. verb
// is the subcommand, with what is below it.
func labError(verb, why string, args ...any) error {
	return errorf("ERR LAB "+strings.ToUpper(verb)+": "+why, args...)
}

// labVerb is an argument that is a word, whatever case the client used.
func labVerb(arg []byte) string { return strings.ToUpper(string(arg)) }

// number is what a switch is in a reply.
func number(on bool) int64 {
	if on {
		return 1
	}
	return 0
}
