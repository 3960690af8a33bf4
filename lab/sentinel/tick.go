package sentinel

import (
	"fmt"
	"math"
)

// Tick looks at all instances (sentinel.c: sentinelHandleDictOfRedisInstances). Time never goes back.
func (s *Sentinel) Tick(now int64) {
	s.now = max(s.now, now)
	for _, m := range s.Masters {
		s.handle(m)
		for _, in := range m.Replicas {
			s.handle(in)
		}
		for _, in := range m.Others {
			s.handle(in)
		}
		if m.state == UpdateConfig {
			s.switchToPromoted(m)
		}
	}
}

// handle does what is due for an instance (sentinel.c: sentinelHandleRedisInstance).
func (s *Sentinel) handle(in *Instance) {
	s.call(in)
	s.checkSDown(in)
	if in.Kind != Master {
		return
	}
	s.checkODown(in)
	forced := s.startIfNeeded(in)
	s.advanceFailover(in)
	s.askOthers(in, forced)
}

// call sends PING, INFO and a hello (sentinel.c: sentinelSendPeriodicCommands, sentinelReconnectInstance). What is not
// connected gets a PING alone, which connects.
func (s *Sentinel) call(in *Instance) {
	c := Call{Ping: s.now >= s.pingDue(in)}
	if c.Ping {
		in.asked = s.now
		if in.unheard == 0 {
			in.unheard = s.now
		}
	}
	if s.infoDue(in) && (c.Ping || !in.has(Disconnected)) {
		c.Info, in.inquired = true, s.now
	}
	if s.now-in.published >= s.Periods.Publish && !in.has(Disconnected) {
		c.Hello = s.hello(in)
		in.published = s.now
	}
	if c.Ping || c.Info || c.Hello != "" {
		s.send(in, c)
	}
}

// send adds a call, or adds to the one that the instance gets now.
func (s *Sentinel) send(in *Instance, c Call) {
	c.To, c.Addr = in, in.Addr
	s.calls = append(s.calls, c)
}

func (s *Sentinel) pingDue(in *Instance) int64 {
	if in.asked == 0 {
		return 0
	}
	return in.asked + min(in.downAfter, s.Periods.Ping)
}

// infoDue reports whether the last INFO is too old. One without an answer is asked for again after a second.
func (s *Sentinel) infoDue(in *Instance) bool {
	switch {
	case in.Kind == Other, in.inquired != 0 && s.now-in.inquired < min(1000, s.Periods.Info):
		return false
	}
	return in.informed == 0 || s.now-in.informed >= s.infoPeriod(in)
}

func (s *Sentinel) infoPeriod(in *Instance) int64 {
	if in.Kind == Replica && (in.of.has(ODown|Failover) || in.linkDown != 0) {
		return min(1000, s.Periods.Info)
	}
	return s.Periods.Info
}

// hello is the message to an instance (sentinel.c: sentinelSendHello).
func (s *Sentinel) hello(in *Instance) string {
	m := in
	if in.of != nil {
		m = in.of
	}
	at := m.MasterAddr()
	host, port := s.Addr.Host, s.Addr.Port
	if s.Global.AnnounceIP != "" {
		host = s.Global.AnnounceIP
	}
	if s.Global.AnnouncePort != 0 {
		port = s.Global.AnnouncePort
	}
	return fmt.Sprintf("%s,%d,%s,%d,%s,%s,%d,%d", host, port, s.ID, s.Epoch, m.Name, at.Host, at.Port, m.ConfigEpoch)
}

// checkSDown sets or clears SDown (sentinel.c: sentinelCheckSubjectivelyDown).
func (s *Sentinel) checkSDown(in *Instance) {
	elapsed := int64(0)
	switch {
	case in.unheard != 0:
		elapsed = s.now - in.unheard
	case in.has(Disconnected):
		elapsed = s.now - in.available
	}
	wrongRole := in.Kind == Master && in.role == Replica &&
		s.now-in.roleSince > in.downAfter+2*s.Periods.Info
	reboots := in.has(Rebooted) && s.now-in.rebooted > in.rebootMs
	switch isDown := elapsed > in.downAfter || wrongRole || reboots; {
	case isDown && !in.has(SDown):
		s.event('#', "+sdown", in, "")
		in.sDownSince = s.now
		in.Flags |= SDown
	case !isDown && in.has(SDown):
		s.event('#', "-sdown", in, "")
		in.Flags &^= SDown | KillSent
	}
}

