package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Explain returns a lock that had two holders as a finding.
func Explain(o holders.Overlap) Finding {
	first, second := o.First, o.Second
	f := Finding{Pattern: TwoHolders, Key: first.Key, DB: first.DB, Count: 1}
	for _, v := range first.Votes {
		f.Steps = append(f.Steps, v.Step())
		if v.EndOrder != 0 && v.EndOrder <= second.From {
			f.Steps = append(f.Steps, v.Fate())
		}
	}
	for _, v := range second.Votes {
		f.Steps = append(f.Steps, v.Step())
	}
	last := second.Votes[len(second.Votes)-1]
	f.Client, f.Name, f.Time = last.Client, last.Granted.Name, last.Granted.Time
	f.Why, f.Fix = howTwo(first, second, len(first.Votes) > 1)
	return f
}

const (
	waitLease = "keep a server that lost its keys away for longer than the longest lease; " +
		"check a fencing token where the data is"

	// RestartedWithout begins the step in which a server has started again and its disk does not have a lock.
	RestartedWithout = "the server started again with what was on disk: "

	// withSameToken begins the step of a release by another client that carries the token of the holder.
	withSameToken = "another client's release with the same token: "

	// evictedIt is the step in which a server has evicted a lock.
	evictedIt = "the server evicted the key"
)

// howTwo says how the second holder got the lock.
func howTwo(first, second holders.Term, several bool) (why, fix string) {
	ends := map[holders.End]bool{}
	for _, v := range first.Votes {
		ends[v.End] = ends[v.End] || v.EndOrder != 0 && v.EndOrder <= second.From
	}
	switch {
	case tokenShared(first, second):
		return "two clients use one token, so the release by one of them removed the lock of the other, " +
				"and a third client got it: two clients believe that they hold it",
			"give each attempt to take the lock a token of its own, such as 16 random bytes"
	case ends[holders.EndStolen] || ends[holders.EndOverwritten]:
		return "a command of another client took the lock from its first holder, and a second client got it: " +
			"both believe that they hold it", compareAndDelete
	case failedOver(first, second) != "":
		return failedOver(first, second), waitReplicas
	case forgotten(first, second) != "":
		return forgotten(first, second), "make appendfsync always, or " + waitLease
	case keyEvicted(first, second) && !several:
		_, fix = evictionAdvice(Evicted)
		return "the server evicted the lock of the first holder, and granted it again: " +
			"both clients believe that they hold it", fix
	case ends[holders.EndLost] && !several:
		return "the server lost the lock before the first holder's lease was over, and granted it again: " +
				"both clients believe that they hold it",
			waitLease
	case !several && second.Votes[len(second.Votes)-1].Renews != 0:
		return "a client whose hold was over renewed the lock of another client: both believe that they hold it",
			"renew with a script that compares the token and calls PEXPIRE in one step"
	case !several:
		return "the server granted the lock to a second client before the first client's lease was over: " +
				"both clients believe that they hold it",
			"let the clock of the server not jump (slew, do not step), and check a fencing token where the data is"
	}
	return advice(TwoHolders)
}

func tokenShared(first, second holders.Term) bool { return endedBy(withSameToken, first, second) }

func keyEvicted(first, second holders.Term) bool { return endedBy(evictedIt, first, second) }

// endedBy reports whether an event of this kind ended a vote of the first holder before the second one had the lock.
func endedBy(kind string, first, second holders.Term) bool {
	return slices.ContainsFunc(first.Votes, func(v holders.Vote) bool {
		return v.EndOrder != 0 && v.EndOrder <= second.From && strings.HasPrefix(v.EndedBy.Command, kind)
	})
}

