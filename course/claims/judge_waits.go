package claims

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// The judges of stories about waiting: for sockets, for timers, and for a reply.

// judgeMultiplexers reads how many descriptors the wait for A's request has looked at.
func judgeMultiplexers(acts []*Record) Finding {
	facts, looked, others := map[string]any{"idle": idle}, map[string]int{}, map[int][]int64{}
	for i, name := range []string{"epoll", "poll", "select"} {
		looked[name] = acts[i].looked()
		facts["looked_"+name] = looked[name]
		get := acts[i].command("A", "GET", 0)
		pass := acts[i].all(at("ws"), func(e Event) bool { return e.Pass == get.Pass })
		others[i] = seqs(append(pass, get)...)
	}
	evidence := others[0]
	delete(others, 0)
	return Finding{
		Verdict: verdict(looked["epoll"] >= idle, looked["epoll"] >= idle), Facts: facts,
		Evidence: evidence, others: others,
	}
}

// judgeWays counts, for the passes that accept the sixteen and serve them: the system calls for waiting, and the
// descriptors that the last of these waits has looked at. CPU is a fact, and decides nothing.
func judgeWays(acts []*Record) Finding {
	facts := map[string]any{"idle": idle, "arrive": 16, "kernel": kernel()}
	fewestCalls, fewestLooks, others := true, true, map[int][]int64{}
	var epoll arrivals
	for i, name := range theWays() {
		if acts[i].Forbidden != "" {
			facts["forbidden"] = acts[i].Forbidden
			continue
		}
		got := acts[i].arrivals()
		if i == 0 {
			epoll = got
		}
		facts["waiting_"+name], facts["looked_"+name], facts["cpu_"+name] = got.calls, got.looked, round(acts[i].CPU)
		fewestCalls = fewestCalls && epoll.calls <= got.calls
		fewestLooks = fewestLooks && epoll.looked <= got.looked
		others[i] = got.evidence
	}
	evidence := others[0]
	delete(others, 0)
	return Finding{
		Verdict: verdict(fewestCalls, fewestLooks), Facts: facts, Evidence: evidence, others: others,
	}
}

// arrivals is what a server did for clients that arrived during the recording.
type arrivals struct {
	calls, looked int
	evidence      []int64
}

func (r *Record) arrivals() (a arrivals) {
	passes, ids := map[int64]bool{}, map[int64]bool{}
	for _, e := range r.all(at("ax")) {
		if e.is("a") {
			ids[e.Client] = true
		}
		if ids[e.Client] {
			passes[e.Pass] = true
		}
	}
	for _, e := range r.all(at("ws"), func(e Event) bool { return passes[e.Pass] }) {
		a.evidence = append(a.evidence, e.Seq)
		if e.is("s") {
			a.calls, a.looked = a.calls+e.counted("calls"), e.counted("looked")
		}
	}
	return a
}

// kernel names the system and, on Linux, its version.
func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return runtime.GOOS + " " + strings.TrimSpace(string(release))
}

// looked returns the number at the end of the pass that served A.
func (r *Record) looked() int {
	get := r.command("A", "GET", 0)
	for _, s := range r.all(at("s"), func(e Event) bool { return e.Pass == get.Pass }) {
		return s.counted("looked")
	}
	return 0
}

// counted returns a number of the text at the end of a pass, such as "looked=1 slots=0".
func (e Event) counted(name string) int {
	for _, word := range strings.Fields(e.Text) {
		if text, found := strings.CutPrefix(word, name+"="); found {
			return number(text)
		}
	}
	return 0
}

// judgeWheel adds up what the wheel looked at until the first two leases had expired. A wheel that walks over
// all timers at every tick would have looked at each of them once a second.
func judgeWheel(acts []*Record) Finding {
	r := acts[0]
	sets, expired := r.commands("A", "SET"), r.all(at("e"))
	begin := sets[0].clock
	timers, slots := 0, 0
	var turns []Event
	for _, s := range r.all(at("s"), between(sets[2], Event{})) {
		if s.clock > begin+5_001 {
			break
		}
		timers, slots = timers+s.counted("timers"), slots+s.counted("slots")
		if s.counted("slots") > 0 {
			turns = append(turns, s)
		}
	}
	first, second := 0, 0
	inTime := len(expired) > 1
	for _, e := range expired {
		if e.Text == "second" {
			second += int(e.A)
			inTime = inTime && e.clock == begin+13_001
			continue
		}
		first += int(e.A)
		inTime = inTime && e.clock == begin+5_001
	}
	walks := timers >= hours
	return Finding{
		Verdict: verdict(walks, walks || !inTime || first != 2 || second != 1),
		Facts: map[string]any{
			"timers": hours + len(sets), "wheel_slots": slots, "wheel_timers": timers, "after_5": first, "after_13": second,
		},
		Evidence: seqs(append(append(sets, turns...), expired...)...),
	}
}

// judgeStall compares the latencies of two clients that met the same stall. The text of a request says when it
// was due.
func judgeStall(acts []*Record) Finding {
	r := acts[0]
	begin := r.command("A", "GET", 0).clock
	late := func(name string) (ms []int64, all []Event) {
		all = r.commands(name, "GET")
		for _, x := range all {
			_, due, _ := strings.Cut(x.Text, ":")
			ms = append(ms, x.clock-begin-int64(number(due)))
		}
		slices.Sort(ms)
		return ms, all
	}
	closed, a := late("A")
	open, b := late("B")
	p99Closed, p99Open := percentile(closed, 99), percentile(open, 99)
	same := p99Closed >= p99Open/2
	last := a[len(a)-1]
	return Finding{
		Verdict: verdict(same, same),
		Facts: map[string]any{
			"stall_ms": int64(stall), "closed_requests": len(closed), "closed_p99": p99Closed, "open_requests": len(open),
			"open_p99": p99Open,
		},
		Evidence: seqs(append([]Event{last, r.reply(last)}, b[len(b)-8:]...)...),
	}
}

// percentile returns the smallest value that n of a hundred do not exceed. The values are sorted.
func percentile(sorted []int64, n int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(n*len(sorted)+99)/100-1]
}
