package explore

import (
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/verdict"
)

// grants returns the grants of all locks, oldest first. A key that only looks like a lock has none.
func (e *Explorer) grants(histories []lab.History) ([]holders.Vote, error) {
	all, err := verdict.Grants(histories)
	judges := e.judges(histories)
	return slices.DeleteFunc(all, func(g holders.Vote) bool { return !judges(g.Key) }), err
}

// judges returns a function that reports whether a key may be a lock.
func (e *Explorer) judges(histories []lab.History) func(key string) bool {
	known := map[string]bool{}
	return func(key string) bool {
		is, asked := known[key]
		if !asked {
			is = e.listed(key) || beside(histories, key) == ""
			known[key] = is
		}
		return is
	}
}

// limited reports whether a key is a semaphore with several permits, which the verdict does not know.
func (e *Explorer) limited(key string) bool { return e.opt.Limits[raw(key)] > 1 }

// beside says why a key that looks like a lock is no lock of one holder, "" if it may be one:
//
//	list    its elements belong to nobody: clients take what others have added, as signals and jobs
//	note    scripts write a number to it while they give another lock up: Redisson notes what an unlock has answered
//
// Options.Keys names such a key if it is a lock all the same.
func beside(histories []lab.History, key string) string {
	notes := false
	for _, h := range histories {
		for i := range h.Entries {
			e := &h.Entries[i]
			for _, c := range e.Changes {
				switch {
				case c.Key != key || e.Client == 0:
				case isList(c.Before) || isList(c.After):
					return "it is a list"
				case c.Before == nil && !(isNumber(c.After) && givesUp(h.Entries, i)):
					return ""
				default:
					notes = true
				}
			}
		}
	}
	if !notes {
		return ""
	}
	return "scripts write it while they give a lock up"
}

func isList(v *lab.Value) bool { return v != nil && v.Type == "list" }

func isNumber(v *lab.Value) bool {
	_, err := strconv.ParseInt(v.Text, 10, 64)
	return v.Type == "string" && err == nil
}

// givesUp reports whether the script around an entry has given up another key before: it deleted the key, or counted
// a field down.
func givesUp(entries []lab.Entry, at int) bool {
	own := &entries[at]
	if own.By == "" || own.By == "exec" {
		return false
	}
	for i := at - 1; i >= 0; i-- {
		e := &entries[i]
		if e.Client != own.Client { // it got a message of the script
			continue
		}
		if e.By != own.By || e.Run != own.Run {
			return false
		}
		if slices.ContainsFunc(e.Changes, func(c lab.Change) bool {
			return c.Before != nil && !isList(c.Before) && c.Cause == lab.ByCommand && (c.After == nil || counts(c))
		}) {
			return true
		}
	}
	return false
}

// counts reports whether a change has made the number in a field of a hash smaller.
func counts(c lab.Change) bool {
	for _, before := range c.Before.Parts {
		for _, after := range c.After.Parts {
			was, err1 := strconv.ParseInt(before.Value, 10, 64)
			is, err2 := strconv.ParseInt(after.Value, 10, 64)
			if before.Name == after.Name && err1 == nil && err2 == nil && is < was {
				return true
			}
		}
	}
	return false
}
