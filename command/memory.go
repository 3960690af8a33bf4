package command

// makeRoom evicts keys until the data fits maxmemory, and tells whether it does
// (evict.c: performEvictions).
func (ex *Executor) makeRoom() bool {
	if int64(ex.KS.Bytes()+ex.Overhead) <= ex.KS.MaxMemory {
		return true
	}
	fits := ex.evict()
	if ex.Cfg.LatencyMonitorThreshold > 0 {
		ex.NoteLatency("eviction-cycle", ex.Clock.Mono()-ex.mono)
	}
	return fits
}

// findMemory makes room at the start of a command and tells, and notes for the whole of
// it, when there is none (server.h: pre_command_oom_state).
func (ex *Executor) findMemory() (lacking bool) {
	ex.oom = !ex.makeRoom()
	return ex.oom
}

// lacksMemory is findMemory for a command inside the one that has asked.
func (ex *Executor) lacksMemory() bool { return ex.KS.MaxMemory > 0 && ex.oom }

func (ex *Executor) evict() bool {
	for int64(ex.KS.Bytes()+ex.Overhead) > ex.KS.MaxMemory {
		if !ex.KS.EvictOne(ex.KS.Policy, ex.Cfg.MaxMemorySamples) {
			return false
		}
	}
	return true
}

// debugAllowed tells whether enable-debug-command lets this client in.
func (ex *Executor) debugAllowed(s *Session) bool {
	return ex.Cfg.EnableDebugCommand == "yes" || ex.Cfg.EnableDebugCommand == "local" && s.Local
}
