package sentinel

import (
	"fmt"
	"maps"
	"slices"
)

// A failover, from state to state. Each Tick takes one step (sentinel.c: sentinelFailoverStateMachine):
//
//	ODown ──> WaitStart ──> SelectReplica ──> SendNoOne ──> WaitPromotion ──> ReconfReplicas ──> UpdateConfig
//	          votes         by byWorth        SLAVEOF       INFO says          the others        SLAVEOF
//	                                          NO ONE        master             follow            +switch-master

// startIfNeeded begins a failover of a master that is down, unless one began too little time ago (sentinel.c:
// sentinelStartFailoverIfNeeded).
func (s *Sentinel) startIfNeeded(m *Instance) (begun bool) {
	if !m.has(ODown) || m.has(Failover) || m.begun != 0 && s.now-m.begun < 2*m.timeout {
		return false
	}
	s.start(m)
	return true
}

func (s *Sentinel) start(m *Instance) {
	s.Epoch++
	m.state, m.stateSince, m.epoch = WaitStart, s.now, s.Epoch
	m.Flags |= Failover
	s.say('#', "+new-epoch", fmt.Sprint(s.Epoch))
	s.event('#', "+try-failover", m, "")
	m.begun = s.desync()
}

func (s *Sentinel) desync() int64 { return s.now + s.chance.Int64N(maxDesync) }

func (s *Sentinel) advanceFailover(m *Instance) {
	if !m.has(Failover) {
		return
	}
	switch m.state {
	case WaitStart:
		s.waitStart(m)
	case SelectReplica:
		s.selectReplica(m)
	case SendNoOne:
		s.sendNoOne(m)
	case WaitPromotion:
		if s.now-m.stateSince > m.timeout {
			s.event('#', "-failover-abort-slave-timeout", m, "")
			s.abort(m)
		}
	case ReconfReplicas:
		s.reconfReplicas(m)
		s.detectEnd(m)
	}
}

func (s *Sentinel) enter(m *Instance, st State) { m.state, m.stateSince = st, s.now }

// Vote is the answer to a Sentinel that wants to lead a failover in an epoch. The first who asks in an epoch gets the
// vote (sentinel.c: sentinelVoteLeader).
func (s *Sentinel) Vote(m *Instance, epoch int64, who string) (leader string, of int64) {
	s.raiseEpoch(epoch)
	if m.leaderEpoch < epoch && s.Epoch <= epoch {
		m.leader, m.leaderEpoch = who, s.Epoch
		s.say('#', "+vote-for-leader", fmt.Sprintf("%s %d", who, s.Epoch))
		if who != s.ID {
			m.begun = s.desync() // no failover of its own for a while
		}
	}
	return m.leader, m.leaderEpoch
}

// leaderOf counts the votes of an epoch, with an own one (sentinel.c: sentinelGetLeader). "" is no leader.
func (s *Sentinel) leaderOf(m *Instance, epoch int64) string {
	votes := map[string]int64{}
	for _, in := range m.Others {
		if in.leader != "" && in.leaderEpoch == s.Epoch {
			votes[in.leader]++
		}
	}
	own, of := s.Vote(m, epoch, most(votes, s.ID))
	if own != "" && of == epoch {
		votes[own]++
	}
	winner := most(votes, "")
	if n := votes[winner]; n < int64(len(m.Others)+1)/2+1 || n < m.Quorum {
		return ""
	}
	return winner
}

// most returns who has the most votes, the first by name of several, otherwise if nobody has any.
func most(votes map[string]int64, otherwise string) string {
	who := otherwise
	for _, id := range slices.Sorted(maps.Keys(votes)) {
		if votes[id] > votes[who] {
			who = id
		}
	}
	return who
}

func (s *Sentinel) waitStart(m *Instance) {
	if s.leaderOf(m, m.epoch) != s.ID && !m.has(Forced) {
		if s.now-m.begun > min(s.Periods.Election, m.timeout) {
			s.event('#', "-failover-abort-not-elected", m, "")
			s.abort(m)
		}
		return
	}
	s.event('#', "+elected-leader", m, "")
	s.crashIf(AfterElection)
	s.enter(m, SelectReplica)
	s.event('#', "+failover-state-select-slave", m, "")
}

// best returns the replica to promote, nil for none (sentinel.c: sentinelSelectSlave).
func (s *Sentinel) best(m *Instance) *Instance {
	longest, fresh := 10*m.downAfter, 3*s.Periods.Info
	if m.has(SDown) {
		longest += s.now - m.sDownSince
		fresh = 5 * s.Periods.Ping
	}
	var best *Instance
	for _, in := range m.Replicas {
		fit := !in.has(SDown|ODown|Disconnected) && s.now-in.available <= 5*s.Periods.Ping && in.priority != 0 &&
			s.now-in.informed <= fresh && in.linkDown <= longest
		if fit && (best == nil || byWorth(in, best) < 0) {
			best = in
		}
	}
	return best
}

func (s *Sentinel) selectReplica(m *Instance) {
	in := s.best(m)
	if in == nil {
		s.event('#', "-failover-abort-no-good-slave", m, "")
		s.abort(m)
		return
	}
	s.event('#', "+selected-slave", in, "")
	in.Flags |= Promoted
	m.promoted = in
	s.enter(m, SendNoOne)
	s.event('*', "+failover-state-send-slaveof-noone", in, "")
}

