package claims

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

// judgeQueue: a command that goes through a queue is executed in another thread or in a later pass than it
// was parsed. A command whose turn comes later has other events between the two, and stays where it is.
func judgeQueue(acts []*Record) Finding {
	r := acts[0]
	var evidence []int64
	waited, handed, threads, overlap := 0, 0, map[int]bool{}, 0
	for _, name := range []string{"A", "B", "C"} {
		x := r.command(name, "SET", 0)
		threads[x.Thread] = true
		for _, p := range r.all(at("p"), r.by(name), func(e Event) bool { return e.A > 0 }) {
			evidence = append(evidence, p.Seq)
			if p.Pass != x.Pass || p.Thread != x.Thread {
				handed++
			}
			waited += len(r.all(at("rpxy"), between(p, x)))
		}
		y := r.reply(x)
		overlap += len(r.all(between(x, y), at("x")))
		evidence = append(evidence, seqs(x, y)...)
	}
	return Finding{
		Verdict: verdict(len(threads) == 1 && overlap == 0, handed > 0),
		Facts: map[string]any{
			"commands": len(r.all(at("x"), begins("SET"))), "between": waited, "handed_over": handed,
			"executing_threads": len(threads),
		},
		Evidence: evidence,
	}
}

// judgeEvents: one array has all three events, and the loop does not sleep between their handlers. The
// kernel's list of ready sockets outlives a pass: it names A again, although A has sent nothing new.
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
	reads := r.all(at("r"), r.by("A"), between(last, Event{}), func(e Event) bool { return e.A > 0 })
	again := max(len(reads)-1, 0)
	return Finding{
		Verdict: verdict(!inOrder || again > 0, !inOrder || sleeps > 0),
		Facts: map[string]any{
			"arrays": len(woke), "handlers": len(handlers), "sleeps_between": sleeps, "again": min(again, 1),
		},
		Evidence: seqs(append(append(woke, handlers...), reads...)...),
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
