package claims

// The judges of stories about the append only file.

// judgeAlways: what was acknowledged survives a power cut. A bit that changes on the disk is loaded all the same.
func judgeAlways(acts []*Record) Finding {
	always, everySec, flipped := acts[0], acts[1], acts[2]
	took := always.command("A", "SET", 0)
	synced, sent := always.next(took, at("d"), is(appendedSynced)), always.next(took, at("o"), always.by("A"))
	first := synced.Seq != 0 && synced.Seq < sent.Seq
	release := flipped.reply(flipped.command("A2", "EVAL", 0))
	kept := always.survivors()
	return Finding{
		Verdict: verdict(first && kept == 1, number(release.Text) == 1),
		Facts: map[string]any{
			"fsync_first": first, "kept_always": kept, "kept_everysec": everySec.survivors(),
			"released_after_flip": number(release.Text),
		},
		Evidence: always.powerCut(),
		others:   map[int][]int64{1: everySec.powerCut(), 2: append(flipped.powerCut(), seqs(release)...)},
	}
}

// Field b of an append to the file: all of it is on the disk.
const appendedSynced = 1

func is(b int64) func(Event) bool { return func(e Event) bool { return e.B == b } }

// next returns the first event behind another one that meets every condition.
func (r *Record) next(behind Event, conditions ...func(Event) bool) Event {
	for _, e := range r.all(conditions...) {
		if behind.Seq != 0 && e.Seq > behind.Seq {
			return e
		}
	}
	return Event{}
}

// survivors counts the holders of the lock of A after the power cut whom the server knows: B is refused.
func (r *Record) survivors() int {
	if y := r.reply(r.command("B", "SET lock:a", 0)); y.Seq != 0 && isNil(y) {
		return 1
	}
	return 0
}

// powerCut returns how A got the lock, what was written and fsynced, the power cut, and what B got.
func (r *Record) powerCut() []int64 {
	took, cut, next := r.command("A", "SET lock:a", 0), r.cut(), r.command("B", "SET lock:a", 0)
	events := []Event{took, r.reply(took), r.next(took, at("o"), r.by("A")), cut, next, r.reply(next)}
	return seqs(append(events, r.all(at("d"), between(took, cut))...)...)
}

// cut returns the power cut.
func (r *Record) cut() Event { return r.next(r.command("A", "SET", 0), at("x"), begins("LAB CRASH")) }

// timeBefore returns the lab's time when an event came. A crash ends the stops, so it has no time of its own.
func (r *Record) timeBefore(e Event) (clock int64) {
	for _, other := range r.Events {
		if other.Seq < e.Seq && other.clock != 0 {
			clock = other.clock
		}
	}
	return clock
}

// judgeEverySec measures how old the oldest acknowledged lock was that a power cut has lost, by the lab's clock.
func judgeEverySec(acts []*Record) Finding {
	facts, others, most := map[string]any{}, map[int][]int64{}, int64(0)
	for i, name := range []string{"lost_ms_quick", "lost_ms_second", "lost_ms_three"} {
		r := acts[i]
		got := r.reply(r.command("A", "SET lock:a", 0))
		lost := int64(0)
		if r.survivors() == 0 {
			lost = r.timeBefore(r.cut()) - got.clock
		}
		facts[name], others[i], most = lost, r.powerCut(), max(most, lost)
	}
	evidence := others[1]
	delete(others, 1)
	return Finding{Verdict: verdict(most <= 1000, most <= 1000), Facts: facts, Evidence: evidence, others: others}
}

// judgeBack: a lock that was released is held again after the power cut.
func judgeBack(acts []*Record) Finding {
	everySec, always := acts[0], acts[1]
	back := everySec.survivors()
	left := everySec.reply(everySec.command("B", "PTTL", 0))
	return Finding{
		Verdict: verdict(back == 0, back == 0),
		Facts: map[string]any{
			"back_everysec": back, "back_always": always.survivors(), "left_ms": number(left.Text),
		},
		Evidence: append(everySec.released(), seqs(left)...),
		others:   map[int][]int64{1: always.released()},
	}
}

// released adds the release of A to what powerCut returns.
func (r *Record) released() []int64 {
	release := r.command("A", "EVAL", 0)
	return append(r.powerCut(), seqs(release, r.reply(release))...)
}
