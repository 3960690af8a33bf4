package verdict

import (
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// effort limits the search for a legal order. Each operation that is open to the end, because its
// reply was lost, can double the time of the search. The limit is a number of steps, not of
// seconds: a history has the same verdict on every machine.
type effort struct {
	left, legal int // steps left, and the price of a legal step: porcupine remembers its result
	steps       int // so far
}

// maxEffort is shared by all searches: about 32 MB and half a second. Each search may also take the
// steps that a history with only one order needs.
const maxEffort = 1 << 22

// newEffort returns the effort for a number of operations. Porcupine remembers a bit for each of
// them at each legal step, and a header.
func newEffort(operations, most int) *effort {
	legal := operations/64 + 16 // in words of memory
	return &effort{left: operations*legal + most, legal: legal}
}

// letOthersIn lets other goroutines run, now and then. A server has a loop that waits for a processor, and the
// search has a goroutine for each lock, so without this the loop could wait for all of them.
func letOthersIn(n int) {
	if n%32 == 0 {
		runtime.Gosched()
	}
}

// allows reports whether the search may take a step. Without an effort it may take every legal
// step.
func (e *effort) allows(legal bool) bool {
	if e == nil {
		return legal
	}
	e.steps++
	if e.steps%32 == 0 { // a step takes a tenth of a microsecond
		letOthersIn(e.steps / 32)
	}
	switch {
	case legal:
		e.left -= e.legal
	default:
		e.left--
	}
	return legal && e.left >= 0
}

// search looks for a legal order of the operations of each lock. Porcupine has a goroutine for each
// lock, and each lock has its own effort.
func (v *Verdict) search(r *replay, all []operation, most int) {
	history := r.forPorcupine(all)
	parts := byLock(history)
	efforts := make(map[Lock]*effort, len(parts))
	for _, part := range parts {
		efforts[lockOf(part[0])] = newEffort(len(part), most/len(parts))
	}
	_, info := porcupine.CheckOperationsVerbose(model(efforts), history, 0)
	for i, orders := range info.PartialLinearizations() {
		switch name := lockOf(parts[i][0]); {
		case len(orders) == 1 && len(orders[0]) == len(parts[i]): // one order has all operations
		case v.asks(name): // then an order of the operations proves nothing
		case efforts[name].left < 0:
			v.Undecided = append(v.Undecided, holders.Question{DB: name.DB, Key: name.Key, Why: whyLong, Fix: fixLong})
		default:
			v.NotLinearizable = append(v.NotLinearizable, name)
		}
	}
	v.picture = func(w io.Writer) error { return v.page(w, r, info) }
}

const (
	whyNoOrder = "no order of the operations makes each of them legal"

	whyLong = "too many operations were open at once to try all their orders. A lost reply leaves one open"
	fixLong = "watch fewer keys, or use LAB LOG RESET between parts of a test"
)

// asks reports whether a question about a lock is open, and nothing else breaks it.
func (v *Verdict) asks(l Lock) bool {
	return slices.ContainsFunc(v.Undecided, func(q holders.Question) bool { return lockAsked(q) == l }) &&
		!slices.ContainsFunc(v.TwoHolders, func(f Violation) bool { return f.of(l) })
}

func lockAsked(q holders.Question) Lock { return Lock{q.DB, q.Key} }

// model returns the model of a lock. Its state is the holder, "" while it is free. Once the effort
// of a search is used up, no step is legal, and the search ends.
func model(efforts map[Lock]*effort) porcupine.Model {
	return porcupine.Model{
		Partition: byLock,
		Init:      func() any { return "" },
		Step: func(state, in, out any) (bool, any) {
			i := in.(input)
			legal, holder := i.on(state.(string), out.(bool))
			return efforts[i.Lock].allows(legal), holder
		},
	}
}

// on reports whether i is legal while holder has the lock, and returns the holder after it.
func (i input) on(holder string, ok bool) (legal bool, next string) {
	if i.shared && (i.do != acquire || ok) {
		return i.onReaders(holder)
	}
	switch {
	case i.do == acquire && !ok:
		return true, holder
	case i.do == acquire:
		return holder == "" || holder == i.holder, i.holder
	case holder == i.holder:
		return true, ""
	}
	return i.do == runOut, holder
}

// readers begins the state of a lock that readers hold. Their names follow, sorted, each behind this byte.
const readers = "\x00"

// onReaders is on for a reader. Readers hold a lock together.
func (i input) onReaders(state string) (legal bool, next string) {
	all := strings.Split(state, readers)[1:]
	at, there := slices.BinarySearch(all, i.holder)
	switch {
	case i.do == acquire && state != "" && len(all) == 0:
		return false, state
	case i.do == acquire && !there:
		all = slices.Insert(all, at, i.holder)
	case i.do != acquire && there:
		all = slices.Delete(all, at, at+1)
	case i.do != acquire:
		return i.do == runOut, state
	}
	if len(all) == 0 {
		return true, ""
	}
	return true, readers + strings.Join(all, readers)
}

func lockOf(o porcupine.Operation) Lock { return o.Input.(input).Lock }

func byLock(history []porcupine.Operation) [][]porcupine.Operation {
	var parts [][]porcupine.Operation
	place := map[Lock]int{}
	for _, o := range history {
		i, known := place[lockOf(o)]
		if !known {
			i = len(parts)
			place[lockOf(o)] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], o)
	}
	return parts
}

// forPorcupine converts operations. Each holder gets a row in the picture, and the ends of leases
// get the last row.
func (r *replay) forPorcupine(all []operation) []porcupine.Operation {
	rows := map[string]int{}
	for _, o := range all {
		if _, known := rows[o.holder]; !known && o.do != runOut {
			rows[o.holder] = len(rows)
		}
	}
	history := make([]porcupine.Operation, len(all))
	for i, o := range all {
		row := rows[o.holder]
		if o.do == runOut {
			row = len(rows)
		}
		history[i] = porcupine.Operation{
			ClientId: row, Input: o.input, Output: o.ok, Call: int64(o.from), Return: int64(o.to),
		}
	}
	return history
}
