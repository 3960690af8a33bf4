package claims

import "strings"

// The judges of stories about locks.

// judgeExpire: the lock of a dead client is still held a year later.
func judgeExpire(acts []*Record) Finding {
	r := acts[0]
	took, closed := r.command("A", "SETNX", 0), r.all(at("c"), r.by("A"))
	later := r.command("B", "SETNX", 0)
	refused := r.reply(later)
	held := strings.HasPrefix(r.reply(took).Text, ":1") && strings.HasPrefix(refused.Text, ":0")
	doctor := ""
	for _, f := range r.Findings {
		if strings.HasPrefix(f, "owner-gone") {
			doctor = "owner-gone"
		}
	}
	evidence := append([]Event{took, r.reply(took)}, closed...)
	return Finding{
		Verdict: verdict(!held, !held),
		Facts: map[string]any{
			"still_held": held, "ttl": strings.TrimPrefix(plain(r.reply(r.command("B", "TTL", 0))), ":"), "doctor": doctor,
		},
		Evidence: seqs(append(evidence, later, refused)...),
	}
}

// judgeDelete counts the clients that believe in the lock at the end: those with OK whose lease runs.
func judgeDelete(acts []*Record) Finding {
	r := acts[0]
	plainly, byScript := r.believers("lock:a"), r.believers("lock:b")
	del := r.command("A", "DEL", 0)
	return Finding{
		Verdict: verdict(plainly == 1, plainly == 1),
		Facts:   map[string]any{"holders_del": plainly, "holders_script": byScript},
		Evidence: seqs(r.command("A", "SET lock:a", 0), r.all(at("e"))[0], r.command("B", "SET lock:a", 0), del,
			r.reply(del), r.command("C", "SET lock:a", 0), r.reply(r.command("C", "SET lock:a", 0))),
	}
}

// judgeCompare: a command without a script leaves the lock of another client, and deletes its own.
func judgeCompare(acts []*Record) Finding {
	old, redis, valkey := acts[0], acts[1], acts[2]
	refused, byScript := old.reply(old.command("A", "DELEX", 0)), old.reply(old.command("A", "EVAL", 0))
	scripts := len(redis.commands("A", "EVAL")) + len(valkey.commands("A", "EVAL"))
	needed := scripts > 0 || !redis.releasedBy("DELEX") && !valkey.releasedBy("DELIFEQ")
	code, _, _ := strings.Cut(refused.Text, ",")
	return Finding{
		Verdict: verdict(needed, needed),
		Facts: map[string]any{
			"old": code, "old_script": number(byScript.Text), "scripts": scripts,
			"holders_redis": redis.believers("lock:a"), "holders_valkey": valkey.believers("lock:a"),
		},
		Evidence: redis.twoReleases("DELEX"),
		others:   map[int][]int64{0: seqs(refused, byScript), 2: valkey.twoReleases("DELIFEQ")},
	}
}

// releasedBy reports whether a command left the lock of B to A, and deleted it for B.
func (r *Record) releasedBy(command string) bool {
	late, own := r.reply(r.command("A", command, 0)), r.reply(r.command("B", command, 0))
	return number(late.Text) == 0 && number(own.Text) == 1 && r.believers("lock:a") == 1
}

// twoReleases returns how A releases late and B in time, and what C gets between them.
func (r *Record) twoReleases(command string) []int64 {
	late, next, own := r.command("A", command, 0), r.command("C", "SET", 0), r.command("B", command, 0)
	return seqs(r.all(at("e"))[0], r.command("B", "SET", 0), late, r.reply(late), next, r.reply(next), own, r.reply(own))
}

// believers counts clients that were granted the lock between the end of its first lease and the end of
// the next one.
func (r *Record) believers(key string) (n int) {
	ends := append(r.all(at("e"), func(e Event) bool { return strings.Contains(e.Text, key) }), Event{}, Event{})
	for _, name := range []string{"A", "B", "C"} {
		for _, x := range r.commands(name, "SET "+key) {
			if between(ends[0], ends[1])(x) && granted(r.reply(x)) {
				n++
			}
		}
	}
	return n
}

