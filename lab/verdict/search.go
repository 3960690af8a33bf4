package verdict

import (
	"fmt"
	"io"

	"github.com/anishathalye/porcupine"
)

// How long it takes to find out that no order is legal can double with each operation that
// is open to the end, as those are whose replies were lost. So the search for a lock's order
// has an effort that it may take. It is counted in steps, and not in seconds, so that
// the same history has the same verdict on every machine.
type effort struct {
	left, legal int // a legal step costs more: porcupine remembers where it led
}

// maxEffort is what all searches together may take on top of what the history takes that has no two
// orders: about 32 MB, and half a second.
const maxEffort = 1 << 22

// newEffort is for a number of operations. What porcupine remembers of a step is a bit for
// each of them, and what holds these together.
func newEffort(operations, most int) *effort {
	legal := operations/64 + 16 // words
	return &effort{operations*legal + most, legal}
}

// allows tells whether a step may be taken. Without an effort, every legal one may.
func (e *effort) allows(legal bool) bool {
	switch {
	case e == nil:
		return legal
	case legal:
		e.left -= e.legal
	default:
		e.left--
	}
	return legal && e.left >= 0
}

// search looks for an order of the operations of each lock. Porcupine has a goroutine for
// each lock, so that each effort belongs to one.
func (v *Verdict) search(r *replay, all []operation, most int) {
	history := r.forPorcupine(all)
	parts := byLock(history)
	efforts := make(map[lock]*effort, len(parts))
	for _, part := range parts {
		efforts[lockOf(part[0])] = newEffort(len(part), most/len(parts))
	}
	_, info := porcupine.CheckOperationsVerbose(model(efforts), history, 0)
	for i, orders := range info.PartialLinearizations() {
		switch name := lockOf(parts[i][0]); {
		case len(orders) == 1 && len(orders[0]) == len(parts[i]): // the whole of it
		case efforts[name].left < 0:
			v.Undecided = append(v.Undecided, name.String())
		default:
			v.NotLinearizable = append(v.NotLinearizable, name.String())
		}
	}
	v.picture = func(w io.Writer) error {
		info.AddAnnotations(r.annotations())
		return porcupine.Visualize(model(nil), info, w) // which takes the steps again
	}
}

// model is a lock: its state is the holder, "" while it is free. For a search that has no
// effort left nothing is legal any more, and it ends by that.
func model(efforts map[lock]*effort) porcupine.Model {
	return porcupine.Model{
		Partition: byLock,
		Init:      func() any { return "" },
		Step: func(state, in, out any) (bool, any) {
			i := in.(input)
			legal, holder := i.on(state.(string), out.(bool))
			return efforts[i.lock].allows(legal), holder
		},
		DescribeOperation: func(in, out any) string {
			i := in.(input)
			if i.do == acquire && !out.(bool) {
				return fmt.Sprintf("%s %s: refused", i.do, i.lock)
			}
			return fmt.Sprintf("%s %s by %s", i.do, i.lock, i.holder)
		},
		DescribeState: func(state any) string {
			if state == "" {
				return "free"
			}
			return "held by " + state.(string)
		},
	}
}

// on tells whether i is legal while holder has the lock, and who has it then.
func (i input) on(holder string, ok bool) (legal bool, next string) {
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

func lockOf(o porcupine.Operation) lock { return o.Input.(input).lock }

func byLock(history []porcupine.Operation) [][]porcupine.Operation {
	var parts [][]porcupine.Operation
	place := map[lock]int{}
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

// forPorcupine numbers the holders: each has a row of its own in the picture, and the time
// that ends leases has the last.
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
		history[i] = porcupine.Operation{ClientId: row, Input: o.input, Output: o.ok, Call: int64(o.from), Return: int64(o.to)}
	}
	return history
}
