package command

// What outlives a command and is neither a key nor in a buffer: this is counted here, so that
// maxmemory and maxmemory-clients see all that clients can make the server keep.

// Bytes around what is kept: headers, map entries, and what allocations are rounded up by.
const (
	memWatch   = 128 // a watched key (multi.c: watchedKey)
	memQueue   = 128 // a key that clients wait for
	memPrefix  = 160 // a prefix of CLIENT TRACKING
	memEntry   = 192 // an entry of SLOWLOG or ACL LOG
	memReader  = 16  // the name of a client among those who have read a key
	memError   = 64  // a kind of errors in INFO
	memListens = 48  // a name that one client listens to
)

// SessionMem is the bytes that s holds beside its buffers.
func (ex *Executor) SessionMem(s *Session) int {
	n := len(s.Addr) + len(s.Name) + len(s.LibName) + len(s.LibVer)
	if s.Tx != nil {
		n += s.Tx.Mem()
	}
	if s.Wait != nil {
		n += s.Wait.Mem()
	}
	if s.Tracker != nil {
		n += s.Tracker.bytes
	}
	if s.Subscriber {
		n += memListens * ex.Subs.Total(s)
	}
	return n
}

// RequestMem is the bytes of the request that s runs, or is blocked in (CLIENT LIST: argv-mem).
func (ex *Executor) RequestMem(s *Session) (n int) {
	switch {
	case s == ex.running:
		for _, arg := range ex.call.Args {
			n += len(arg)
		}
	case s.Hold == Blocked && s.Wait != nil:
		n = len(s.Wait.bytes)
	}
	return n
}

// Kept is the bytes outside of keys and clients.
func (ex *Executor) Kept() int {
	_, scripts, interpreter := ex.ScriptMemory()
	_, _, functions, forFunctions := ex.FunctionMemory()
	t := &ex.trackers
	return scripts + interpreter + functions + forFunctions + ex.Subs.Mem() + ex.waiters.bytes +
		t.readers.Mem() + memReader*t.items + t.changed + ex.Users.Mem() + ex.ACLLog.Mem() + ex.slowlog.bytes +
		memError*len(ex.Errors)
}
