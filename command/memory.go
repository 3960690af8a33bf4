package command

// maxmemory and maxmemory-clients count all memory that clients can make the server hold. This file
// counts what is neither in a key nor in the buffers of a connection.

// Bytes beside the content: headers, map entries and the rounding of allocations.
const (
	memWatch   = 128 // a watched key (multi.c: watchedKey)
	memQueue   = 128 // a key that clients wait for
	memPrefix  = 160 // a prefix of CLIENT TRACKING
	memEntry   = 192 // an entry of SLOWLOG or ACL LOG
	memReader  = 16  // an ID among the readers of a key
	memError   = 64  // an error code in INFO errorstats
	memListens = 48  // a subscription of a client
)

// SessionMem returns the bytes that s holds beside its connection's buffers.
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

// RequestMem returns the bytes of the request that s runs or is blocked in (CLIENT LIST: argv-mem).
func (ex *Executor) RequestMem(s *Session) (n int) {
	switch {
	case s == ex.running:
		for _, arg := range ex.calls[ex.Depth].Args {
			n += len(arg)
		}
	case s.Hold == Blocked && s.Wait != nil:
		n = len(s.Wait.bytes)
	}
	return n
}

// Kept returns the bytes outside of keys and clients.
func (ex *Executor) Kept() int {
	_, scripts, interpreter := ex.Scripts.Memory()
	_, _, functions, forFunctions := ex.Scripts.FunctionMemory()
	return scripts + interpreter + functions + forFunctions + ex.Subs.Mem() + ex.Waiters.bytes +
		ex.Tracking.mem() + ex.Users.Mem() + ex.ACLLog.Mem() + memError*len(ex.Stats.Errors) +
		ex.logs.slow.bytes + ex.logs.requests.bytes + ex.logs.replies.bytes
}
