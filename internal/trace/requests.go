package trace

import (
	"bytes"
	"cmp"
	"slices"
)

// request identifies a request by its client and its number among the client's requests.
type request struct{ client, seq int64 }

// life is a request from the read of its bytes to the write of its reply. Spans that the ring has lost
// are nil.
type life struct {
	request
	name             string
	parsed, executed *placed
	born             int64
	done             int64 // the end of the execution; of the last one if the client was blocked
	written          *placed
}

// placed is an event and the row it is in.
type placed struct {
	span
	on  *Thread
	key string // the beginning of a command's key

	bind            int64 // the number of an arrow, 0 for none
	arrives, leaves bool  // whether it ends here, or begins
}

// collect returns the events of all threads by their begin. An outer span comes before its inner spans.
func (r *Recorder) collect() []placed {
	var all []placed
	for _, t := range r.threads {
		for i, e := range t.ring {
			p := placed{span: e, on: t}
			if t.keys != nil {
				p.key = string(bytes.TrimRight(t.keys[i][:], "\x00"))
			}
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end))
	})
	return all
}

// lives follows every request through the events. It returns the requests in the order of parsing.
func lives(all []placed) []*life {
	var found []*life
	known := map[request]*life{}
	reads := map[int64]int64{}      // by client: when the read before its next parse began
	writes := map[int64][]*placed{} // by client: the writes that answered a request
	for i := range all {
		e := &all[i]
		switch e.kind {
		case Read:
			reads[e.client] = e.begin
		case Parse:
			for seq := e.seq - int64(e.n) + 1; seq <= e.seq; seq++ {
				l := &life{request: request{e.client, seq}, parsed: e, born: e.begin}
				if begin, ok := reads[e.client]; ok {
					l.born = begin
				}
				known[l.request] = l
				found = append(found, l)
			}
			delete(reads, e.client) // the ring may have lost the next read
		case Execute:
			if l := known[request{e.client, e.seq}]; l != nil {
				l.run(e)
			}
		case Write:
			if e.seq > 0 {
				writes[e.client] = append(writes[e.client], e)
			}
		}
	}
	for _, l := range found {
		l.answer(writes[l.client])
	}
	return found
}

// run adds a command. The first command is the request itself, and later ones are its calls.
func (l *life) run(e *placed) {
	if l.executed == nil {
		l.executed, l.name = e, e.name
	}
	l.done = max(l.done, e.end)
}

// answer finds the write that sent the end of the reply.
func (l *life) answer(writes []*placed) {
	i, _ := slices.BinarySearchFunc(writes, l.seq, func(w *placed, seq int64) int { return cmp.Compare(w.seq, seq) })
	for ; i < len(writes) && l.executed != nil && l.written == nil; i++ {
		if writes[i].begin >= l.done {
			l.written = writes[i]
		}
	}
}
