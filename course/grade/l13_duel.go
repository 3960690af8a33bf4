package grade

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/trials"
)

// duel is what lab 13 plays again and again: two owners want one lock, each in a process of its own. While a
// failure holds one of them, the other one continues. The processes live as long as the test.
type duel struct {
	s      *story
	leases bool // leases end while an owner is held, and so two owners may believe in the lock
	strict bool // a lock that nobody holds must be free

	a, b   *rival
	failed *failure // what ended the test in a trial
}

// rival is an owner in a trial.
type rival struct {
	*program
	name     string
	believes bool // it has been told that it holds the lock
}

// begin starts both processes.
func (d *duel) begin() {
	d.a, d.b = &rival{program: d.s.client(), name: "a"}, &rival{program: d.s.client(), name: "b"}
}

// round is one trial of a duel.
type round struct {
	*duel
	trials.Task
	ctx    context.Context
	plain  bool // without a failure
	unsafe string
}

// play plays a trial. A program that hangs or ends has failed, whatever the failure was.
func (d *duel) play(ctx context.Context, t trials.Task) (trials.Answer, error) {
	r := &round{duel: d, Task: t, ctx: ctx, plain: t.Kind == explore.Baseline || t.Kind == explore.Without}
	failed, err := d.s.performOn(t.Servers, func(*story) { r.play() })
	if failed == nil {
		return trials.Answer{Unsafe: r.unsafe}, err
	}
	d.failed = failed
	if !r.plain {
		played := say{"The failure was: %s.", "当时的故障：%s。"}.in(d.s.run.Lang, t.Title)
		failed.tail = strings.TrimSpace(failed.tail + "\n" + played)
	}
	return trials.Answer{}, errors.New("the program has failed by itself")
}

// play lets both owners take and release the lock once. What they answer must be right if there is no failure.
func (r *round) play() {
	open := "open " + r.Addrs[0] + " " + r.s.lock + " " + strconv.FormatInt(lease.Milliseconds(), 10)
	for _, p := range []*rival{r.a, r.b} {
		p.believes = false
		p.order(open)
	}
	r.takes(r.a, say{"The lock is free", "锁空闲时"})
	r.isRefused()
	r.releases(r.a, say{"a holds the lock", "a 持有锁时"})
	r.takes(r.b, say{"a has released the lock", "a 释放之后"})
	r.releases(r.b, say{"b holds the lock", "b 持有锁时"})
	if r.plain {
		r.talked()
	}
	for _, p := range []*rival{r.a, r.b} {
		p.order("close")
	}
}

// tries is how often an owner tries to get the lock.
const tries = 3

// takes lets an owner try until it holds the lock.
func (r *round) takes(p *rival, when say) {
	for range tries {
		if p.believes {
			return
		}
		word := r.order(p, "take")
		r.s.want(!r.plain || word == "held", say{"%s: `take %s` answered `%s`, and should answer `held`.",
			"%s：`take %s` 的回答是 `%s`，应为 `held`。"}, when.in(r.s.run.Lang), p.name, word)
	}
}

// isRefused lets b ask once for the lock of a.
func (r *round) isRefused() {
	if r.b.believes {
		return
	}
	word := r.order(r.b, "take")
	r.s.want(!r.plain || word == "refused", say{"a holds the lock: `take b` answered `held`, and should answer `refused`.",
		"a 持有锁时：`take b` 的回答是 `held`，应为 `refused`。"})
}

// releases lets an owner give up the lock that it believes in.
func (r *round) releases(p *rival, when say) {
	if !p.believes {
		return
	}
	word := r.order(p, "release")
	r.s.want(!r.plain || word == "released", say{"%s: `release %s` answered `%s`, and should answer `released`.",
		"%s：`release %s` 的回答是 `%s`，应为 `released`。"}, when.in(r.s.run.Lang), p.name, word)
}

// order sends an order to an owner. While it pauses, the other owner continues.
func (r *round) order(p *rival, verb string) (word string) {
	other := r.a
	if p == r.a {
		other = r.b
	}
	order := verb + " " + p.name
	if verb == "release" {
		p.believes = false
	}
	p.send(order)
	for end := time.Now().Add(r.s.run.AnswerLimit); !p.answered(); {
		if r.ctx.Err() != nil || time.Now().After(end) {
			p.hung(order, r.s.run.AnswerLimit)
		}
		select {
		case over := <-r.Pauses:
			r.goesOn(other)
			over()
		default:
		}
	}
	word, _ = p.answer(order)
	if word == "held" {
		r.believes(p, other)
	}
	return word
}

// goesOn lets an owner do its next step while the other one pauses.
func (r *round) goesOn(p *rival) {
	if p.believes {
		p.believes = false
		p.program.order("release " + p.name)
		return
	}
	word, _ := p.program.order("take " + p.name)
	p.believes = word == "held"
}

// believes notes that an owner holds the lock. Two owners do so only if a lease has ended.
func (r *round) believes(p, other *rival) {
	p.believes = true
	if other.believes && !r.leases && r.unsafe == "" {
		r.unsafe = say{"`take %s` answered `held` while %s held the lock", "%[2]s 持有锁时，`take %[1]s` 的回答是 `held`"}.
			in(r.s.run.Lang, p.name, other.name)
	}
}

// talked wants the owners to have sent a request about a key.
func (r *round) talked() {
	r.s.within(func(ctx context.Context) error {
		v, err := r.Servers.Lab(ctx, 1, "LOG", "1")
		r.s.want(err != nil || len(v.Elems) > 0, silentAnswers())
		return err
	})
}
