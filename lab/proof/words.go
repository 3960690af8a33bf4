package proof

import (
	"fmt"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// doubt is a sentence about what the log cannot tell. It begins with whose command it was, its name and its time.
type doubt string

// The doubts. The last word is the key.
const (
	doubtsWriter doubt = "%s's %s at %s wrote %s; the judge does not know whether %[1]s believes that it holds the lock"
	doubtsFound  doubt = "%s's %s at %s found its own token in %s; the judge does not know whether %[1]s believes that " +
		"it holds the lock"
	doubtsScript doubt = "%s's %s at %s belongs to a script whose reply does not say whether it took or gave up %s"
	doubtsReply  doubt = "the reply to %s's %s at %s was lost; the judge does not know whether %[1]s knows what " +
		"became of %[4]s"
	doubtsLate doubt = "the reply to %s's %s at %s came late; " +
		"the judge does not know when %[1]s learned that it took %[4]s"
	doubtsAuthor doubt = "%s's %s at %s carries no token of its own; the judge does not know which holder of %s sent it"
	doubtsPast   doubt = "%s's %s at %s deleted %s, because it set a time that was over; " +
		"the judge does not know whether %[1]s gave the lock up or believes that it renewed it"
	doubtsBrief doubt = "%s's %s at %s gave %s a millisecond to live; " +
		"the judge does not know whether %[1]s gave the lock up in this way"
	doubtsVain doubt = "before %s's %s at %s its connection released %s in vain and showed no token; " +
		"the judge does not know whether another client uses that connection"
	doubtsShown doubt = "%s's %s at %s showed the token of another client of %s; " +
		"the judge does not know whether %[1]s believes in its renewal"
	doubtsField doubt = "%s's %s at %s gave a field of %s a lease of its own; the judge does not know in which " +
		"lease %[1]s believes"
	doubtsAll doubt = "%s's %s at %s deleted %s with all keys; the judge does not know whether %[1]s gave the " +
		"lock up in this way"
	doubtsAgain doubt = "%s's %s at %s tries for %s, which %[1]s had lost; " +
		"the judge does not know whether it knew that, or another client uses its name"
	doubtsTry doubt = "%s's %s at %s was a further try for %s, which %[1]s had already; " +
		"the judge does not know from which try %[1]s counts its lease"
	doubtsOther doubt = "%s's %s at %s tried for %s with another token than that of its connection; " +
		"the judge does not know whether %[1]s gave the lock up, or is another client"
	doubtsWatch doubt = "%s's %s at %s watched %s, and no transaction behind it changed the lock; " +
		"the judge does not know whether %[1]s gave the lock up or learned that it was lost"
	doubtsFull doubt = "%s's %s at %s added a token to %s, which had as many holders as it may; " +
		"the judge does not know whether %[1]s believes that it is one of them"
	doubtsGiven doubt = "%s's %s at %s gave %s to a client that waited; the judge does not know when that client " +
		"learned it"
	doubtsSent doubt = "%s's %s at %s was not executed; the judge does not know whether %[1]s believes that it " +
		"gave %[4]s up"
	doubtsFail  doubt = "%s's %s at %s failed; the judge does not know whether %[1]s knows that it lost %[4]s"
	doubtsBegin doubt = "%s's %s at %s is the first entry about %s, and the key was there before; " +
		"the judge does not know who held it"
	doubtsClock doubt = "%s's %s at %s took %s until a time that was over by the server's clock; " +
		"the judge does not know how long %[1]s believes that it holds the lock"
	doubtsOwnClock doubt = "%s's %s at %s gave %s an end by a client's clock; " +
		"the judge does not know how long %[1]s believes that it holds the lock"
	doubtsLease doubt = "%s's %s at %s took %s without the lease that other clients give it next; " +
		"the judge does not know how long %[1]s believes that it holds the lock"
	doubtsLonger doubt = "%s's %s at %s left %s a longer lease than its script was asked for; " +
		"the judge does not know how long %[1]s believes that it holds the lock"
	doubtsStranger doubt = "%s's %s at %s changed the lease of %s, which another client held; " +
		"the judge does not know whether that is meant"
	doubtsTwice doubt = "%s's %s at %s takes or renews %s with the token of its holder over another connection; " +
		"the judge does not know whether both are one client"
	doubtsMoved doubt = "%s's %s at %s was executed while the clock was being moved; " +
		"the judge does not know when %[1]s learned that it took %[4]s"
	doubtsWait doubt = "%s's %s at %s told of too few replicas that have %s; " +
		"the judge does not know whether %[1]s believes in its renewal"
	doubtsReplica doubt = "%s's %s at %s counted the tokens of %s at another node than the one that has its own token; " +
		"the judge does not know whether %[1]s believes that it is one of the holders"
	doubtsAnew doubt = "%s's %s at %s left an entry of %s that was made over an earlier connection; " +
		"the judge does not know whether %[1]s knows of it"
	doubtsEntry doubt = "%s's %s at %s found %s with another number of entries than its holder has made; " +
		"the judge does not know whether the holder believes that it still holds the lock"
	doubtsPermits doubt = "%s's %s at %s found another count in %s than the master had; " +
		"the judge does not know who holds a permit"
	doubtsCame doubt = "%s's %s at %s brought %s, and no other node shows that it left there; " +
		"the judge does not know who holds the lock"
	doubtsTaken doubt = "%s's %s at %s took out of %s what another client had put there; " +
		"the judge does not know whether %[1]s believes that it holds the lock"
	doubtsPassed doubt = "%s's %s at %s wrote %s past the proxy; the judge does not know who holds the lock"
	doubtsValue  doubt = "%s's %s at %s changed a value of %s that the log does not have; " +
		"the judge cannot tell who held it"
	doubtsUnseen doubt = "nobody saw at %[3]s what became of %[4]s; the judge cannot tell who held it"
)

// Clock writes a time (unix ms) as in the sentences of a proof.
func Clock(unixMS int64) string { return time.UnixMilli(unixMS).UTC().Format("15:04:05.000") }

func saying(r *request, l *lock, d doubt) string {
	verb := r.verb()
	client := who(actor{client: r.Client, name: r.Name})
	switch {
	case r.Event == lab.EventStranger:
		client, verb = "somebody", "request"
	case r.Client == 0:
		client, verb = "the server", strings.ToLower(r.Event)
	}
	return fmt.Sprintf(string(d), client, verb, Clock(r.Time), nameOf(l.Key))
}

// nameOf names a key.
func nameOf(k holders.Key) string {
	if k.DB == 0 {
		return k.Name
	}
	return fmt.Sprintf("%s (db %d)", k.Name, k.DB)
}

// leavesUnread makes a key undecided, because a change of it was not read.
func (p *prover) leavesUnread(r *request, l *lock, why doubt) {
	if l.unread == nil {
		fix := fixValue
		switch {
		case why == doubtsPassed:
			fix = fixPassed
		case why == doubtsTaken:
			fix = fixTaken
		case why == doubtsAuthor || why == doubtsReplica:
			fix = fixOwn
		case r.Event == lab.EventChanged:
			why, fix = doubtsUnseen, fixUnseen
		}
		l.unread = &Ruling{Key: l.Key, Is: Unread, Why: saying(r, l, why), Fix: fix,
			Steps: []holders.Step{p.step(r)}}
	}
}

const (
	fixOwn    = "give each worker a connection of its own, or count and add in one script"
	fixTaken  = "let a key that is there mean that the lock is held: take it with SET key token NX PX milliseconds"
	fixValue  = "watch the key from before it is first written, and keep its value small"
	fixUnseen = "find out why the server did not show the key then: it may have ended; LAB LOG RESET begins again"
)