func (s *Sentinel) sendNoOne(m *Instance) {
	if m.promoted.has(Disconnected) {
		if s.now-m.stateSince > m.timeout {
			s.event('#', "-failover-abort-slave-timeout", m, "")
			s.abort(m)
		}
		return
	}
	s.follow(m.promoted, Addr{})
	s.event('*', "+failover-state-wait-promotion", m.promoted, "")
	s.enter(m, WaitPromotion)
}

// wasPromoted continues once INFO of the new master says so.
func (s *Sentinel) wasPromoted(in *Instance) {
	m := in.of
	m.ConfigEpoch = m.epoch
	s.enter(m, ReconfReplicas)
	s.event('#', "+promoted-slave", in, "")
	s.crashIf(AfterPromotion)
	s.event('#', "+failover-state-reconf-slaves", m, "")
	m.published = 0
	for _, in := range slices.Concat(m.Replicas, m.Others) {
		in.published = 0
	}
}

// reconfReplicas makes the other replicas follow the new master, parallel-syncs at a time (sentinel.c:
// sentinelFailoverReconfNextSlave).
func (s *Sentinel) reconfReplicas(m *Instance) {
	under := int64(0)
	for _, in := range m.Replicas {
		if in.has(ReconfSent | ReconfInProgress) {
			under++
		}
	}
	for _, in := range m.Replicas {
		if in.has(ReconfSent) && s.now-in.reconfigured > s.Periods.ReconfTimeout {
			s.event('*', "-slave-reconf-sent-timeout", in, "")
			in.Flags = in.Flags&^ReconfSent | ReconfDone
			under--
		}
		if under >= m.parallel || in.has(Promoted|ReconfDone|ReconfSent|ReconfInProgress|Disconnected) {
			continue
		}
		s.sendReconf(m, in, "+slave-reconf-sent")
		in.reconfigured = s.now
		under++
	}
}

func (s *Sentinel) sendReconf(m, in *Instance, what string) {
	s.follow(in, m.promoted.Addr)
	in.Flags |= ReconfSent
	s.event('*', what, in, "")
}

// detectEnd ends a failover once all replicas that can be reached follow the new master (sentinel.c:
// sentinelFailoverDetectEnd).
func (s *Sentinel) detectEnd(m *Instance) {
	if m.promoted.has(SDown) {
		return
	}
	late := s.now-m.stateSince > m.timeout
	missing := slices.ContainsFunc(m.Replicas, func(in *Instance) bool { return !in.has(Promoted | ReconfDone | SDown) })
	if late {
		s.event('#', "+failover-end-for-timeout", m, "")
	}
	if missing && !late {
		return
	}
	s.event('#', "+failover-end", m, "")
	s.enter(m, UpdateConfig)
	for _, in := range m.Replicas {
		if late && !in.has(Promoted|ReconfDone|ReconfSent|Disconnected) {
			s.sendReconf(m, in, "+slave-reconf-sent-be")
		}
	}
}

// abort is sentinel.c: sentinelAbortFailover.
func (s *Sentinel) abort(m *Instance) {
	m.Flags &^= Failover | Forced
	s.enter(m, NoFailover)
	if m.promoted != nil {
		m.promoted.Flags &^= Promoted
		m.promoted = nil
	}
}

func (s *Sentinel) crashIf(at Crash) {
	if s.Crashes&at != 0 {
		s.events = append(s.events, Event{Level: '#', Crash: true,
			Text: "Sentinel CRASH because of SENTINEL simulate-failure"})
	}
}

func (s *Sentinel) switchToPromoted(m *Instance) { s.SwitchTo(m, m.promoted.Addr) }

// Adopt makes another address that of the master, as a failover has that somebody else has led.
func (s *Sentinel) Adopt(m *Instance, to Addr) {
	s.raiseEpoch(s.Epoch + 1)
	m.ConfigEpoch = s.Epoch
	if m.Addr != to {
		s.SwitchTo(m, to)
	}
}

// SwitchTo makes another address that of the master, and tells subscribers of it (sentinel.c:
// sentinelFailoverSwitchToPromotedSlave, sentinelResetMasterAndChangeAddress). The old master becomes a replica.
func (s *Sentinel) SwitchTo(m *Instance, to Addr) {
	from := m.Addr
	s.say('#', "+switch-master", fmt.Sprintf("%s %s %d %s %d", m.Name, from.Host, from.Port, to.Host, to.Port))
	var replicas []Addr
	for _, in := range m.Replicas {
		if in.Addr != to {
			replicas = append(replicas, in.Addr)
		}
	}
	if from != to {
		replicas = append(replicas, from)
	}
	s.reset(m)
	m.Addr, m.sDownSince, m.oDownSince = to, 0, 0
	for _, addr := range replicas {
		s.event('*', "+slave", s.AddReplica(m, addr), "")
	}
}

// reset forgets what a master had, without its other Sentinels (sentinel.c: sentinelResetMaster).
func (s *Sentinel) reset(m *Instance) {
	m.Replicas, m.Flags, m.leader, m.state, m.stateSince, m.begun, m.promoted = nil, 0, "", NoFailover, 0, 0, nil
	m.RunID, m.follows, m.role, m.roleSince = "", Addr{}, Master, s.now
	m.asked, m.unheard, m.available, m.answered = 0, s.now, s.now, s.now
	m.informed, m.inquired = 0, 0
}
