package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/proof"
)

// A client that reads a key, finds nothing and sets it without NX believes that it has a lock. Two
// clients can do so at the same time. Caches do the same, so such a command is no grant. The verdict
// names it instead.

const (
	whyBlind = "clients found the key absent and set it without NX: " +
		"if they believe that they hold a lock now, nothing keeps two of them apart"
	fixBlind = "take the lock with one command: SET key token NX PX milliseconds"

	whyCut = "the log shortens a command of more than 32 words, so it does not show all its keys"
	fixCut = "change fewer keys with one command"
)

// setter is a client that set a key without NX.
type setter struct {
	client int64
	name   string
}

// blind describes the commands that set wanted keys without NX, and that no grant explains. If a history has
// locks as well, these keys stay an open question.
func (r *replay) blind(among func(string) bool, locks []holdings) []string {
	times := map[Lock]int{}
	var keys []Lock
	for _, e := range r.entries {
		k := Lock{e.DB, e.Key}
		if !e.setsBlindly() || !among(e.Key) || slices.ContainsFunc(locks, func(l holdings) bool { return l.Lock == k }) {
			continue
		}
		if times[k]++; times[k] == 1 {
			keys = append(keys, k)
		}
	}
	all := make([]string, 0, len(keys))
	for _, k := range keys {
		all = append(all, fmt.Sprintf("SET %s without NX %s", k, often(times[k])))
	}
	return all
}

func often(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// setsBlindly reports whether e is a SET that a client sent without NX and XX.
func (e entry) setsBlindly() bool {
	if !e.ran() || e.Failed() || e.By != "" || len(e.Cmd) < 3 {
		return false
	}
	switch strings.ToLower(e.Cmd[0]) {
	case "setex", "psetex", "getset":
		return true
	case "set":
		return !slices.ContainsFunc(e.Cmd[3:], func(w string) bool {
			return strings.EqualFold(w, "nx") || strings.EqualFold(w, "xx")
		})
	}
	return false
}

// unguarded finds the keys that several clients found absent and then set without NX, and whose value has a
// TTL. They are not among the locks.
func (r *replay) unguarded(among func(string) bool, locks []holdings) []holders.Question {
	type seen struct {
		Lock
		setter
	}
	absent := map[seen]bool{}
	first := map[Lock]setter{}
	var all []holders.Question
	for _, e := range r.entries {
		k, who := Lock{e.DB, e.Key}, setter{e.Client, e.Name}
		switch {
		case !e.ran() || len(e.Cmd) < 2 || !among(e.Key):
		case slices.ContainsFunc(locks, func(l holdings) bool { return l.Lock == k }):
		case e.findsNothing():
			absent[seen{k, who}] = true
		case !e.setsBlindly() || !absent[seen{k, who}] || len(e.Cmd) < 4:
		case first[k] == setter{}:
			first[k] = who
		case first[k] != who && !slices.ContainsFunc(all, func(q holders.Question) bool { return lockAsked(q) == k }):
			all = append(all, holders.Question{DB: k.DB, Key: k.Key, Why: whyBlind, Fix: fixBlind})
		}
	}
	return all
}

// findsNothing reports whether a client has learned from e that the key is absent.
func (e entry) findsNothing() bool {
	switch strings.ToLower(e.Cmd[0]) {
	case "get":
		return e.Reply == "(nil)"
	case "exists":
		return e.Reply == "0"
	}
	return false
}

// questions returns what is open about a lock. The steps name its master.
func (r *replay) questions(l holdings) []holders.Question {
	all := holders.Questions(l.tables)
	for i := range all {
		if r.proof != nil {
			all[i].Fix = cmp.Or(proof.Fix(all[i].Why), all[i].Fix)
		}
		for j := range all[i].Steps {
			if len(l.tables) == 1 {
				all[i].Steps[j].Master = r.masterOf(l) + 1
			}
		}
	}
	return all
}

// masterOf returns the only master that granted a lock.
func (r *replay) masterOf(l holdings) int {
	return r.nodes[r.entries[l.tables[0][0].Event].master].master
}

// cutShort asks about all locks if the log has shortened a command that may change any key.
func (r *replay) cutShort(locks []holdings) []holders.Question {
	var all []holders.Question
	for _, e := range r.entries {
		if !e.ran() || len(e.Cmd) == 0 || !strings.HasPrefix(e.Cmd[len(e.Cmd)-1], "...(") {
			continue
		}
		switch strings.ToLower(e.Cmd[0]) {
		case "mset", "msetnx", "migrate":
			for _, l := range locks {
				all = append(all, holders.Question{DB: l.DB, Key: l.Key, Why: whyCut, Fix: fixCut})
			}
			return all
		}
	}
	return all
}
