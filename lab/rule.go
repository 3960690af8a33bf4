package lab

import (
	"math/rand/v2"
	"strconv"
)

// Action is what a rule does to a request or to a message.
type Action uint8

// The actions, in the order in which errors list them.
const (
	DropBefore  Action = iota // not executed; the connection ends
	DropReply                 // executed; the connection ends without a reply
	ResetBefore               // DropBefore by a TCP reset
	ResetAfter                // DropReply by a TCP reset
	Silent                    // executed; the connection stays open and never gets a reply again
	DelayExec                 // executed later
	DelayReply                // executed at once, answered later
	Hold                      // executed after LAB HOLD RELEASE
	Error                     // not executed; the reply is an error
	ErrorAfter                // executed; the reply is an error
	Cut                       // executed; the connection ends in the middle of the reply
	Bandwidth                 // executed; the reply is slow
	Jitter                    // executed; the reply is late, and each time another while
	Slice                     // executed; the reply comes in pieces
	SkipPush                  // the message is never sent
	DelayPush                 // the message is sent later
	NotePush                  // the message is sent, and the log shows it
	actions
)

func (a Action) String() string {
	return [actions]string{
		"DROP-BEFORE", "DROP-REPLY", "RESET-BEFORE", "RESET-AFTER", "SILENT", "DELAY-EXEC", "DELAY-REPLY", "HOLD",
		"ERROR", "ERROR-AFTER", "CUT", "BANDWIDTH", "JITTER", "SLICE", "SKIP-PUSH", "DELAY-PUSH", "NOTE-PUSH",
	}[a]
}

// OnPush reports whether the action is for messages, not for requests.
func (a Action) OnPush() bool { return a >= SkipPush }

// BeforeRun reports whether the action strikes before the command runs.
func (a Action) BeforeRun() bool {
	switch a {
	case DropBefore, ResetBefore, Error, Hold, DelayExec:
		return true
	}
	return false
}

// OnLine reports whether the action says how the bytes of a reply go. Then it goes together with another rule that
// fires for the same request.
func (a Action) OnLine() bool { return a == Bandwidth || a == Jitter || a == Slice }

func (a Action) takesMillis() bool {
	return a == DelayExec || a == DelayReply || a == DelayPush || a == Jitter
}

func (a Action) takesText() bool  { return a == Error || a == ErrorAfter }
func (a Action) takesBytes() bool { return a == Cut || a == Bandwidth || a == Slice }

// Rule is one rule of a Plan, as ParseRule reads it. A condition that is "" or 0 matches
// everything.
type Rule struct {
	Name string

	Cmd      string // lower case: "client" with all subcommands, "client|kill", or the kind of a message
	Key      string // glob
	Script   string // a SHA1, the name of a function, or a part of the text
	ClientID int64
	Client   string // glob of the client's name
	Order    int64  // the client with this number among those that match; Nth counts its matches only

	Nth   int64 // fires from the Nth match on; 0 means from the first
	Times int64 // fires at most this often; 0 means always
	Prob  float64

	Action Action
	Text   string // of ERROR and ERROR-AFTER
	Millis int64  // of DELAY-* and JITTER
	Bytes  int64  // of CUT and SLICE; of BANDWIDTH in a second
	Pace   Pace   // of the reply, by all rules that fire for a request: see Plan.Request

	Matched, Fired int64 // how often so far
	Spared         int64 // id of the last client that was not held because it has sent LAB, or 0

	dice   *rand.Rand
	census Census // of the clients that match, if there is an Order
}

// OutcomeOf says what the client sees of a request. r is the rule that changes the reply, nil for none.
func OutcomeOf(r *Rule, reply []byte, ran bool) Outcome {
	if !ran {
		return NotExecuted
	}
	if r != nil {
		switch r.Action {
		case DropReply, ResetAfter, Silent, ErrorAfter:
			return ReplyLost
		case Cut:
			return ReplyCut
		}
		if r.Pace != (Pace{}) {
			return ReplyLate
		}
	}
	if len(reply) > 0 && reply[0] == '-' {
		return Failed
	}
	return Executed
}

// Words returns the arguments of LAB FAULT ADD that make this rule.
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
	num("ORDER", r.Order)
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
	case r.Action.takesBytes():
		words = append(words, strconv.FormatInt(r.Bytes, 10))
	}
	return words
}
