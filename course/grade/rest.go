package grade

import "time"

// resting begins to watch the threads of a program. The function that it returns reports whether they have
// slept since, but for what a runtime does from time to time. Where the system does not say, it reports false.
func (p *program) resting() (rested func() bool) {
	began, pids := time.Now(), p.processes()
	woken, known := look(pids)
	ran, _ := cpuOf(pids)
	return func() bool {
		now, _ := look(pids)
		run, _ := cpuOf(pids)
		took := time.Since(began)
		wakes := time.Duration(now.switches - woken.switches)
		return known && now.running == 0 && run-ran < took/40 && wakes < took/(10*time.Millisecond)
	}
}

// cpu returns how long all threads of a program have run.
func (p *program) cpu() (sum time.Duration, ok bool) { return cpuOf(p.processes()) }

func cpuOf(pids []int) (sum time.Duration, ok bool) {
	all, ok := efforts(pids)
	for _, e := range all {
		sum += time.Duration(e.cpu)
	}
	return sum, ok
}
