package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/words"
)

// action is what an operation does to the lock.
type action string

const (
	acquire action = "acquire"
	release action = "release"
	runOut  action = "lease over"
)

// input is an operation on a lock by a holder, as porcupine sees it.
type input struct {
	Lock
	do     action
	holder string
	shared bool // of a read lock

	stranger string // the client that released a lock of somebody else; then it is the holder, too
}

// operation is an input, its result, and the entries between which it happened.
type operation struct {
	input
	ok       bool
	from, to int
}

// operations returns all operations on one lock. A client that deletes the lock of another one has an operation
// if it competes for the lock, or if the lock is broken.
func (r *replay) operations(tables [][]holders.Holding, broken bool) []operation {
	var all []operation
	var key Lock
	terms := holders.Terms(tables)
	for _, t := range terms {
		key = Lock{t.DB, t.Key}
		if t.Shared && slices.ContainsFunc(terms, t.IsInside) { // of readers alone: each looks at all terms
			continue // the write lock stands for both
		}
		if t.Votes[0].Unconfirmed {
			continue // perhaps it was none
		}
		last := t.Votes[len(t.Votes)-1]
		taken := operation{
			input: input{Lock: key, do: acquire, holder: t.Holder, shared: t.Shared}, ok: t.Majority,
			from: r.at[t.Votes[0].Order], to: r.at[max(last.Order, t.From)],
		}
		if slices.ContainsFunc(t.Votes, func(v holders.Vote) bool { return v.Unknown || v.Unconfirmed }) {
			taken.to = len(r.entries)
		}
		all = append(all, taken)
		for _, end := range r.endOf(t) {
			if t.Majority && !slices.Contains(all, end) { // one release ends all terms of its holder
				all = append(all, end)
			}
		}
		if v := t.Votes[0]; len(tables) == 1 && v.End == holders.EndStolen && (broken || v.Thief) {
			thief := cmp.Or(v.EndedBy.Name, fmt.Sprintf("id=%d", v.EndedBy.Client))
			at := r.at[v.EndOrder]
			all = append(all, operation{
				input: input{Lock: key, do: release, holder: "client " + thief, stranger: thief}, ok: true, from: at, to: at,
			})
		}
	}
	if len(tables) == 1 {
		all = append(all, r.refusals(key)...)
	}
	return all
}

// endOf returns the operation by which the holder knows that its term is over.
func (r *replay) endOf(t holders.Term) []operation {
	key := Lock{t.DB, t.Key}
	switch {
	case t.To == 0:
		return nil
	case t.RanOut:
		at := r.at[t.To]
		return []operation{{
			input: input{Lock: key, do: runOut, holder: t.Holder, shared: t.Shared},
			ok:    true, from: at, to: at,
		}}
	}
	last := t.To
	for _, v := range t.Votes {
		last = max(last, v.GaveUp)
	}
	return []operation{{
		input: input{Lock: key, do: release, holder: t.Holder, shared: t.Shared},
		ok:    true, from: r.at[t.To], to: r.at[last],
	}}
}

// refusals returns the refused attempts on a lock of one master.
func (r *replay) refusals(key Lock) []operation {
	var all []operation
	for i, e := range r.entries {
		if i%64 == 0 { // most entries take nanoseconds, and each lock looks at all of them
			letOthersIn(i / 64)
		}
		if key != (Lock{e.DB, e.Key}) || !e.ran() || e.Reply != "(nil)" && e.Reply != "0" || len(e.Cmd) < 3 {
			continue
		}
		name := strings.ToLower(e.Cmd[0])
		nx := slices.ContainsFunc(e.Cmd[3:], func(word string) bool { return strings.EqualFold(word, "nx") })
		if name == "setnx" || name == "set" && nx {
			all = append(all, operation{input: input{Lock: key, do: acquire, holder: e.Cmd[2]}, from: i, to: i})
		}
	}
	return all
}

// annotations returns the events of the masters for the picture.
func (r *replay) annotations(in words.Language) []porcupine.Annotation {
	var all []porcupine.Annotation
	for i, e := range r.entries {
		what := ""
		switch e.Event {
		case lab.EventClock:
			what = in.Say("clock moved by %d ms", e.To-e.From)
		case lab.EventCrash:
			what = in.Say(cmp.Or(e.Reply, "lost its keys"))
		case lab.EventRestore:
			what = in.Say("keys replaced by LAB SNAPSHOT RESTORE")
		case lab.EventExpired:
			what = in.Say("expired %s", Lock{e.DB, e.Key})
		case lab.EventPromoted, lab.EventDemoted, lab.EventSynced, lab.EventLink:
			what = in.Say("%s: %s", in.Say(e.Event), in.Say(cmp.Or(e.Reply, string(e.Outcome))))
		case lab.EventCommand:
			continue
		default:
			what = in.Say("%s: %s", e.Event, in.Say(string(e.Outcome)))
		}
		all = append(all, porcupine.Annotation{
			Tag: r.tagOf(e, in), Start: int64(i), End: int64(i),
			Description: what, Details: lab.Line(e.Cmd),
		})
	}
	return all
}

// tagOf names the row of an entry: its node, or its master.
func (r *replay) tagOf(e entry, in words.Language) string {
	if r.replicated() {
		return in.Say("node %s", r.nodes[e.master].name)
	}
	return in.Say("master %d", e.master+1)
}
