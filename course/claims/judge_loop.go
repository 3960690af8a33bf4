package claims

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
)

// The judges of stories about the loop. Each looks at events only.

// verdict is half true if one half of the claim holds and the other does not.
func verdict(first, second bool) Verdict {
	switch {
	case first && second:
		return True
	case first || second:
		return Partly
	}
	return False
}

// judgeQueue: a queue would put steps between "parsed" and "executed", or another thread.
func judgeQueue(acts []*Record) Finding {
	r := acts[0]
	var evidence []int64
	steps, threads, overlap := 0, map[int]bool{}, 0
	for _, name := range []string{"A", "B", "C"} {
		x := r.command(name, "SET", 0)
		threads[x.Thread] = true
		for _, p := range r.all(at("p"), r.by(name), func(e Event) bool { return e.A > 0 }) {
			evidence = append(evidence, p.Seq)
			if p.Pass != x.Pass || p.Thread != x.Thread {
				steps++
			}
			steps += len(r.all(between(p, x), func(e Event) bool { return !e.is("xyrp") }))
		}
		y := r.reply(x)
		overlap += len(r.all(between(x, y), at("x")))
		evidence = append(evidence, seqs(x, y)...)
	}
	return Finding{
		Verdict: verdict(len(threads) == 1 && overlap == 0, steps > 0),
		Facts: map[string]any{
			"commands": len(r.all(at("x"), begins("SET"))), "between": steps, "executing_threads": len(threads),
		},
		Evidence: evidence,
	}
}

// judgeEvents: one array has all three events, and the loop does not sleep between their handlers.
func judgeEvents(acts []*Record) Finding {
	r := acts[0]
	first, last := r.command("A", "SET", 0), r.command("C", "SET", 0)
	woke := r.all(at("w"), func(e Event) bool { return e.Pass == first.Pass })
	handlers := r.all(at("h"), begins("read"), func(e Event) bool { return e.Pass == first.Pass })
	inOrder := first.Pass == last.Pass && len(woke) == 1 && woke[0].A == 3 && len(handlers) == 3
	sleeps := 0
	for i, h := range handlers {
		inOrder = inOrder && h.A == int64(i)
		sleeps = len(r.all(at("s"), between(handlers[0], h)))
	}
	return Finding{
		Verdict: verdict(!inOrder, !inOrder || sleeps > 0),
		Facts: map[string]any{
			"arrays": len(woke), "handlers": len(handlers), "sleeps_between": sleeps,
		},
		Evidence: seqs(append(woke, handlers...)...),
	}
}

// judgePipeline: the first pipeline takes one read and one write. B gets in between the halves of the second.
func judgePipeline(acts []*Record) Finding {
	r := acts[0]
	commands := r.commands("A", "INCR")
	if len(commands) != 32 {
		return Finding{Verdict: True}
	}
	first := func(e Event) bool { return e.Pass == commands[0].Pass }
	reads, writes := r.all(at("r"), r.by("A"), first), r.all(at("o"), r.by("A"), first)
	notA := func(e Event) bool { return e.Client != commands[0].Client }
	others := r.all(at("x"), between(commands[16], commands[31]), notA)
	evidence := append(append(append([]Event{}, reads...), commands[0], commands[15]), writes...)
	evidence = append(append(append(evidence, commands[16], commands[23]), others...), commands[24], commands[31])
	return Finding{
		Verdict: verdict(len(others) == 0, len(others) == 0),
		Facts: map[string]any{
			"reads": len(reads), "commands": len(r.all(at("x"), r.by("A"), first)), "writes": len(writes),
			"others_between": len(others),
		},
		Evidence: seqs(evidence...),
	}
}

// threadsAt returns how many threads met one of the points for the clients of the story.
func (r *Record) threadsAt(points string) int {
	threads := map[int]bool{}
	for _, e := range r.all(at(points), func(e Event) bool { return e.Client > 0 && e.A > 0 }) {
		threads[e.Thread] = true
	}
	return len(threads)
}

// judgeThreads: by default only writes are threaded. Main alone executes.
func judgeThreads(acts []*Record) Finding {
	byDefault, doReads := acts[0], acts[1]
	executing := map[int]bool{}
	for _, r := range acts {
		for _, x := range r.all(at("x"), begins("INCR")) {
			executing[x.Thread] = true
		}
	}
	reads := byDefault.threadsAt("rp") > 1 || byDefault.all(at("rp"), begins(""))[0].Thread != 0
	writes := byDefault.threadsAt("o") > 1
	return Finding{
		Verdict: verdict(reads, writes),
		Facts: map[string]any{
			"reading_by_default": byDefault.threadsAt("rp"), "writing_by_default": byDefault.threadsAt("o"),
			"reading_do_reads": doReads.threadsAt("rp"), "executing_threads": len(executing),
		},
		Evidence: seqs(doReads.all(at("rxo"), func(e Event) bool { return e.Client > 0 && e.A > 0 })...),
	}
}

