package claims

import "strings"

// The judges of stories about transactions, scripts and single commands.

// judgeMulti: if MULTI blocked others, B's SET would be executed after EXEC of A.
func judgeMulti(acts []*Record) Finding {
	r := acts[0]
	multi, exec, set := r.command("A", "MULTI", 0), r.command("A", "EXEC", 0), r.command("B", "SET", 0)
	done := r.reply(exec)
	inside := r.all(at("x"), between(exec, done), func(e Event) bool { return e.Client != exec.Client })
	before := set.Seq > multi.Seq && set.Seq < exec.Seq
	return Finding{
		Verdict:  verdict(!before, !before),
		Facts:    map[string]any{"b_before_exec": before, "others_inside_exec": len(inside)},
		Evidence: seqs(multi, set, r.reply(set), exec, done),
	}
}

// judgeWatch: the claim is right about MULTI alone, and wrong with WATCH.
func judgeWatch(acts []*Record) Finding {
	r := acts[0]
	get := r.reply(r.command("A", "GET", 0))
	execA, execB := r.command("A", "EXEC", 0), r.command("B", "EXEC", 0)
	a, b := r.reply(execA), r.reply(execB)
	hidden := strings.HasPrefix(get.Text, "+QUEUED")
	both := a.Text != "" && b.Text != "" && !isNil(a) && !isNil(b)
	neither := isNil(a) && isNil(b)
	return Finding{
		Verdict:  verdict(hidden, both || neither),
		Facts:    map[string]any{"get_inside_multi": plain(get), "exec_a": plain(a), "exec_b": plain(b)},
		Evidence: seqs(get, r.command("A", "WATCH", 0), r.command("B", "WATCH", 0), execA, a, execB, b),
	}
}

// isNil reports whether a reply says that there is nothing.
func isNil(reply Event) bool {
	return begins("$-1", "*-1", "_")(reply)
}

// plain is a reply as a fact: without line ends, and nil for nothing.
func plain(reply Event) string {
	if isNil(reply) {
		return "nil"
	}
	return strings.ReplaceAll(strings.TrimSuffix(reply.Text, `\r\n`), `\r\n`, " ")
}

// judgeHistory has nothing to look at. Redis's reference says since when SET has its options.
func judgeHistory([]*Record) Finding {
	return Finding{Verdict: History, Facts: map[string]any{"since": "2.6.12"}, Evidence: []int64{}}
}

// judgeCounter: a race is an update that is lost.
func judgeCounter(acts []*Record) Finding {
	r := acts[0]
	sets, incrs := len(r.all(at("x"), begins("SET read"))), len(r.all(at("x"), begins("INCR")))
	sum := r.reply(r.command("B", "MGET", 0))
	read, count := bulks(sum.Text)
	lostSet, lostIncr := sets-read, incrs-count
	return Finding{
		Verdict: verdict(lostIncr == 0, lostSet == 0),
		Facts:   map[string]any{"lost_get_set": lostSet, "lost_incr": lostIncr},
		Evidence: seqs(r.command("A", "GET", 0), r.command("B", "GET", 0), r.command("A", "SET", 0),
			r.command("B", "SET", 0), r.command("A", "INCR", 0), r.command("B", "INCR", 0), sum),
	}
}

// bulks reads an array of two small numbers: *2\r\n$1\r\n1\r\n$1\r\n2\r\n
func bulks(text string) (first, second int) {
	words := strings.Split(text, `\r\n`)
	if len(words) < 5 {
		return 0, 0
	}
	return number(words[2]), number(words[4])
}

func number(text string) (n int) {
	for _, digit := range strings.TrimLeft(strings.TrimSuffix(text, `\r\n`), ":") {
		if digit < '0' || digit > '9' {
			break
		}
		n = 10*n + int(digit-'0')
	}
	return n
}

// judgeErrors: a rollback would undo what the failed transaction has written. EXEC after a command that could
// not be queued executes nothing, so there is nothing to undo.
func judgeErrors(acts []*Record) Finding {
	r := acts[0]
	first, second := r.reply(r.command("A", "EXEC", 0)), r.reply(r.command("A", "EXEC", 1))
	sum := r.reply(r.command("A", "MGET", 0))
	stored := strings.Split(strings.TrimSuffix(sum.Text, `\r\n`), `\r\n`) // *3 $-1 $1 2 $1 3
	applied := strings.Count(strings.Join(stored[1:], `\r\n`), `$1`)
	undone := strings.Contains(second.Text, "-ERR") && applied == 0
	inside := r.all(at("x"), r.by("A"), func(e Event) bool { return e.B == inExec })
	return Finding{
		Verdict: verdict(undone, undone),
		Facts: map[string]any{
			"queue_error": strings.Fields(plain(first) + " ")[0], "applied": applied, "rolled_back": 2 - applied,
		},
		Evidence: seqs(append(inside, first, second, sum)...),
	}
}

// judgeScript: no command of another client is executed between those of the script, and others wait.
func judgeScript(acts []*Record) Finding {
	r := acts[0]
	eval := r.command("A", "EVAL", 0)
	done := r.reply(eval)
	inside := r.all(at("x"), between(eval, done), func(e Event) bool { return e.Client != eval.Client })
	waiting, evidence := int64(0), []Event{eval}
	for _, e := range r.all(at("xy"), between(eval, done)) {
		sum := int64(0)
		for _, name := range []string{"B", "C", "D"} {
			sum += e.waiting[r.Clients[name]]
		}
		if sum > waiting {
			waiting, evidence = sum, []Event{eval, e}
		}
	}
	evidence = append(append(evidence, done), r.all(at("x"), begins("GET steps"), between(done, Event{}))...)
	busy, kill := r.all(at("y"), begins("-BUSY")), r.all(at("y"), begins("-UNKILLABLE"))
	kept := r.reply(r.command("B", "GET halfway", 0))
	return Finding{
		Verdict: verdict(len(inside) == 0, waiting == 0 && len(busy) == 0),
		Facts: map[string]any{"others_inside_script": len(inside), "waiting_bytes": waiting, "busy": min(len(busy), 1),
			"kept_after_error": plain(kept), "unkillable": len(kill)},
		Evidence: seqs(append(append(append(evidence, busy[:min(len(busy), 1)]...), kept), kill...)...),
	}
}
