package repl

// askNow asks the replicas for their offsets, also during a pause. The stream of a replica is that of its master.
func (r *replicas) askNow() {
	if r.Stream.Active && r.isTop() {
		r.feed([]byte(getAckRequest))
	}
}

// haveAll reports whether each replica has told that it has everything (server.c: isReadyToShutdown).
func (r *replicas) haveAll() bool {
	for _, c := range r.All {
		if !c.Closed && ReplicaOf(c).Acked != r.Stream.Offset {
			return false
		}
	}
	return true
}

// logLag says at the end of the server which replicas lack something (server.c: finishShutdown).
func (r *replicas) logLag() {
	lagging := 0
	for _, c := range r.All {
		rep := ReplicaOf(c)
		if rep.Acked == r.Stream.Offset {
			continue
		}
		lagging++
		seconds := int64(0)
		if rep.State == Online {
			seconds = r.lag(c)
		}
		r.s.Log('*', "Lagging replica %s reported offset %d behind master, lag=%d, state=%s.", r.name(c),
			r.Stream.Offset-rep.Acked, seconds, rep.State)
	}
	if len(r.All) > 0 {
		r.s.Log('*', "%d of %d replicas are in sync when shutting down.", len(r.All)-lagging, len(r.All))
	}
}
