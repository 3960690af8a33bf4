package proof

import "strings"

// help is what a person may do so that a doubt does not come again.
type help struct {
	doubt
	fix string
}

func helps() []help {
	return []help{
		{doubtsWriter, "put a value into a lock with SET key token NX PX milliseconds alone: " +
			"the reply tells who has the lock"},
		{doubtsFound, "give each client a token of its own, and let it stop when a release or a renewal fails"},
		{doubtsScript, "let a script return 1 if it has taken the lock or given it up, and 0 if it has not"},
		{doubtsReply, "let the client say what it believes: after a lost reply it may GET the key and compare its token"},
		{doubtsPast, "renew with a time above 0, and release in a script that compares the token and deletes the key"},
		{doubtsBrief, fixDelete},
		{doubtsShown, fixRenew},
		{doubtsField, "give the key one TTL, which its holder renews, or let the client say what it believes"},
		{doubtsAll, fixFlush},
		{doubtsFull, "count and add in one script, or let each client look how many tokens there are before it begins"},
		{doubtsGiven, "let a client that waits look whether the lock has its token before it begins"},
		{doubtsSent, "send a release again until it succeeds, or wait until the lease is over"},
		{doubtsFail, "let the client stop its work when a renewal fails"},
		{doubtsLate, "let the client give the lock back if the reply comes so late that little of the lease is left"},
		{doubtsTry, "count the lease from the first try with a token, or try again with another one"},
		{doubtsOther, fixOwn},
		{doubtsWatch, "renew and release in a script that compares the token, and stop the work when that fails"},
		{doubtsTaken, fixTaken},
		{doubtsBegin, fixValue},
		{doubtsValue, fixValue},
		{doubtsUnseen, fixUnseen},
		{doubtsClock, fixClock},
		{doubtsOwnClock, fixClock},
		{doubtsLease, fixCompare},
		{doubtsLonger, "let a script that renews never make the lease of a key shorter"},
		{doubtsStranger, fixCut},
		{doubtsCame, fixMove},
		{doubtsMoved, "let no request wait while a test moves the clock"},
	}
}

// Fix returns what helps against a doubt, "" if the reason is none of this package's that has a help of its own.
func Fix(why string) string {
	for _, h := range helps() {
		if h.is(why) {
			return h.fix
		}
	}
	return ""
}

// is reports whether a sentence is a doubt about some request.
func (d doubt) is(sentence string) bool {
	const gap = "\x00"
	text := strings.NewReplacer("%s", gap, "%[1]s", gap, "%[3]s", gap, "%[4]s", gap).Replace(string(d))
	for _, part := range strings.Split(text, gap) {
		_, rest, found := strings.Cut(sentence, part)
		if !found {
			return false
		}
		sentence = rest
	}
	return true
}
