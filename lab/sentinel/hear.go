package sentinel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// isStale reports whether a call went to an address that the instance no longer has.
func (c *Call) isStale() bool { return c.To.Addr != c.Addr }

// Ponged is the answer to a PING, without its first byte (sentinel.c: sentinelPingReplyCallback).
func (s *Sentinel) Ponged(c Call, reply string) {
	in := c.To
	if c.isStale() {
		return
	}
	in.Flags &^= Disconnected
	in.answered = s.now
	switch {
	case strings.HasPrefix(reply, "PONG"), strings.HasPrefix(reply, "LOADING"), strings.HasPrefix(reply, "MASTERDOWN"):
		in.available, in.unheard = s.now, 0
		if strings.HasPrefix(reply, "PONG") {
			in.Flags &^= Rebooted
		}
	case strings.HasPrefix(reply, "BUSY") && in.has(SDown) && !in.has(KillSent):
		in.Flags |= KillSent
		s.send(in, Call{Kill: true})
	}
}

// Refused says that an instance takes no connection, or has closed it.
func (s *Sentinel) Refused(c Call) {
	if !c.isStale() {
		c.To.Flags |= Disconnected
	}
}

// Cut notes that the connections to an address have closed: the next Tick tries to connect again. A call that has no
// answer yet is the one that counts.
func (s *Sentinel) Cut(addr Addr) {
	s.all(func(in *Instance) {
		if in.Addr == addr && !in.has(Disconnected) {
			in.asked = 0
		}
	})
}

// Replied is the answer of another Sentinel to a question (sentinel.c: sentinelReceiveIsMasterDownReply). leader is "*"
// without a vote.
func (s *Sentinel) Replied(c Call, isDown bool, leader string, epoch int64) {
	in := c.To
	if c.isStale() {
		return
	}
	in.told = s.now
	in.Flags &^= MasterDown
	if isDown {
		in.Flags |= MasterDown
	}
	if leader == "*" {
		return
	}
	if in.leaderEpoch != epoch {
		s.events = append(s.events, Event{Level: '*', Text: fmt.Sprintf("%s voted for %s %d", in.Name, leader, epoch)})
	}
	in.leader, in.leaderEpoch = leader, epoch
}

// Heard is a hello of another Sentinel (sentinel.c: sentinelProcessHelloMessage). What is no hello, and its own, has no
// effect.
func (s *Sentinel) Heard(message string) {
	word := strings.Split(message, ",")
	if len(word) != 8 || word[2] == s.ID {
		return
	}
	m := s.Master(word[4])
	if m == nil {
		return
	}
	from := Addr{word[0], atoi(word[1])}
	at := slices.IndexFunc(m.Others, func(in *Instance) bool { return in.RunID == word[2] && in.Addr == from })
	if at < 0 {
		s.meet(m, word[2], from)
		at = len(m.Others) - 1
	}
	in := m.Others[at]
	s.raiseEpoch(int64(atoi(word[3])))
	if epoch := int64(atoi(word[7])); m.ConfigEpoch < epoch {
		m.ConfigEpoch = epoch
		if to := (Addr{word[5], atoi(word[6])}); to != m.Addr {
			s.event('#', "+config-update-from", in, "")
			s.SwitchTo(m, to)
		}
	}
	in.greeted = s.now
}

// meet adds a Sentinel that was not known at this address.
func (s *Sentinel) meet(m *Instance, id string, addr Addr) {
	moved := slices.ContainsFunc(m.Others, func(in *Instance) bool { return in.RunID == id })
	m.Others = slices.DeleteFunc(m.Others, func(in *Instance) bool { return in.RunID == id })
	for _, in := range m.Others {
		if in.Addr == addr {
			s.event('*', "+sentinel-invalid-addr", in, "")
			m.Others = slices.DeleteFunc(m.Others, func(o *Instance) bool { return o == in })
			break
		}
	}
	in := s.AddOther(m, id, addr)
	if moved {
		s.event('*', "+sentinel-address-switch", m, fmt.Sprintf(" ip %s port %d for %s", addr.Host, addr.Port, id))
	} else {
		s.event('*', "+sentinel", in, "")
	}
}

func (s *Sentinel) raiseEpoch(epoch int64) {
	if epoch > s.Epoch {
		s.Epoch = epoch
		s.say('#', "+new-epoch", strconv.FormatInt(epoch, 10))
	}
}

