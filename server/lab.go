package server

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/config"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// The lock lab: what a lock client's tests want to happen to a server and can bring
// about nowhere else, at the moment they say. All of it is asked for by LAB, a command
// like others, from any client:
//
//	labclock.go    the time: LAB CLOCK
//	labnet.go      connections that fail: LAB LISTEN, LAB BLACKHOLE, LAB PARTITION
//	labcrash.go    the end of the process: LAB CRASH
//	labsnapshot.go the keyspace as it was: LAB SNAPSHOT
//	labfault.go    what goes wrong: LAB FAULT; labseam.go does it
//	labhold.go     requests that wait for a word: LAB HOLD
//	lablog.go      what has happened: LAB LOG
//	labmasters.go  other masters of the process: LAB ALL, LAB MASTER; visit.go gets there
//	labdoctor.go   what users of locks do wrong: LAB DOCTOR
//
// The directive lab turns it on. While it is off, s.lab is nil, and that is all the
// rest of the server looks at.
type labState struct {
	clock  *command.LabClock
	seen   int64          // unix ns, when the last pass ended
	timers reactor.Timers // in its time
	moves  []*move
	doctor *doctor.Doctor

	deaf       bool     // LAB LISTEN OFF
	blackhole  bool     // LAB BLACKHOLE ON
	partitions []string // globs of client names

	config    *config.Config // as it was at the start
	crash     *crash         // to be done at the end of the pass
	down      *reactor.Timer // until the server listens again, nil while it is up
	snapshots map[string]*snapshot

	plan     *lab.Plan
	history  *lab.Log
	armed    bool       // requests have to be looked at: see arm
	parked   []*client  // by HOLD, who came first is first
	barriers []*barrier // LAB HOLD WAIT
}

func (s *Server) newLab(clock *command.Clock, seed uint64) *labState {
	match := func(pattern string, b []byte) bool { return store.Match([]byte(pattern), b, false) }
	return &labState{
		clock: clock.Lab, seen: clock.Lab.Now(clock.Mono()),
		doctor: doctor.New(s.logFinding, nil, 0),
		plan:   lab.NewPlan(seed, match), history: lab.NewLog(match),
	}
}

const errLabOff store.Error = "ERR LAB is off: start the server with --lab yes"

// labRows are LAB and its subcommands.
func (s *Server) labRows() []command.Row {
	return append([]command.Row{
		row("lab", "", -2, 0, labGroup, labSince, "Depends on subcommand.", "Controls time and faults, for tests.", nil),
		row("lab|help", "", 2, command.Loading|command.Stale, labGroup, labSince, "O(1)", "Lists the subcommands.", command.Help),
	}, slices.Concat(s.labClockRows(), s.labFaultRows(), s.labHoldRows(), s.labLogRows(), s.labNetRows(), s.labCrashRows(), s.labSnapshotRows(),
		s.labMastersRows(), s.labDoctorRows())...)
}

const (
	labGroup = "lab"
	labSince = "0.1.0" // of miniredisd: Redis has nothing like it
)

// labRow is a row of LAB: name is that of the subcommand. None of them is let into a
// transaction: some take the time that others need to go on. A pause may end by the lab's
// time alone, so it does not hold them.
func (s *Server) labRow(name, syntax string, arity int, complexity, summary string, do func(*command.Call) error) command.Row {
	const flags = command.Admin | command.NoScript | command.NoMulti | command.NeverPaused | command.Loading | command.Stale
	return row("lab|"+name, syntax, arity, flags, labGroup, labSince, complexity, summary, func(c *command.Call) error {
		if s.lab == nil {
			return errLabOff
		}
		s.running.control = true
		return do(c)
	})
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
