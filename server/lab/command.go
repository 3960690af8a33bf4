// Package lab makes failures happen, for the tests of lock clients. A test controls it by LAB, a command like any
// other:
//
//	clock.go        LAB CLOCK                          the server's time
//	net.go          LAB LISTEN, BLACKHOLE, PARTITION   connections that fail
//	crash.go        LAB CRASH                          the end of the process
//	disk.go         LAB DISK                           files that a crash loses; restart.go loads the rest
//	snapshot.go     LAB SNAPSHOT                       the keyspace, saved and restored
//	evict.go        LAB EVICT                          keys that go as if memory were short
//	fault.go        LAB FAULT                          rules for requests and messages;
//	                                                   request.go and push.go apply them
//	hold.go         LAB HOLD                           requests that wait until a test releases them
//	log.go          LAB LOG                            what has happened; observe.go writes it
//	push_own.go     LAB PUSH                           messages that a test has made up
//	reset.go        LAB RESET                          everything back to the start
//	masters.go      LAB ALL, LAB MASTER                other masters of the process
//	nodes.go        LAB TOPOLOGY                       replicas of the process, and their links
//	replication.go  LAB REPLICATION                    streams that stand still or come late
//	failover.go     LAB FAILOVER                       another master
//	cluster.go      LAB CLUSTER                        slots that move, and nodes that do not know
//	doctor.go       LAB DOCTOR                         mistakes of lock clients
//	verdict.go      LAB VERDICT                        did two clients hold one lock?
//	open.go                                            a lab that strangers can reach is refused
//
// Package glass has LAB STEP and LAB RECORD. The package lab at the top has the rules and the log, without a server.
//
// The directive lab turns it on. While it is off, there is no State. seam.go shows where the lab meets the server. No
// package below it knows the lab.
//
// The goroutine that executes commands owns a State. Other nodes reach it only by a post to its loop. A verdict is
// searched in a goroutine of its own:
//
//	this node                        another node            a goroutine
//	relay, askNodes ─── SendTo ────> executes LAB there
//	arrived <────────── post ────────┘
//	verdict ─── apart ─────────────────────────────────────> searches the logs
//	answer <─── post ────────────────────────────────────────┘
//
// Redis has nothing like it. Its tests use DEBUG SLEEP, SIGSTOP and CLIENT KILL instead.
package lab

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/admin"
	"github.com/miniredisd/miniredisd/server/cluster"
	"github.com/miniredisd/miniredisd/server/persist"
	"github.com/miniredisd/miniredisd/server/repl"
	"github.com/miniredisd/miniredisd/store"
)

// State is the lab of one server. It sees the server from the inside, so it embeds it.
type State struct {
	*repl.Role
	admin   *admin.State
	cluster *cluster.State // nil without a cluster
	All     []*State       // nodes of the process: with this one, unless it is a Sentinel

	Sentinels []*State // of the process
	Tell      TellSentinels

	Clock  *clock.Lab
	seen   int64 // unix ns by clock, when the last pass ended
	doctor *doctor.Doctor

	deaf       bool        // LAB LISTEN OFF
	blackhole  bool        // LAB BLACKHOLE ON
	partitions []string    // globs of client names
	linkCut    atomic.Bool // these, or the black hole, hold up the link to the master; the master asks
	lingering  []lingering // sockets of clients that were closed while muted, oldest first

	disk    *disk.Sim       // of the server's files, nil without lab-disk
	outage  outage          // what LAB DISK has said of the next crash
	syncing func()          // ends a slow fsync, nil for none
	took    int64           // ms for which the loop stood still, for a slow disk
	stored  *store.Keyspace // until a server that has crashed loads its files: the keys that it had

	config    *config.Config // as it was at the start
	crashing  *crash         // a LAB CRASH of this pass, nil for none
	down      *reactor.Timer // until the server listens again, nil while it is up
	upSince   int64          // unix ns by clock, when it came up after a crash
	retry     *reactor.Timer // to listen when that has failed, nil before
	snapshots map[string]*snapshot

	brakes    brakes         // LAB REPLICATION
	turned    func()         // to be called once the link to a new master is up or has failed, nil for nobody
	turnTimer *reactor.Timer // for that
	turns     *State         // that this node has to follow, once other nodes reach it; nil for none

	plan     *lab.Plan
	history  *lab.Log
	inside   inside
	touches  touches
	moves    int64            // of all clocks together
	awaited  []func()         // to be called after the next
	ruled    bool             // rules have to look at requests: see arm
	armed    bool             // rules or the log have to
	parked   []*server.Client // clients that HOLD keeps waiting, oldest first
	barriers []*barrier       // every LAB HOLD WAIT that waits

	Shown Hooks

	judging sync.Mutex // one LAB VERDICT searches at a time: a search over a long log takes 100 MB
}

// New makes the lab of a server, and gives its files and links the hooks of the lab.
func New(rs *repl.Role, a *admin.State, clock *clock.Clock) *State {
	clock.Lab = clock.NewLab()
	l := &State{
		Role: rs, admin: a,
		Clock: clock.Lab, seen: clock.Lab.Now(clock.Mono()),
		plan: lab.NewPlan(rs.Cfg.Seed, store.MatchPattern), history: lab.NewLog(store.MatchPattern),
		Shown: Hooks{Struck: func(int64, *lab.Rule, string) {}, Expired: func(string) {}},
	}
	if rs.Cfg.LabDisk {
		l.disk, _ = l.Persist.Disk.(*disk.Sim)
		l.Persist.Hooks = persist.Hooks{Pace: l.pace, EndSync: l.endSync, Beside: l.beside, IsBehind: l.isBehind}
	}
	l.hookLinks(&l.Link)
	l.doctor = doctor.New(l.logFinding, nil, 0)
	l.All, l.Tell = []*State{l}, tellsNone()
	return l
}

