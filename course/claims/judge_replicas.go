package claims

import "strings"

// The judges of stories about replicas.

// judgeWait: a replica has the lock of A, and the new master grants it to B all the same.
func judgeWait(acts []*Record) Finding {
	master, promoted, all := acts[0], acts[1], acts[2]
	took, waited := master.command("A", "SET lock:a", 0), master.answer(master.command("A", "WAIT", 0))
	late, kept := master.answer(master.command("A", "WAIT", 1)), master.reply(master.command("A", "GET", 0))
	again, after := promoted.reply(promoted.command("B", "SET", 0)), all.reply(all.command("B", "SET", 0))
	safe := !granted(again)
	return Finding{
		Verdict: verdict(safe, safe),
		Facts: map[string]any{
			"waited": number(waited.Text), "granted_again": granted(again), "waited_all_again": granted(after),
			"waited_late": number(late.Text), "kept_late": strings.Contains(kept.Text, "token-A"),
		},
		Evidence: seqs(took, master.reply(took), master.command("A", "WAIT", 0), waited, master.command("A", "WAIT", 1),
			late, master.command("A", "GET", 0), kept),
		others: map[int][]int64{
			1: seqs(promoted.command("B", "SET", 0), again), 2: seqs(all.command("B", "SET", 0), after),
		},
	}
}

// answer is reply for a command that has to wait: what ends the wait.
func (r *Record) answer(x Event) Event {
	y := r.reply(x)
	if y.B != blocked {
		return y
	}
	return r.next(y, at("y"), func(e Event) bool { return e.Client == x.Client })
}

// blocked is field b of a reply: the command has to wait.
const blocked = 3

// judgeOldMaster measures by the lab's clock how long the old master has granted locks after the new one did.
func judgeOldMaster(acts []*Record) Finding {
	old, promoted := acts[0], acts[1]
	first, late, refused := old.command("A", "SET lock:first", 0), old.command("A", "SET lock:a", 0),
		old.command("A", "SET lock:late", 0)
	new := promoted.command("B", "SET lock:a", 0)
	after := int64(0)
	if granted(promoted.reply(new)) && granted(old.reply(late)) {
		after = (late.clock - first.clock) / 1000
	}
	code, _, _ := strings.Cut(plain(old.reply(refused)), " ")
	return Finding{
		Verdict: verdict(after == 0, after == 0),
		Facts: map[string]any{
			"granted_after_s": after, "refused_after_s": (refused.clock - first.clock) / 1000, "refused_with": code,
		},
		Evidence: seqs(first, old.reply(first), late, old.reply(late), refused, old.reply(refused)),
		others:   map[int][]int64{1: seqs(new, promoted.reply(new))},
	}
}

// judgeStaleRead: the replica says that the lock is free, and A has it.
func judgeStaleRead(acts []*Record) Finding {
	replica, master := acts[0], acts[1]
	took := master.command("A", "SET", 0)
	before, after := replica.reply(replica.command("C", "GET", 0)), replica.reply(replica.command("C", "GET", 1))
	stale := granted(master.reply(took)) && isNil(before)
	arrived := replica.all(at("x"), begins("SET lock:a"))
	return Finding{
		Verdict: verdict(!stale, !stale),
		Facts: map[string]any{
			"master_replied": plain(master.reply(took)), "replica_before": plain(before), "replica_after": plain(after),
		},
		Evidence: seqs(append(arrived, replica.command("C", "GET", 0), before, replica.command("C", "GET", 1), after)...),
		others:   map[int][]int64{1: seqs(took, master.reply(took))},
	}
}
