package doctor

import (
	"fmt"
	"strings"
)

// Failover is a promotion, and what it lost.
type Failover struct {
	What Loss
	From string // the node that was the master; "" if it is not known
	To   string // the node that became one
	Time int64  // unix ms of the clock of To
}

// Loss is what a failover lost.
type Loss int

// The losses.
const (
	NoLoss      Loss = iota
	GrantLost        // the grant was never replicated
	RenewalLost      // the renewal was never replicated, so the lease of To is an older one
	HistoryLost      // From became a replica of To, and To does not have the grant
)

const waitReplicas = "after the grant WAIT for the replicas, and give the lock back if too few answer; " +
	"or take it on a majority of independent masters; check a fencing token where the data is"

// seconds writes a moment as time since the begin of the history.
func (h *Holding) seconds(unixMS int64) string {
	text := fmt.Sprintf("%+.3f", float64(unixMS-h.Start)/1000)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + " s"
}

const bothBelieve = ": both clients believe that they hold it"

// failedOver says how a failover, or an old master that goes on, gave a lock a second holder; "" if neither has.
func failedOver(first, second Term) string {
	if len(second.Votes) == 0 || second.Votes[0].Node == "" {
		return ""
	}
	last := second.Votes[len(second.Votes)-1]
	for _, v := range first.Votes {
		if v.Node == "" || v.Node == last.Node && v.Lost == nil {
			continue
		}
		granted := fmt.Sprintf("granted by %s at %s", v.Node, v.seconds(v.Granted.Time))
		again := fmt.Sprintf("granted it again at %s", v.seconds(last.Granted.Time))
		switch {
		case last.Readonly:
			return fmt.Sprintf("%s; %s is a replica that takes writes, and %s", granted, last.Node, again) + bothBelieve
		case last.Deposed != nil:
			return fmt.Sprintf("%s; %s did not know that %s had been promoted at %s, and %s",
				granted, last.Node, last.Deposed.To, v.seconds(last.Deposed.Time), again) + bothBelieve
		case v.Deposed != nil && v.Deposed.Time <= last.Granted.Time:
			return fmt.Sprintf("%s, which did not know that %s had been promoted at %s; %s %s",
				granted, v.Deposed.To, v.seconds(v.Deposed.Time), last.Node, again) + bothBelieve
		case v.Lost == nil:
			if v.EndOrder != 0 && v.EndOrder <= second.From && v.End == EndExpired {
				return fmt.Sprintf("%s; by the clock of %s the lease was over at %s, and %s %s",
					granted, v.EndedAt, v.seconds(v.Ended), last.Node, again) + bothBelieve
			}
			continue
		}
		return granted + v.Lost.words(&v.Holding) + v.Lost.second(last, again) + bothBelieve
	}
	return ""
}

// words says what a failover lost.
func (f *Failover) words(h *Holding) string {
	switch f.What {
	case RenewalLost:
		return fmt.Sprintf(", and a renewal never replicated; %s was promoted at %s", f.To, h.seconds(f.Time))
	case HistoryLost:
		return fmt.Sprintf(", never replicated; %s became a replica of %s at %s", f.From, f.To, h.seconds(f.Time))
	}
	return fmt.Sprintf(", never replicated; %s was promoted at %s", f.To, h.seconds(f.Time))
}

// second says which node granted the lock again.
func (f *Failover) second(last Vote, again string) string {
	if last.Node == f.To && f.What != HistoryLost {
		return " and " + again
	}
	return fmt.Sprintf(", and %s %s", last.Node, again)
}