// judgeUnlock: A works without the lock, and only one of the scripts tells it so.
func judgeUnlock(acts []*Record) Finding {
	r := acts[0]
	friendly, strict := r.command("A", "EVAL", 0), r.command("A", "EVAL", 1)
	late := 0
	for i, set := range r.commands("A", "SET stock") {
		if set.Seq > r.command("B", "SET lock:a", i).Seq {
			late++
		}
	}
	first, second := number(r.reply(friendly).Text), number(r.reply(strict).Text)
	told := first == 0 || late == 0
	return Finding{
		Verdict: verdict(told, told),
		Facts:   map[string]any{"friendly": first, "strict": second, "writes_late": late},
		Evidence: seqs(r.command("B", "SET lock:a", 0), r.command("A", "SET stock", 0), friendly, r.reply(friendly),
			strict, r.reply(strict)),
	}
}

// judgeRedlock: two majorities after a crash and after a jump, and a late write after a pause.
func judgeRedlock(acts []*Record) Finding {
	crash, jump, pause := acts[0], acts[1], acts[2]
	majorities := func(r *Record) int {
		for _, f := range r.Findings {
			if strings.HasPrefix(f, "two-holders") {
				return 2
			}
		}
		return 1
	}
	late, fenced := 0, 0
	for _, set := range pause.commands("A", "SET stock") {
		if set.Seq > pause.command("B", "SET stock", 0).Seq && granted(pause.reply(set)) {
			late++
		}
	}
	if x := pause.command("A", "EVAL", 0); !strings.HasPrefix(pause.reply(x).Text, "-STALE") {
		fenced++
	}
	return Finding{
		Verdict: verdict(majorities(crash) == 1 && majorities(jump) == 1, late == 0),
		Facts: map[string]any{
			"crash": majorities(crash), "jump": majorities(jump), "pause": late, "fenced": fenced,
		},
		Evidence: jump.twoGrants(),
		others:   map[int][]int64{0: crash.twoGrants(), 2: pause.writes()},
	}
}

// twoGrants returns how A and B got the lock on the watched master, and what expired there.
func (r *Record) twoGrants() []int64 {
	a, b := r.command("A", "SET", 0), r.command("B", "SET", 0)
	return seqs(append([]Event{a, r.reply(a), b, r.reply(b)}, r.all(at("e"))...)...)
}

// writes returns what A and B wrote, and the replies, without and with a fencing token.
func (r *Record) writes() (numbers []int64) {
	for _, name := range []string{"B", "A"} {
		for _, text := range []string{"SET stock", "EVAL"} {
			x := r.command(name, text, 0)
			numbers = append(numbers, seqs(x, r.reply(x))...)
		}
	}
	return numbers
}

// judgeWatchdog measures by the lab's clock, which every stop shows.
func judgeWatchdog(acts []*Record) Finding {
	r := acts[0]
	renewals := r.commands("A", "EVAL")
	held, every := 0, int64(0)
	var last, told Event
	for i, x := range renewals {
		if number(r.reply(x).Text) != 1 {
			told = r.reply(x)
			continue
		}
		held, last = held+1, x
		if i > 0 {
			every = (x.clock - renewals[i-1].clock) / 1000
		}
	}
	var lost Event
	if expired := r.all(at("e"), begins("lock:a")); len(expired) > 0 {
		lost = expired[0]
	}
	next := r.command("B", "SET", 1)
	alwaysHeld := lost.Seq == 0 || !granted(r.reply(next))
	return Finding{
		Verdict: verdict(every == lease/3/1000 && held > 1, alwaysHeld),
		Facts: map[string]any{
			"renewals": held, "every_s": every,
			"lost_after_s": (lost.clock - last.clock) / 1000, "told_after_s": (told.clock - last.clock) / 1000,
		},
		Evidence: seqs(append(append([]Event{}, renewals...), lost, next, r.reply(next), told)...),
	}
}
