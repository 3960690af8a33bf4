package claims

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// Each judge must be able to say the opposite. Here the record of a real run is changed, as if the claim
// were true, and the judge no longer refutes it.

// mutations has, by claim, what a server would do for which the claim is true.
func mutations() map[int]func(acts []*Record) {
	return map[int]func(acts []*Record){
		1: func(acts []*Record) { // commands are executed in a later pass
			acts[0].change(at("xy"), func(e *Event) { e.Pass++ })
		},
		2: func(acts []*Record) { // one event at a time
			acts[0].change(at("w"), func(e *Event) { e.A = 1 })
		},
		3: func(acts []*Record) { // B is served after EXEC
			r := acts[0]
			done := r.reply(r.command("A", "EXEC", 0))
			r.move(r.by("B"), done)
		},
		4: func(acts []*Record) { // WATCH watches nothing
			r := acts[0]
			y := r.reply(r.command("B", "EXEC", 0))
			r.change(same(y), func(e *Event) { e.Text = `*1\r\n+OK\r\n` })
		},
		6: func(acts []*Record) { // threads read by default
			acts[0].change(at("rp"), func(e *Event) { e.Thread = 1 + int(e.Client%2) })
		},
		8: func(acts []*Record) { // no update is lost
			r := acts[0]
			y := r.reply(r.command("B", "MGET", 0))
			r.change(same(y), func(e *Event) { e.Text = strings.Replace(e.Text, `$1\r\n1`, `$1\r\n2`, 1) })
		},
		9: func(acts []*Record) { // the lock goes when its client goes
			r := acts[0]
			r.change(same(r.reply(r.command("B", "SETNX", 0))), func(e *Event) { e.Text = `:1\r\n` })
		},
		10: func(acts []*Record) { // DEL asks whose lock it is
			r := acts[0]
			r.change(same(r.reply(r.command("C", "SET lock:a", 0))), func(e *Event) { e.Text = `$-1\r\n` })
		},
		13: func(acts []*Record) { // the lease does not end while its client is cut off
			r := acts[0]
			r.change(same(r.reply(r.command("B", "SET", 1))), func(e *Event) { e.Text = `$-1\r\n` })
		},
		14: func(acts []*Record) { // nobody waits
			acts[0].change(at("xy"), func(e *Event) { e.waiting = nil })
			acts[0].change(begins("-BUSY"), func(e *Event) { e.Text = `$-1\r\n` })
		},
		15: func(acts []*Record) { // B waits for the end of the pipeline
			r := acts[0]
			r.move(r.by("B"), r.Events[len(r.Events)-1])
		},
		16: func(acts []*Record) { // epoll looks at all
			acts[0] = acts[1]
		},
		17: func(acts []*Record) { // a tick looks at every timer
			acts[0].change(at("s"), func(e *Event) { e.Text = "slots=256 timers=303" })
		},
		18: func(acts []*Record) { // EXEC rolls back
			r := acts[0]
			y := r.reply(r.command("A", "MGET", 0))
			r.change(same(y), func(e *Event) { e.Text = `*3\r\n$-1\r\n$-1\r\n$-1\r\n` })
		},
		19: func(acts []*Record) { // one thread does everything
			acts[0].change(at("rpo"), func(e *Event) { e.Thread = 0 })
		},
		20: func(acts []*Record) { // a server without a stall
			r := acts[0]
			begin := r.command("A", "GET", 0).clock
			r.change(at("x"), func(e *Event) {
				_, due, _ := strings.Cut(e.Text, ":")
				e.clock = begin + int64(number(due))
			})
		},
		21: func(acts []*Record) { // threads save system calls and a pipeline moves them, or neither
			acts[2] = acts[1]
		},
		22: func(acts []*Record) { // epoll watches new clients without a call
			acts[0].change(at("s"), func(e *Event) { e.Text = strings.ReplaceAll(e.Text, "calls=17", "calls=1") })
		},
		23: func(acts []*Record) { // the commands delete nothing
			for i, command := range []string{"DELEX", "DELIFEQ"} {
				r := acts[i+1]
				r.change(same(r.reply(r.command("B", command, 0))), func(e *Event) { e.Text = `:0\r\n` })
			}
		},
		24: func(acts []*Record) { // the server sees that a bit has changed, and mends it
			r := acts[2]
			r.change(same(r.reply(r.command("A2", "EVAL", 0))), func(e *Event) { e.Text = `:1\r\n` })
		},
		25: func(acts []*Record) { // the disk has what is older than a second
			for _, r := range acts[1:] {
				r.change(same(r.reply(r.command("B", "SET", 0))), func(e *Event) { e.Text = `$-1\r\n` })
			}
		},
		26: func(acts []*Record) { // the disk has the release
			r := acts[0]
			r.change(same(r.reply(r.command("B", "SET", 0))), func(e *Event) { e.Text = `+OK\r\n` })
		},
		27: func(acts []*Record) { // the new master knows what WAIT has counted
			r := acts[1]
			r.change(same(r.reply(r.command("B", "SET", 0))), func(e *Event) { e.Text = `$-1\r\n` })
		},
		28: func(acts []*Record) { // the old master refuses
			r := acts[0]
			r.change(same(r.reply(r.command("A", "SET lock:a", 0))), func(e *Event) { e.Text = `-NOREPLICAS\r\n` })
		},
		29: func(acts []*Record) { // the replica has the lock
			r := acts[0]
			r.change(same(r.reply(r.command("C", "GET", 0))), func(e *Event) { e.Text = `$7\r\ntoken-A\r\n` })
		},
	}
}

func TestJudgesAgreeWithAServerForWhichTheClaimIsTrue(t *testing.T) {
	mutated := mutations()
	for _, c := range List() {
		mutate, known := mutated[c.N]
		if !known {
			continue
		}
		delete(mutated, c.N)
		if !amount.Picked(c.Name, 3) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			var acts []*Record
			for _, a := range c.acts {
				r, err := perform(a, nil)
				require.NoError(t, err)
				acts = append(acts, r)
			}
			require.NotEqual(t, True, c.judge(acts).Verdict)
			mutate(acts)
			require.Equal(t, True, c.judge(acts).Verdict)
		})
	}
	require.Empty(t, mutated, "there is no such claim")
}

// The server that many articles draw exists here: an executor behind a queue. Of this server the first
// claim is true.
func TestTheFirstClaimIsTrueOfAServerWithAQueue(t *testing.T) {
	got, err := List()[0].run(context.Background(), "--exec", "queue")
	require.NoError(t, err)
	require.Equal(t, True, got.Verdict, "%v", got.Facts)
}

// change changes the events that meet a condition.
func (r *Record) change(meets func(Event) bool, to func(*Event)) {
	for i := range r.Events {
		if meets(r.Events[i]) {
			to(&r.Events[i])
		}
	}
}

// move puts events behind another one, in their order.
func (r *Record) move(meets func(Event) bool, behind Event) {
	moved := r.all(meets)
	r.Events = slices.DeleteFunc(r.Events, meets)
	at := slices.IndexFunc(r.Events, same(behind)) + 1
	r.Events = slices.Insert(r.Events, at, moved...)
	for i := range r.Events {
		r.Events[i].Seq = int64(i + 1)
	}
}

func same(as Event) func(Event) bool { return func(e Event) bool { return e.Seq == as.Seq } }