// judgeLoad counts: threads take reading away from main, and there are as many reads as before. Times are
// facts, and decide nothing.
func judgeLoad(acts []*Record) Finding {
	facts := map[string]any{"cores": runtime.NumCPU()}
	for i, threads := range []int{1, 2, 4} {
		main, all := acts[i].perCommand()
		facts[fmt.Sprintf("main_us_%d", threads)] = main
		facts[fmt.Sprintf("all_us_%d", threads)] = all
	}
	alone, shown := acts[0], acts[2]
	client := func(e Event) bool { return e.Client > 0 && e.A > 0 }
	onMain := len(shown.all(at("r"), client, func(e Event) bool { return e.Thread == 0 }))
	reads, before := len(shown.all(at("r"), client)), len(alone.all(at("r"), client))
	evidence := shown.all(at("tj"))
	return Finding{
		Verdict: verdict(onMain < reads/2, reads < before/2), Facts: facts,
		Evidence: seqs(evidence[max(len(evidence)-8, 0):]...),
	}
}

// perCommand returns the time of a command in us, on main and on all threads, without waiting. It counts
// each step with the median of its kind, because other programs interrupt some of them.
func (r *Record) perCommand() (main, all float64) {
	commands := float64(len(r.all(at("y"), func(e Event) bool { return e.Client > 0 })))
	for _, point := range []string{"r", "p", "y", "o"} {
		var took []float64
		onMain := 0.0
		for _, e := range r.all(at(point), func(e Event) bool { return e.Client > 0 }) {
			took = append(took, e.Took)
			if e.Thread == 0 {
				onMain++
			}
		}
		if len(took) > 0 {
			slices.Sort(took)
			median := took[len(took)/2]
			main += median * onMain / commands
			all += median * float64(len(took)) / commands
		}
	}
	return round(main), round(all)
}

func round(us float64) float64 { return math.Round(us*100) / 100 }

// judgeMultiplexers reads how many descriptors the wait for A's request has looked at.
func judgeMultiplexers(acts []*Record) Finding {
	facts, looked := map[string]any{"idle": idle}, map[string]int{}
	for i, name := range []string{"epoll", "poll", "select"} {
		looked[name] = acts[i].looked()
		facts["looked_"+name] = looked[name]
	}
	r := acts[0]
	get := r.command("A", "GET", 0)
	pass := r.all(at("whs"), func(e Event) bool { return e.Pass == get.Pass })
	return Finding{
		Verdict: verdict(looked["epoll"] >= idle, looked["epoll"] >= idle), Facts: facts,
		Evidence: seqs(append(pass, get)...),
	}
}

// looked returns the number at the end of the pass that served A.
func (r *Record) looked() int {
	get := r.command("A", "GET", 0)
	for _, s := range r.all(at("s"), func(e Event) bool { return e.Pass == get.Pass }) {
		_, text, _ := strings.Cut(s.Text, "looked=")
		return number(text)
	}
	return 0
}

// judgeWheel: only the keys that are due expire, each at its millisecond.
func judgeWheel(acts []*Record) Finding {
	r := acts[0]
	expired := r.all(at("e"))
	after5, after13 := 0, 0
	for _, e := range expired {
		if e.Text == "second" {
			after13 += int(e.A)
			continue
		}
		after5 += int(e.A)
	}
	const slots = 8 // of one second, as in the claim
	seconds := []int{5, 13, 5}
	slot, round := "", ""
	for i, s := range seconds {
		if i > 0 {
			slot, round = slot+" ", round+" "
		}
		slot, round = slot+fmt.Sprint(s%slots), round+fmt.Sprint(s/slots)
	}
	sets := r.commands("A", "SET")
	inTime := len(expired) > 1 && len(sets) == 3
	for _, e := range expired {
		inTime = inTime && e.clock == sets[0].clock+map[bool]int64{true: 13_001, false: 5_001}[e.Text == "second"]
	}
	return Finding{
		Verdict:  verdict(!inTime || after5 != 2, after13 != 1),
		Facts:    map[string]any{"after_5": after5, "after_13": after13, "slots": slot, "rounds": round},
		Evidence: seqs(append(sets, expired...)...),
	}
}