// forgotten says how a restart has lost the grant to the first holder, "" if none has.
func forgotten(first, second holders.Term) string {
	for _, v := range first.Votes {
		why, is := strings.CutPrefix(v.EndedBy.Command, RestartedWithout)
		if is && v.EndOrder != 0 && v.EndOrder <= second.From {
			return fmt.Sprintf("a restart made the lock of the first holder end %d ms after its grant: %s; then it was granted "+
				"again: both clients believe that they hold it", v.Ended-v.Granted.Time, why)
		}
	}
	return ""
}

const waitReplicas = "after the grant WAIT for the replicas, and give the lock back if too few answer; " +
	"or take it on a majority of independent masters; check a fencing token where the data is"

// seconds writes a moment as time since the begin of the history.
func seconds(h *holders.Holding, unixMS int64) string {
	text := fmt.Sprintf("%+.3f", float64(unixMS-h.Start)/1000)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + " s"
}

const bothBelieve = ": both clients believe that they hold it"

// FailedOver reports whether a failover, or an old master that goes on, gave a lock a second holder.
func FailedOver(o holders.Overlap) bool {
	for _, v := range o.First.Votes {
		before := v.EndOrder != 0 && v.EndOrder <= o.Second.From
		if before && (v.End == holders.EndStolen || v.End == holders.EndOverwritten) {
			return false
		}
	}
	return failedOver(o.First, o.Second) != ""
}

// failedOver says how a failover, or an old master that goes on, gave a lock a second holder; "" if neither has.
func failedOver(first, second holders.Term) string {
	if len(second.Votes) == 0 || second.Votes[0].Node == "" {
		return ""
	}
	last := second.Votes[len(second.Votes)-1]
	for _, v := range first.Votes {
		if v.Node == "" || v.Node == last.Node && v.Lost == nil {
			continue
		}
		granted := fmt.Sprintf("granted by %s at %s", v.Node, seconds(&v.Holding, v.Granted.Time))
		again := fmt.Sprintf("granted it again at %s", seconds(&v.Holding, last.Granted.Time))
		switch {
		case last.Readonly:
			return fmt.Sprintf("%s; %s is a replica that takes writes, and %s", granted, last.Node, again) + bothBelieve
		case last.Deposed != nil:
			return fmt.Sprintf("%s; %s did not know that %s had been promoted at %s, and %s",
				granted, last.Node, last.Deposed.To, seconds(&v.Holding, last.Deposed.Time), again) + bothBelieve
		case v.Deposed != nil && v.Deposed.Time <= last.Granted.Time:
			return fmt.Sprintf("%s, which did not know that %s had been promoted at %s; %s %s",
				granted, v.Deposed.To, seconds(&v.Holding, v.Deposed.Time), last.Node, again) + bothBelieve
		case v.Lost == nil:
			if v.EndOrder != 0 && v.EndOrder <= second.From && v.End == holders.EndExpired {
				return fmt.Sprintf("%s; by the clock of %s the lease was over at %s, and %s %s",
					granted, v.EndedAt, seconds(&v.Holding, v.Ended), last.Node, again) + bothBelieve
			}
			continue
		}
		return granted + lost(v.Lost, &v.Holding) + grantedAgain(v.Lost, last, again) + bothBelieve
	}
	return ""
}

// lost says what a failover lost.
func lost(f *holders.Failover, h *holders.Holding) string {
	switch f.What {
	case holders.RenewalLost:
		return fmt.Sprintf(", and a renewal never replicated; %s was promoted at %s", f.To, seconds(h, f.Time))
	case holders.HistoryLost:
		return fmt.Sprintf(", never replicated; %s became a replica of %s at %s", f.From, f.To, seconds(h, f.Time))
	}
	return fmt.Sprintf(", never replicated; %s was promoted at %s", f.To, seconds(h, f.Time))
}

// grantedAgain says which node granted the lock again.
func grantedAgain(f *holders.Failover, last holders.Vote, again string) string {
	if last.Node == f.To && f.What != holders.HistoryLost {
		return " and " + again
	}
	return fmt.Sprintf(", and %s %s", last.Node, again)
}
