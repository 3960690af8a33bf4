package proof

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// onDisk begins the step in which a server has started again and its disk does not have a lock.
const onDisk = "the server started again with what was on disk: "

// onMove begins the step in which a key of a slot that moves is lost.
const onMove = "the key arrived at no other node: "

// onRestore is the step in which older keys replaced a lock.
const onRestore = "keys replaced by LAB SNAPSHOT RESTORE"

// onPast is the step in which somebody deleted a lock past the proxy that writes the log.
const onPast = "keys changed past the proxy"

const both = ": both believe that they hold it"

// The fixes.
const (
	fixCompare = "take the lock with SET key token NX PX milliseconds, and release and renew it in a script that " +
		"compares the token"
	fixDelete = "release with a script that compares and deletes in one step: " +
		`if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	fixRenew = "renew in a script that compares the token, and stop the work if it was another one"
	fixLoss  = "keep a server that lost its keys away for longer than the longest lease; " +
		"check a fencing token where the data is"
	fixDisk  = "make appendfsync always, or " + fixLoss
	fixEvict = "keep locks on a server with maxmemory-policy noeviction, or with enough memory; " +
		"check a fencing token where the data is"
	fixClock  = "let the server count the lease: PX and PEXPIRE with a number above 0, and no time of a client's clock"
	fixShared = "give each try for the lock a random token of its own"
	fixLate   = "release in a script that compares the token, and stop the work when the lease is over"
	fixWaited = "release in a script that compares the token: a request may come late; " +
		"check a fencing token where the data is"
	fixAgain = "release in a script that compares the token: then a client may send it again"
	fixFlush = "keep locks on a server whose keys nobody deletes all at once (ACL SETUSER app -flushall -flushdb)"
	fixOlder = "keep a server that came back with older keys away for longer than the longest lease; " +
		"check a fencing token where the data is"
	fixMove = "watch the key on all nodes from before it is first written, and move slots with MIGRATE alone"
	fixNode = "let only one node serve a slot: do not move it by hand, and leave no node with an old map; " +
		"check a fencing token where the data is"
	fixPassed = "let all clients use the port of the proxy"
	fixCut    = "let only its holder change the lease of a lock, in a script that compares the token"
)

// Explain says how the second holder of a lock got it: what happened to this key, with its times. The steps are the
// grant, the end of the hold, and the second grant.
func (p *Proof) Explain(o holders.Overlap) (why, fix string, steps []holders.Step) {
	first, second := o.First.Votes[0], o.Second.Votes[0]
	key := nameOf(holders.Key{DB: o.First.DB, Name: o.First.Key})
	a, b, at := whoDid(first.Granted), whoDid(second.Granted), Clock(second.Granted.Time)
	ended := first.EndOrder != 0 && first.EndOrder <= o.Second.From
	if old := p.vote(p.renewed[second.Order]); old != nil {
		steps = []holders.Step{old.Step()}
		if old.EndOrder != 0 && old.End != holders.EndReleased {
			steps = append(steps, old.Fate())
		}
		return fmt.Sprintf("%s's lease of %s was over, and %s took it at %s; then %s's %s at %s renewed it without "+
				"comparing the token",
				b, key, a, Clock(first.Granted.Time), b, verbOf(second.Granted), at) + both, fixRenew,
			append(steps, first.Step(), second.Step())
	}
	steps = append(steps, first.Step())
	if ended && (first.End != holders.EndOverwritten || first.EndedBy != second.Granted) {
		steps = append(steps, first.Fate())
	}
	steps = append(steps, second.Step())
	if !ended {
		if first.Token == second.Token {
			return fmt.Sprintf("%s took %s at %s with the token of %s", b, key, at, a) + both, fixShared, steps
		}
		if p.cluster && first.Node != second.Node {
			return fmt.Sprintf("%s took %s at %s at node %s while %s held it at another node %s",
				b, key, at, second.Node, a, p.until(first)) + both, fixNode, steps
		}
		return fmt.Sprintf("%s took %s at %s while %s held it %s", b, key, at, a, p.until(first)) + both, fixCompare, steps
	}
	again := fmt.Sprintf("; %s took it at %s", b, at) + both
	thief, verb, when := whoDid(first.EndedBy), verbOf(first.EndedBy), Clock(first.Ended)
	if found, is := strings.CutPrefix(first.EndedBy.Command, onDisk); is {
		return fmt.Sprintf("a restart made the lock of the first holder end %d ms after its grant: %s; then it was granted "+
			"again: both clients believe that they hold it", first.Ended-first.Granted.Time, found), fixDisk, steps
	}
	if first.EndedBy.Command == onPast {
		return fmt.Sprintf("somebody deleted %s past the proxy at %s, and %s believed in it %s", key, when, a,
			p.until(first)) + again, fixPassed, steps
	}
	switch first.End {
	case holders.EndLost:
		switch {
		case strings.HasPrefix(first.EndedBy.Command, onMove):
			return fmt.Sprintf("%s left its node at %s and arrived at no other one, and %s believed in it %s",
				key, when, a, p.until(first)) + again, fixMove, steps
		case first.EndedBy.Client != 0:
			return fmt.Sprintf("%s's %s at %s deleted %s with all keys, and %s believed in it %s",
				thief, verb, when, key, a, p.until(first)) + again, fixFlush, steps
		case first.EndedBy.Command == onRestore:
			return fmt.Sprintf("older keys came back at %s without %s, and %s believed in it %s",
				when, key, a, p.until(first)) + again, fixOlder, steps
		}
		why, fix = fmt.Sprintf("the server lost %s at %s, and %s believed in it %s", key, when, a, p.until(first)), fixLoss
	case holders.EndEvicted:
		why = fmt.Sprintf("the server evicted %s for memory at %s, and %s believed in it %s", key, when, a, p.until(first))
		fix = fixEvict
	case holders.EndExpired:
		if m := p.manners[first.Order]; m.cut != "" {
			fix = fixCut
			if strings.HasPrefix(m.cut, a+"'s ") {
				fix = fixClock
			}
			return fmt.Sprintf("%s expired at %s after %s, and %s believed in it %s", key, when, m.cut, a, p.until(first)) +
				again, fix, steps
		}
		why, fix = fmt.Sprintf("%s expired at %s, and %s believed in it %s", key, when, a, p.until(first)), fixCompare
	case holders.EndOverwritten:
		if thief == a {
			why = fmt.Sprintf("%s's %s at %s deleted its own %s, because it set a time that was over", a, verb, when, key)
			return why + again, fixClock, steps
		}
		why = fmt.Sprintf("%s's %s at %s replaced the token of %s in %s, in which %s believed %s",
			thief, verb, when, a, key, a, p.until(first))
		fix = fixCompare
		if first.EndedBy == second.Granted {
			again = both
		}
	default:
		why, fix = p.taken(first, key)
	}
	return why + again, fix, steps
}

// vote returns the holding with an order, or nil.
func (p *Proof) vote(order int64) *holders.Vote {
	if order == 0 {
		return nil
	}
	for master := range p.masters {
		for _, h := range p.Ledger.Table(master) {
			if h.Order == order {
				return &holders.Vote{Holding: h, Master: master}
			}
		}
	}
	return nil
}

func whoDid(s holders.Step) string { return cmp.Or(s.Name, "client "+strconv.FormatInt(s.Client, 10)) }

func verbOf(s holders.Step) string {
	verb, _, _ := strings.Cut(s.Command, " ")
	return strings.ToUpper(verb)
}
