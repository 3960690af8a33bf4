package grade

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report"
	"github.com/miniredisd/miniredisd/lab/explore/trials"
)

// Lab 13: nobody has told the student which failure comes. Explore tries every failure of a class at every request.

func exploreTests() []test {
	return []test{
		{name: say{"Two owners take turns", "两个持有者轮流加锁"}, points: 10, play: exploreTurns},
		{name: say{"Any request or reply is lost, or the server restarts", "任何请求或回复丢失，或者服务器重启"},
			points: 25, play: exploreLosses},
		{name: say{"A pause longer than the lease, at any request", "在任何请求处停顿，超过租约"},
			points: 25, play: explorePauses},
		{name: say{"Any request gets an error", "任何请求得到错误回复"}, points: 20, play: exploreErrors},
		{name: say{"No failure leaves the lock behind", "任何故障之后，锁都不会留下"}, points: 20, play: exploreLeft},
	}
}

// exploreTurns plays no failure: the lock of this lab has no messages.
func exploreTurns(s *story) { s.survives(&duel{}, "message-lost") }

func exploreLosses(s *story) {
	s.survives(&duel{}, "request-lost", "reply-lost", "restart", "reset-before", "reset-after")
}

func explorePauses(s *story) { s.survives(&duel{leases: true}, "paused", "lease-over") }

func exploreErrors(s *story) {
	s.survives(&duel{}, slices.DeleteFunc(explore.FaultNames(), func(name string) bool {
		return !strings.HasPrefix(name, "error-") && !strings.HasPrefix(name, "executed-")
	})...)
}

func exploreLeft(s *story) {
	s.survives(&duel{strict: true}, "request-lost", "reply-lost", "error-loading", "executed-busy")
}

// exploreBudget is for one test. A program that is slow and right needs a few seconds.
const exploreBudget = 100 * time.Second

// survives wants no failure of a class to break the lock, at none of the requests of two owners.
func (s *story) survives(d *duel, faults ...string) {
	d.s = s
	d.begin()
	r, err := trials.Run(s.ctx, trials.Options{
		Options: explore.Options{
			Program: s.run.Command, Seed: serverSeed(s.run.Seed), Keys: []string{s.lock}, Only: faults, Strict: d.strict,
			Patience: 3 * s.run.AnswerLimit, // so the limit of an answer comes first
		},
		Budget: exploreBudget, Play: d.play, Tells: true, Guests: true,
	})
	switch {
	case s.ctx.Err() != nil:
		s.fail(say{"The time for all tests is over.", "总时间已用完。"})
	case d.failed != nil:
		panic(d.failed)
	case err != nil && r != nil:
		s.fail(say{"Your lock cannot be judged: %v.", "无法评判你的锁：%v。"}, err)
	case err != nil:
		s.check(err)
	}
	if f := firstFinding(r); f != nil {
		s.breaks(r, f)
	}
	s.want(!r.OutOfTime, say{"There was no time for %d failures: your program is too slow.",
		"有 %d 个故障来不及测：程序太慢。"}, r.Untried)
}

// firstFinding returns the finding of the first cell that is broken, or nil.
func firstFinding(r *explore.Report) *explore.Finding {
	if r.Itself != nil {
		return r.Itself
	}
	for _, row := range r.Cells {
		for _, c := range row {
			if c.Mark == explore.Broken || c.Mark == explore.Hangs {
				return c.Finding
			}
		}
	}
	return nil
}

// breaks ends the test with a finding: its sentence, why, what helps, and the commands that make it again.
func (s *story) breaks(r *explore.Report, f *explore.Finding) {
	alone := *r
	alone.Cells, alone.Pairs = nil, nil
	if r.Itself == nil {
		at := f.Strikes[0]
		alone.Cells = make([][]explore.Cell, len(r.Points))
		for i := range alone.Cells {
			alone.Cells[i] = make([]explore.Cell, len(r.Faults))
		}
		alone.Cells[at.Point][at.Fault] = r.Cells[at.Point][at.Fault]
	}
	var text bytes.Buffer
	s.check(report.Brief(&text, &alone, s.run.Lang))
	finding, _, _ := strings.Cut(text.String(), "\n\n") // what follows counts the findings
	s.recorded = f.Loop
	s.fail(say{"%s", "%s"}, strings.TrimSpace(finding))
}
