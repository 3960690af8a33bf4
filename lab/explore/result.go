package explore

import (
	"time"

	"github.com/miniredisd/miniredisd/lab"
)

// Point is one place where a failure can strike: the n-th request of a client about a lock, or the n-th
// message to it. Its name is the same in every run of the program.
type Point struct {
	Client  string // CLIENT SETNAME, or "#2" for the second client that sent a request about this lock
	N       int    // the n-th such request of this client, or the n-th message to it, from 1
	Command string // as people write it: "SET", "EVAL", "message"
	Key     string // the lock, or the channel
	Master  int    // from 1
	Message bool   // a message to a waiter, not a request

	Writes   bool // whether it changed a key in the baselines
	Unstable bool // whether a baseline lacked it
}

// Mark is the outcome of one trial.
type Mark uint8

// The marks, from good to bad. NotTried is the zero value.
const (
	NotTried   Mark = iota
	Fine            // nothing is different
	Noticed         // the program reported an error and no lock is broken
	Stopped         // a worker sent fewer requests than in every run without the fault, and nobody reported an error
	LeftBehind      // nobody holds the lock, and it stays taken until its lease ends
	NotReached      // the request did not come in any of the tries
	NotJudged       // the key is no lock of one holder, or it ends with another value than without the fault
	Undecided       // the log cannot tell
	Hangs           // the program did not end in time
	ByItself        // broken, but also without the fault
	Broken          // broken with the fault, and never without
)

// Fault is a column of the matrix: one kind of failure.
type Fault struct {
	Name     string // "reply-lost", a word for JSON and the command line
	Title    string // "reply lost", for people
	Sentence string // "The server executes the request, and its reply is lost."
}

// Cell is one fault at one point.
type Cell struct {
	Mark    Mark
	Why     string   // why it was not tried, is undecided, or has this mark; "" if there is nothing to say
	Finding *Finding // of a Broken, ByItself or Hangs cell; nil otherwise
}

// Strike is one fault at one point, as indexes into Report.Points and Report.Faults.
type Strike struct{ Point, Fault int }

// Harm is what a failure did. Reports say it in several languages, and tests assert its absence.
type Harm uint8

// The kinds of harm.
const (
	OtherHarm    Harm = iota // none of the others: only Finding.Sentence says it
	TwoHolders               // two clients held the lock at the same time
	NoLegalOrder             // no order explains the operations on the lock
	ForEver                  // nobody can ever take the lock again
	NeverWakes               // a client waits for the lock for ever
	CheckFails               // the program, or the command of --invariant, says that something is wrong
	NeverEnds                // the program did not end in time
)

// Finding is a failure that breaks a lock, and how to see it again.
type Finding struct {
	Strikes     []Strike // one, or the two of a pair
	Harm        Harm
	Lock        string        // the key that the harm is about, "" if there is none
	Clients     []string      // that the harm is about, named as in Point
	From        time.Duration // by the lab's clock, from the start of the trial to the harm
	Sentence    string        // "If the reply to a's second SET is lost, a and b both hold lock:o from +2.0 s."
	Mistake     string        // the doctor's name of what is wrong, such as "setnx-then-expire"; "" if it has none
	Reason, Fix string        // the doctor's if it has them, else those of the harm
	Output      string        // the last lines that the program printed

	Commands []string // LAB commands, a line each, that make the failure again; or OthersGoOn, or a comment
	History  []lab.History
	SVG      map[string][]byte // the verdict's picture in each language, en and zh; nil if there is none
	Loop     []byte            // the recording for the glass loop, nil if there is none

	With, Without, Of int // how often it broke with and without the fault, in that many runs each
}

// OthersGoOn is the line among Finding.Commands where a person waits for the other clients. A test waits until
// they send nothing any more.
const OthersGoOn = "# wait until the other clients have gone on, then:"

// Pair is a trial with two faults.
type Pair struct {
	Strikes [2]Strike
	Cell
}

// Report is all that explore has found.
type Report struct {
	Program   []string // the command, or the name of the test
	InTest    bool     // Program is the name of a test
	Seed      uint64
	Masters   int
	Cluster   bool     // the masters are those of a cluster
	Sentinels bool     // clients find the master by Sentinels
	Server    []string // more words of the servers' command line
	On        string   // what the servers are if they are foreign, such as "redis 7.2.6"
	Points    []Point
	Faults    []Fault
	Cells     [][]Cell // a row for each point, in it one cell for each fault
	Pairs     []Pair   // the pairs that were tried
	Itself    *Finding // what breaks without any fault, in Without of Of runs; nil if nothing does
	Baselines int      // runs without a fault
	Trials    int      // runs with a fault, without confirmations
	Confirms  int      // runs that confirmed findings
	Notes     []string // what these trials cannot show
	Untried   int      // cells and pairs for which there was no time
	OutOfTime bool

	// Times are not in the part that is equal in each run.
	Took time.Duration // all runs together
	Wall time.Duration // from the first run to the end of the last; 0 if nobody knows
	CPU  time.Duration // processor time of the program and of the children that it waited for; 0 if nobody knows
}

// Unreached returns how many places no trial has reached.
func (r *Report) Unreached() (n int) {
	for _, row := range r.Cells {
		missing, reached := false, false
		for _, c := range row {
			missing = missing || c.Mark == NotReached
			reached = reached || c.Mark != NotReached && c.Mark != NotTried
		}
		if missing && !reached {
			n++
		}
	}
	return n
}
