package explore

import (
	"time"

	"github.com/miniredisd/miniredisd/lab"
)

// Options are what a run of explore is asked to do.
type Options struct {
	Program []string // the command, or the name of the test: for the report
	InTest  bool     // Program is the name of a test
	Seed    uint64   // decides the order of the pairs
	Masters int      // at least 1
	Replica bool     // each master has a replica, which is half a second behind
	Disk    string   // appendfsync of an append only file on a simulated disk; "" for no files

	Cluster   bool // Masters, three or more, share the slots of a cluster, and each has a replica
	Sentinels bool // the only master has a replica, and three Sentinels watch them

	Foreign string // the command line of the servers, behind a proxy, if they are not miniredisd; "" if they are
	On      string // what those servers are, such as "redis 7.2.6"

	Keys   []string       // globs of keys that are locks whatever they look like
	Limits map[string]int // permits of a semaphore, by its key

	Only     []string                // names of the faults to try; none for all
	Cells    func(Point, Fault) bool // which cells to try; nil for all
	Patience time.Duration           // that a trial may take more than the baselines

	Strict bool // what no client can avoid counts as broken, and the faults that no client can stand are tried
	Pairs  bool // two faults at once, after all single ones
	Exact  bool // the program lives in the servers' time: it is the driver who lets time pass, instead of CLOCK ADVANCE
}

// Fsyncs returns the values of Options.Disk, but for "".
func Fsyncs() []string { return []string{"always", "everysec", "no"} }

// Server returns the words of the command line that the servers of trials need.
func (o *Options) Server() []string {
	var all []string
	if o.Disk != "" {
		all = append(all, "--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", o.Disk)
	}
	if o.Replica {
		all = append(all, "--replicas", "1")
	}
	return append(all, o.topologyWords()...)
}

// explored names what is explored.
func (o *Options) explored() string {
	return o.inTest("the program", "the test")
}

// option names an option: of the command line, or of package miniredistest.
func (o *Options) option(word, name string) string {
	return o.inTest(word, "the option "+name)
}

// inTest returns what is said about a program, or about a test.
func (o *Options) inTest(program, test string) string {
	if o.InTest {
		return test
	}
	return program
}

// Kind says what a trial is for.
type Kind uint8

// The kinds of trials.
const (
	Baseline Kind = iota // without a fault, to find the points
	Single               // one fault
	Double               // two faults
	With                 // confirms a finding
	Without              // shows that the program does not break by itself
	Half                 // one of the two faults of a pair that broke
)

// Trial is one run of the program. The driver
//
//   - starts servers with an empty keyspace and the lab on,
//   - sends Orders, runs the program, and calls Held when the rule of a Hold holds a client,
//   - calls Settle when the program is over, or its time,
//   - calls Overdue when Limit is over and the program is not,
//   - ends the program, and calls Done while the servers still run.
type Trial struct {
	ID      int
	Kind    Kind
	Strikes []Strike
	Master  int // that the first fault strikes, from 1
	Orders  []Order
	Holds   []Hold
	Usual   time.Duration // that the program takes without a fault, at most; 0 if nobody knows yet
	Limit   time.Duration // 0 for the driver's own limit: nobody knows yet how long the program takes
}

// Order is a command for a master, from 1. Words begin with LAB.
type Order struct {
	Master int
	Words  []string
}

// Hold is a rule that holds a client: LAB HOLD WAIT tells when it does so.
type Hold struct {
	Master int
	Rule   string
}

// Scene is the state of the servers at one moment.
type Scene struct {
	Histories []lab.History // of all masters

	// TTL returns what PTTL returns for a key: ms, -1 without an end, -2 without the key. With Cluster or Sentinels
	// the key may be at any node.
	TTL func(master, db int, key string) int64

	// Slot returns the slot of a key, and the number of the master that serves it, 0 for none. Only a cluster has it.
	Slot func(key string) (slot, owner int)
}

// Act is what to do when a rule holds a client.
type Act struct {
	First []Order       // at once, in order
	Pass  time.Duration // by which CLOCK ADVANCE in First lets time pass for all: see Exact
	Wait  bool          // then wait until GoneOn, or until no client sends anything any more, or a second has passed
	Quiet time.Duration // how long clients that poll may send nothing until then; 0 if none polls
	Then  []Order
}

// Outcome is what a run has shown. Its Scene is of the moment when the program ended, or when its time was
// over: before the orders of Overdue.
type Outcome struct {
	Scene
	Took    time.Duration     // of the program
	Unknown string            // why the run shows nothing; "" if it shows something
	Failed  string            // why the program failed: "exit status 1", or an assertion; "" if it did not
	Hung    bool              // it was not over in time
	Woke    bool              // it hung, and then ended after the orders of Overdue
	Waiting int               // of a program that hung: channels and elements that its connections wait for
	Output  string            // the last lines that it printed
	Ends    map[string]string // what each key of database 0 held at the end, in a word; nil if nobody knows
	Unsafe  string            // what the test or --invariant says about work without the lock; "" for nothing
	Loop    func() []byte     // returns the recording for the glass loop; nil if there is none
}