const errLabOff store.Error = "ERR LAB is off: start the server with --lab yes"

// Rows are LAB and its subcommands.
func Rows() []command.Row {
	container := server.Row[*server.Server]("lab", "",
		-2, 0, labGroup, labSince,
		"Depends on subcommand.",
		"Controls time and faults, for tests.", nil)
	container.Do = nil
	help := server.Row[*server.Server]("lab|help", "",
		2, command.Loading|command.Stale|command.AllowBusy, labGroup, labSince,
		"O(1)",
		"Lists the subcommands.", nil)
	help.Do = command.Help
	first := slices.Concat(clockRows(), faultRows(), holdRows(), logRows(), netRows(), crashRows(), snapshotRows(),
		mastersRows(), doctorRows(), verdictRows(), resetRows())
	second := slices.Concat(diskRows(), evictRows(), pushRows(), replicationRows(), topologyRows(), clusterRows())
	for i := range second {
		second[i].Since = "0.2.0"
	}
	return slices.Concat([]command.Row{container, help}, first, second)
}

const (
	labGroup = "lab"
	labSince = "0.1.0" // of miniredisd: Redis has nothing like it
)

// Row makes the row of the subcommand called name. No subcommand runs inside MULTI: some wait for
// other clients. CLIENT PAUSE does not hold them back: a pause may end only when a test moves the
// clock.
//
// more is AllowBusy for verbs that must work while a slow script runs. They touch only connections,
// rules and the log. The script must not see its keys, its time or its executor change under it.
func Row(
	name, syntax string, arity int, more command.Flag, complexity, summary string,
	do func(*State, *command.Call) error,
) command.Row {
	const flags = command.Admin | command.NoScript | command.NoMulti | command.NeverPaused |
		command.Loading | command.Stale
	return server.Row("lab|"+name, syntax,
		arity, flags|more, labGroup, labSince,
		complexity,
		summary,
		func(s *server.Server, c *command.Call) error {
			l, isOn := server.FindPart[*State](s)
			if !isOn {
				return errLabOff
			}
			Of(s.Running).control = true
			return do(l, c)
		})
}

// labWord is a word after a subcommand, such as ADVANCE of LAB CLOCK ADVANCE.
type labWord struct {
	name        string // "" for no word at all, labCount for a number
	least, most int    // number of arguments after it
	flags       command.Flag
	do          func(l *State, c *command.Call, args [][]byte) error
}

// labCount stands for a number instead of a word.
const labCount = "a number"

// wordsRow makes the row of a subcommand that has words, each with its own flags.
func wordsRow(name, syntax string, arity int, complexity, summary string, words ...labWord) command.Row {
	var flags command.Flag
	for _, w := range words {
		flags |= w.flags
	}
	return Row(name, syntax, arity, flags, complexity, summary, func(l *State, c *command.Call) error {
		word, args := "", c.Args[2:]
		if len(args) > 0 {
			word, args = labVerb(args[0]), args[1:]
		}
		at := slices.IndexFunc(words, func(w labWord) bool { return w.is(word) })
		if at < 0 && len(c.Args) == 2 {
			return labError(name, "expects %s", wordList(words))
		}
		if at < 0 {
			return labError(name, "expects %s, not '%s'", wordList(words), printable(c.Args[2]))
		}
		w := &words[at]
		verb := strings.TrimSpace(name + " " + w.title())
		switch {
		case len(args) < w.least:
			return labError(verb, "%s is missing", argumentName(syntax, w.name, len(args)))
		case len(args) > w.most:
			return labError(verb, "'%s' is one argument too many", printable(args[w.most]))
		}
		if w.flags&command.AllowBusy == 0 {
			if err := l.Ex.Scripts.Busy(); err != nil {
				return err
			}
		}
		return w.do(l, c, args)
	})
}

func (w *labWord) is(word string) bool {
	if w.name == labCount {
		n, ok := ascii.ParseInt([]byte(word))
		return ok && n >= 0
	}
	return w.name == word
}

// title returns the word as errors name it.
func (w *labWord) title() string {
	if w.name == labCount {
		return ""
	}
	return w.name
}

// wordList lists the words for an error.
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

// argumentName returns how the syntax names an argument after a word. The first one has place 0.
func argumentName(syntax, word string, at int) string {
	names := strings.FieldsFunc(syntax, func(r rune) bool { return strings.ContainsRune(" ()[]|", r) })
	name, _, _ := strings.Cut(names[slices.Index(names, word)+1+at], ":")
	return name
}

// labError makes the error of a LAB command. verb is the subcommand and its word. why says what is
// wrong with which argument.
func labError(verb, why string, args ...any) error {
	return store.Errorf("ERR LAB "+strings.ToUpper(verb)+": "+why, args...)
}

// labVerb returns a word in upper case, as errors and comparisons have it.
func labVerb(arg []byte) string { return strings.ToUpper(string(arg)) }

// printable returns an argument as errors quote it.
func printable(arg []byte) string { return lab.Printable(string(arg)) }
