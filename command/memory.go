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