// Informed is the answer to INFO (sentinel.c: sentinelRefreshInstanceInfo).
func (s *Sentinel) Informed(c Call, info string) {
	in := c.To
	if c.isStale() {
		return
	}
	in.Info, in.linkDown = info, 0
	role := Kind(0)
	host, port := in.follows.Host, in.follows.Port
	for line := range strings.SplitSeq(info, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		switch {
		case name == "run_id":
			s.identify(in, value)
		case in.Kind == Master && strings.HasPrefix(name, "slave") && strings.Contains(value, "ip="):
			s.discover(in, value)
		case name == "master_link_down_since_seconds":
			in.linkDown = int64(atoi(value)) * 1000
		case name == "role" && value == "master":
			role = Master
		case name == "role":
			role = Replica
		case role == Replica:
			switch name {
			case "master_host":
				host = value
			case "master_port":
				port = atoi(value)
			case "master_link_status":
				in.linkUp = value == "up"
			case "slave_priority":
				in.priority = int64(atoi(value))
			case "slave_repl_offset":
				in.offset = int64(atoi(value))
			case "replica_announced":
				in.announced = int64(atoi(value))
			}
		}
	}
	if to := (Addr{host, port}); to != in.follows {
		in.follows, in.configSince = to, s.now
	}
	in.informed = s.now
	s.actOnRole(in, role)
}

// identify notes the ID of a process. Another ID is another process.
func (s *Sentinel) identify(in *Instance, id string) {
	if in.RunID != "" && in.RunID != id {
		s.event('*', "+reboot", in, "")
		if in.Kind == Master && in.rebootMs != 0 {
			in.Flags |= Rebooted
			in.rebooted = s.now
		}
	}
	in.RunID = id
}

// discover adds a replica that a master lists: ip=HOST,port=PORT,...
func (s *Sentinel) discover(m *Instance, line string) {
	var addr Addr
	for field := range strings.SplitSeq(line, ",") {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "ip":
			addr.Host = value
		case "port":
			addr.Port = atoi(value)
		}
	}
	if !slices.ContainsFunc(m.Replicas, func(in *Instance) bool { return in.Addr == addr }) {
		s.event('*', "+slave", s.AddReplica(m, addr), "")
	}
}

// actOnRole is the half of INFO that acts.
func (s *Sentinel) actOnRole(in *Instance, role Kind) {
	if role != in.role {
		what := "-role-change"
		if role == in.Kind {
			what = "+role-change"
		}
		in.role, in.roleSince = role, s.now
		if role == Replica {
			in.configSince = s.now
		}
		s.event('-', what, in, " new reported role is "+role.String())
	}
	if in.Kind != Replica {
		return
	}
	m := in.of
	switch {
	case role == Master && in.has(Promoted) && m.has(Failover) && m.state == WaitPromotion:
		s.wasPromoted(in)
	case role == Master && !in.has(Promoted) && s.isSane(m) && s.isUpFor(in, 4*s.Periods.Publish) &&
		s.now-in.roleSince > 4*s.Periods.Publish:
		s.convert(in, "+convert-to-slave")
	case role == Replica && in.follows != m.Addr && s.isSane(m) && s.isUpFor(in, m.timeout) &&
		s.now-in.configSince > m.timeout:
		s.convert(in, "+fix-slave-config")
	}
	if role != Replica || m.promoted == nil {
		return
	}
	if in.has(ReconfSent) && in.follows == m.promoted.Addr {
		in.Flags = in.Flags&^ReconfSent | ReconfInProgress
		s.event('*', "+slave-reconf-inprog", in, "")
	}
	if in.has(ReconfInProgress) && in.linkUp {
		in.Flags = in.Flags&^ReconfInProgress | ReconfDone
		s.event('*', "+slave-reconf-done", in, "")
	}
}

// convert makes an instance follow the master that this Sentinel believes in.
func (s *Sentinel) convert(in *Instance, what string) {
	s.follow(in, in.of.Addr)
	s.event('*', what, in, "")
}

func (s *Sentinel) follow(in *Instance, to Addr) { s.send(in, Call{Follow: &to}) }

// Reconf converts at once what Informed converts after a delay.
func (s *Sentinel) Reconf() {
	for _, m := range s.Masters {
		for _, in := range m.Replicas {
			switch {
			case !s.isSane(m) || m.has(Failover) || in.has(SDown|Disconnected) || in.informed == 0:
			case in.role == Master:
				s.convert(in, "+convert-to-slave")
			case in.follows != m.Addr:
				s.convert(in, "+fix-slave-config")
			}
		}
	}
}

// isSane is sentinel.c: sentinelMasterLooksSane.
func (s *Sentinel) isSane(m *Instance) bool {
	return m.role == Master && !m.has(SDown|ODown) && s.now-m.informed < 2*s.Periods.Info
}

// isUpFor is sentinel.c: sentinelRedisInstanceNoDownFor.
func (s *Sentinel) isUpFor(in *Instance, ms int64) bool {
	last := max(in.sDownSince, in.oDownSince)
	return last == 0 || s.now-last > ms
}

// atoi is C's: 0 for what is no number.
func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
