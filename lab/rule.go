package lab

import (
	"math/rand/v2"
	"strconv"
)

// Action is what happens to a request, or to a message, that a rule has fired for.
type Action uint8

// The actions, in the order in which errors list them.
const (
	DropBefore  Action = iota // the connection ends, as if by a crash before the command
	DropReply                 // ... or after it
	ResetBefore               // the same by a TCP reset
	ResetAfter
	Silent     // executed; the connection stays and says nothing any more
	DelayExec  // executed later
	DelayReply // executed, and answered later
	Hold       // executed when somebody says so
	Error      // not executed, answered by an error
	ErrorAfter // executed, and answered by an error
	Cut        // executed; the connection ends in the middle of the reply
	SkipPush   // the message is never sent
	DelayPush  // the message is sent later
	actions
)

func (a Action) String() string {
	return [actions]string{
		"DROP-BEFORE", "DROP-REPLY", "RESET-BEFORE", "RESET-AFTER", "SILENT", "DELAY-EXEC", "DELAY-REPLY", "HOLD",
		"ERROR", "ERROR-AFTER", "CUT", "SKIP-PUSH", "DELAY-PUSH",
	}[a]
}

// OnPush tells the actions on messages from those on requests.
func (a Action) OnPush() bool { return a == SkipPush || a == DelayPush }

func (a Action) takesMillis() bool { return a == DelayExec || a == DelayReply || a == DelayPush }
func (a Action) takesText() bool   { return a == Error || a == ErrorAfter }

// Rule is one rule of a Plan, as ParseRule has read it. What a request must have is "",
// or 0 for the client's ID, where anything will do.
type Rule struct {
	Name string

	Cmd      string // lower case; "client" is all of its subcommands, "client|kill" one; for pushes the kind of message
	Key      string // glob
	Script   string // SHA1, name of a function, or a part of the text
	ClientID int64
	Client   string // glob of the client's name

	Nth   int64 // fires from the Nth match on, 0 for the first
	Times int64 // how often at most, 0 for always
	Prob  float64

	Action Action
	Text   string // of ERROR and ERROR-AFTER
	Millis int64  // of DELAY-*
	Bytes  int64  // of CUT

	Matched, Fired int64 // how often up to now
	Spared         int64 // the latest client that says LAB, and would have been held; 0 for none

	dice *rand.Rand
}

// Words is the rule as LAB FAULT ADD would be given it.
func (r *Rule) Words() []string {
	words := []string{r.Name}
	add := func(word, value string) {
		if value != "" {
			words = append(words, word, value)
		}
	}
	num := func(word string, n int64) {
		if n != 0 {
			add(word, strconv.FormatInt(n, 10))
		}
	}
	add("CMD", r.Cmd)
	add("KEY", r.Key)
	add("SCRIPT", r.Script)
	num("CLIENT", r.ClientID)
	add("CLIENT", r.Client)
	num("NTH", r.Nth)
	num("TIMES", r.Times)
	if r.Prob < 1 {
		add("PROB", strconv.FormatFloat(r.Prob, 'g', -1, 64))
	}
	words = append(words, "ACTION", r.Action.String())
	switch {
	case r.Action.takesMillis():
		words = append(words, strconv.FormatInt(r.Millis, 10))
	case r.Action.takesText():
		words = append(words, r.Text)
	case r.Action == Cut:
		words = append(words, strconv.FormatInt(r.Bytes, 10))
	}
	return words
}