// checkODown sets or clears ODown (sentinel.c: sentinelCheckObjectivelyDown).
func (s *Sentinel) checkODown(m *Instance) {
	votes := int64(0)
	if m.has(SDown) {
		votes = 1
		for _, in := range m.Others {
			if in.has(MasterDown) {
				votes++
			}
		}
	}
	switch isDown := votes > 0 && votes >= m.Quorum; {
	case isDown && !m.has(ODown):
		s.event('#', "+odown", m, fmt.Sprintf(" #quorum %d/%d", votes, m.Quorum))
		m.Flags |= ODown
		m.oDownSince = s.now
	case !isDown && m.has(ODown):
		s.event('#', "-odown", m, "")
		m.Flags &^= ODown
	}
}

// askOthers asks the other Sentinels whether the master is down, and for their vote (sentinel.c:
// sentinelAskMasterStateToOtherSentinels).
func (s *Sentinel) askOthers(m *Instance, forced bool) {
	for _, in := range m.Others {
		if s.now-in.told > 5*s.Periods.Ask {
			in.Flags &^= MasterDown
			in.leader = ""
		}
		if !m.has(SDown) || in.has(Disconnected) || !forced && s.now-in.told < s.Periods.Ask {
			continue
		}
		who := "*"
		if m.state > NoFailover {
			who = s.ID
		}
		s.send(in, Call{Down: &Down{Master: m.Addr, Epoch: s.Epoch, RunID: who}})
	}
}

// Next is the time at which Tick has something to do.
func (s *Sentinel) Next() int64 {
	next := s.now + min(s.Periods.Ping, s.Periods.Publish)
	s.all(func(in *Instance) {
		if in.Kind == Master && (in.has(SDown | ODown | Failover)) {
			next = min(next, s.now+tick)
		}
		next = min(next, s.pingDue(in), s.downDue(in))
	})
	return max(next, s.now+1)
}

// downDue is when an instance is down that does not answer.
func (s *Sentinel) downDue(in *Instance) int64 {
	switch {
	case in.has(SDown):
		return math.MaxInt64
	case in.has(Rebooted):
		return in.rebooted + in.rebootMs + 1
	case in.unheard != 0:
		return in.unheard + in.downAfter + 1
	}
	return math.MaxInt64
}

// Forever is the time of something that will not happen.
const Forever = math.MaxInt64

// CalmUntil returns the time in ms at which something may happen by itself, while all nodes and other Sentinels stay as
// they are. That is Forever while all is well. If it is not above Now, the next Tick may be the one.
func (s *Sentinel) CalmUntil() int64 {
	until := int64(Forever)
	s.all(func(in *Instance) { until = min(until, s.calmUntil(in)) })
	return until
}

func (s *Sentinel) calmUntil(in *Instance) int64 {
	switch {
	case in.has(Failover | Rebooted | ReconfSent | ReconfInProgress), in.asked == 0:
		return s.now
	case in.Kind == Master && in.has(SDown) && s.now-s.changed <= s.settling(): // others may have news for it
		return s.now
	case in.Kind == Master && in.has(ODown): // no replica was fit, or nobody was elected
		return in.begun + 2*in.timeout
	case in.Kind == Other && in.has(MasterDown) && in.has(SDown|Disconnected) && s.now-in.told <= 5*s.Periods.Ask:
		return s.now // what it has said is forgotten soon
	case in.has(SDown): // it stays down
		return Forever
	case in.unheard != 0:
		return s.now
	case in.Kind == Other, in.Kind == Replica && in.of.has(SDown): // it gets no orders
		return Forever
	case in.informed == 0, in.role != in.Kind, in.Kind == Replica && in.follows != in.of.MasterAddr():
		return s.now
	}
	return Forever
}

// settling is how long it takes until all Sentinels have told each other what they think of a master.
func (s *Sentinel) settling() int64 { return 2*s.Periods.Ask + s.Periods.Publish }

// Skip lets time pass in which nothing has happened.
func (s *Sentinel) Skip(ms int64) {
	s.now += ms
	s.all(func(in *Instance) {
		for _, at := range []*int64{&in.asked, &in.unheard, &in.available, &in.answered, &in.published, &in.greeted,
			&in.told, &in.informed, &in.inquired} {
			if *at != 0 && !(in.has(SDown) && at != &in.asked) {
				*at += ms
			}
		}
	})
}

// Probe makes the next Tick ask everybody for everything.
func (s *Sentinel) Probe() {
	s.all(func(in *Instance) { in.asked, in.informed, in.inquired, in.published = 0, 0, 0, 0 })
}
