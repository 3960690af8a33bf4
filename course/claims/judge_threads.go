package claims

import (
	"fmt"
	"math"
	"runtime"
	"slices"
)

// The judges of stories about threads, and about what a command costs.

// ofClients selects events of clients at which bytes or commands moved.
func ofClients(e Event) bool { return e.Client > 0 && e.A > 0 }

func onMainThread(e Event) bool { return e.Thread == 0 }

// threadsAt returns how many threads met one of the points for the clients of the story.
func (r *Record) threadsAt(points string) int {
	threads := map[int]bool{}
	for _, e := range r.all(at(points), ofClients) {
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
		Evidence: seqs(byDefault.all(at("rxo"), ofClients)...),
		others:   map[int][]int64{1: seqs(doReads.all(at("rxo"), ofClients)...)},
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
	onMain := len(shown.all(at("r"), ofClients, onMainThread))
	reads, before := len(shown.all(at("r"), ofClients)), len(alone.all(at("r"), ofClients))
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

// judgeEight: one thread executes, and others read. That is so in Redis 8 with I/O threads as well, and its
// source says so. Here it is seen on this server.
func judgeEight(acts []*Record) Finding {
	r := acts[0]
	executing := map[int]bool{}
	for _, x := range r.all(at("x"), begins("INCR")) {
		executing[x.Thread] = true
	}
	reading := r.threadsAt("rp")
	return Finding{
		Verdict: verdict(len(executing) == 1, reading == 1),
		Facts: map[string]any{
			"executing_threads": len(executing), "reading_do_reads": reading, "writing": r.threadsAt("o"),
			"redis_8": "src/iothread.c: IOThreadMain", "valkey_8": "src/io_threads.c: IOThreadMain",
		},
		Evidence: seqs(r.all(at("rxo"), ofClients)...),
	}
}

// judgeGains counts system calls for sixteen commands. A pipeline has fewer of them. Threads have as many, on
// other threads.
func judgeGains(acts []*Record) Finding {
	facts := map[string]any{}
	calls, moved, others := [3]int{}, [3]int{}, map[int][]int64{}
	for i, name := range []string{"plain", "pipeline", "threads"} {
		all := acts[i].all(at("ro"), ofClients)
		calls[i], moved[i] = len(all), len(all)-len(acts[i].all(at("ro"), ofClients, onMainThread))
		facts["calls_"+name], facts["moved_"+name] = calls[i], moved[i]
		others[i] = seqs(all...)
	}
	sameCalls := (calls[1] < calls[0]) == (calls[2] < calls[0])
	sameThreads := (moved[1] > 0) == (moved[2] > 0)
	evidence := others[1]
	delete(others, 1)
	return Finding{Verdict: verdict(sameCalls, sameThreads), Facts: facts, Evidence: evidence, others: others}
}
