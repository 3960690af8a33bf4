package glass

import "time"

// A pass ends after some microseconds, and then its readers hear of it. A slow command, an endless script or a slow
// disk keeps a pass from its end, and main can tell nobody: it is the one that is kept. So a clock looks after it.

// patience is how long a pass may last before readers hear that it lasts.
const patience = 150 * time.Millisecond

// attend lets a goroutine look at this pass later, if none will do so already. Main calls it at the begin of a pass,
// and each new reader: the pass may have begun before.
func (v *View) attend() {
	if v.attended.CompareAndSwap(false, true) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.lookLater()
	}
}

// lookLater looks again after patience. The caller holds mu.
func (v *View) lookLater() {
	pass, turns := v.pass.Load(), v.gate.turns
	time.AfterFunc(patience, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.sleeping.Load() || len(v.news.readers) == 0 {
			v.attended.Store(false)
			// A pass that has begun since was told that somebody attends.
			if !v.sleeping.Load() && len(v.news.readers) > 0 && v.attended.CompareAndSwap(false, true) {
				v.lookLater()
			}
			return
		}
		if pass == v.pass.Load() && turns == v.gate.turns && v.gate.runs() {
			v.long = pass
			v.flush()
			v.tellState()
		}
		v.lookLater()
	})
}

// isBusy reports whether the pass under way lasts, and is not kept by the gate. The caller holds mu.
func (v *View) isBusy() bool {
	return v.long > 0 && v.long == v.pass.Load() && !v.sleeping.Load() && v.gate.runs()
}
