// Package sentinel is one Redis Sentinel as a state machine: what it believes of its masters, of their replicas and of
// the other Sentinels, and what it does about it. It has no sockets, no goroutines and no clock. Its time is in
// milliseconds, and only Tick moves it.
//
//	who owns it                      Sentinel
//	Tick(now) ─────────────────────> looks at all instances
//	Take <────────────────────────── events to publish, calls to make
//	Ponged, Refused, Informed, Cut ─> what a node has answered
//	Replied, Heard ────────────────> what another Sentinel has answered or published
//	Next <────────────────────────── when Tick has something to do
//
// A call without an answer needs no function: the instance stays silent, and so it is down in the end. Whoever owns a
// Sentinel may use it from one goroutine at a time.
//
// Redis calls the function of its timer ten times a second (sentinel.c: sentinelTimer). Here that happens only while a
// master is down, and otherwise when something is due. There is no TILT mode, because this time never leaps.
package sentinel

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Kind is what an instance is (sentinel.c: SRI_MASTER, SRI_SLAVE, SRI_SENTINEL).
type Kind uint8

const (
	Master Kind = iota + 1
	Replica
	Other // another Sentinel
)

// String is the kind as replies and events have it.
func (k Kind) String() string { return [...]string{"", "master", "slave", "sentinel"}[k] }

// Flag is what a Sentinel thinks of an instance (sentinel.c: SRI_*).
type Flag uint16

// The flags in the order in which replies have them.
const (
	SDown Flag = 1 << iota
	ODown
	Disconnected // its connection is closed
	MasterDown   // another Sentinel says that the master is down
	Failover     // a failover is under way
	Promoted
	ReconfSent
	ReconfInProgress
	ReconfDone
	Forced // a failover by SENTINEL FAILOVER
	KillSent
	Rebooted
)

// Addr is where an instance listens. The zero Addr is none.
type Addr struct {
	Host string
	Port int
}

func (a Addr) String() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// State is how far a failover is (sentinel.c: SENTINEL_FAILOVER_STATE_*).
type State uint8

const (
	NoFailover State = iota
	WaitStart
	SelectReplica
	SendNoOne
	WaitPromotion
	ReconfReplicas
	UpdateConfig
)

// String is the state as replies have it.
func (st State) String() string {
	return [...]string{"none", "wait_start", "select_slave", "send_slaveof_noone", "wait_promotion", "reconf_slaves",
		"update_config"}[st]
}

// Instance is a master, a replica or another Sentinel, as one Sentinel sees it. Times are in ms, 0 for never.
type Instance struct {
	Kind  Kind
	Name  string // that of the master, HOST:PORT, or the ID of a Sentinel
	Addr  Addr
	RunID string // "" if it is not known
	Flags Flag
	of    *Instance // its master; nil for a master

	asked     int64 // the last PING
	unheard   int64 // the first PING without an answer, 0 if the last was answered
	available int64 // the last good answer to a PING
	answered  int64 // the last answer of any kind

	downAfter              int64
	sDownSince, oDownSince int64
	published, greeted     int64 // the last hello to it, and from it
	told                   int64 // the last answer to IS-MASTER-DOWN-BY-ADDR

	Info               string // its last INFO
	informed, inquired int64  // when that came, and when the next was asked for
	role               Kind   // by INFO
	roleSince          int64
	follows            Addr // by INFO
	configSince        int64
	linkUp             bool  // that to its master
	linkDown           int64 // ms for which it is down, 0 for none
	priority, offset   int64
	announced          int64
	reconfigured       int64 // when it was told to follow another master
	leader             string
	leaderEpoch        int64
	rebooted, rebootMs int64 // when it came back with another ID, and master-reboot-down-after-period

	// Of a master.
	Replicas, Others []*Instance
	Quorum           int64
	ConfigEpoch      int64
	parallel         int64
	timeout          int64 // failover-timeout
	state            State
	stateSince       int64
	begun            int64 // when the failover began, or the vote for that of another Sentinel
	epoch            int64 // of the failover
	promoted         *Instance
}

// Periods are what SENTINEL DEBUG shows and changes, in ms.
type Periods struct {
	Info, Ping, Ask, Publish, DownAfter, FailoverTimeout, TiltTrigger, TiltPeriod int64
	ReconfTimeout, Reconnect, Election, ScriptRuntime, ScriptRetry                int64
}

func defaultPeriods() Periods {
	return Periods{
		Info: 10000, Ping: 1000, Ask: 1000, Publish: 2000, DownAfter: 30000, FailoverTimeout: 180000, TiltTrigger: 2000,
		TiltPeriod: 30000, ReconfTimeout: 10000, Reconnect: 15000, Election: 10000, ScriptRuntime: 60000,
		ScriptRetry: 30000,
	}
}

// maxDesync bounds the chance in the beginning of a failover (sentinel.c: SENTINEL_MAX_DESYNC).
const maxDesync = 1000

// tick is how often a Sentinel looks while a master is down.
const tick = 100

// Sentinel is one Sentinel.
type Sentinel struct {
	ID      string
	Addr    Addr  // that it announces
	Epoch   int64 // current-epoch
	Masters []*Instance
	Periods Periods
	Global  Global
	Crashes Crash // of SENTINEL SIMULATE-FAILURE

	now     int64
	changed int64 // when it told of something last
	chance  *rand.Rand
	events  []Event
	calls   []Call
}

// Crash says where a simulated failure ends the Sentinel.
type Crash uint8

// The bits, as INFO shows them.
const (
	AfterElection Crash = 1 << iota
	AfterPromotion
)

// Event is what a Sentinel tells its log and its subscribers.
type Event struct {
	Level byte   // as in server.Log
	Type  string // also the channel
	Text  string
	Crash bool // what SIMULATE-FAILURE has asked for: the Sentinel ends here, and Text is for the log alone
}

// Call is something to do at another node: one connection, everything that is due there at this time.
type Call struct {
	To     *Instance
	Addr   Addr
	Ping   bool
	Info   bool
	Kill   bool   // SCRIPT KILL
	Hello  string // to publish there, "" for nothing
	Down   *Down  // a question to another Sentinel
	Follow *Addr  // SLAVEOF: the zero Addr is NO ONE
}

// Down is the question SENTINEL IS-MASTER-DOWN-BY-ADDR.
type Down struct {
	Master Addr
	Epoch  int64
	RunID  string // who wants the vote, "*" for nobody
}

// New makes a Sentinel that knows no master. now is its time in ms, and above 0.
func New(id string, addr Addr, now int64, seed uint64) *Sentinel {
	return &Sentinel{
		ID: id, Addr: addr, Periods: defaultPeriods(), now: now, Global: Global{LogLevel: "notice"},
		chance: rand.New(rand.NewPCG(seed, seed)),
	}
}

// Now is its time in ms.
func (s *Sentinel) Now() int64 { return s.now }

// Take returns what the Sentinel wants to tell and to do, and forgets that.
func (s *Sentinel) Take() ([]Event, []Call) {
	events, calls := s.events, s.calls
	s.events, s.calls = nil, nil
	return events, calls
}

// event tells of an instance, as "%@" does in sentinel.c: sentinelEvent.
func (s *Sentinel) event(level byte, what string, in *Instance, more string) {
	text := fmt.Sprintf("%s %s %s %d", in.Kind, in.Name, in.Addr.Host, in.Addr.Port)
	if in.of != nil {
		text += fmt.Sprintf(" @ %s %s %d", in.of.Name, in.of.Addr.Host, in.of.Addr.Port)
	}
	s.say(level, what, text+more)
}

func (s *Sentinel) say(level byte, what, text string) {
	s.changed = s.now
	s.events = append(s.events, Event{Level: level, Type: what, Text: text})
}

// Watch begins to monitor a master, without a check of its address.
func (s *Sentinel) Watch(name string, addr Addr, quorum int64) *Instance {
	m := s.instance(Master, name, addr, nil)
	m.Quorum = quorum
	s.Masters = append(s.Masters, m)
	s.event('#', "+monitor", m, fmt.Sprintf(" quorum %d", quorum))
	return m
}

// AddReplica tells of a replica of m, as the line known-replica of sentinel.conf does.
func (s *Sentinel) AddReplica(m *Instance, addr Addr) *Instance {
	in := s.instance(Replica, addr.String(), addr, m)
	m.Replicas = append(m.Replicas, in)
	return in
}

// AddOther tells of another Sentinel of m, as the line known-sentinel of sentinel.conf does.
func (s *Sentinel) AddOther(m *Instance, id string, addr Addr) *Instance {
	in := s.instance(Other, id, addr, m)
	in.RunID = id
	m.Others = append(m.Others, in)
	return in
}

func (s *Sentinel) instance(kind Kind, name string, addr Addr, of *Instance) *Instance {
	in := &Instance{
		Kind: kind, Name: name, Addr: addr, of: of, downAfter: s.Periods.DownAfter, published: s.now, greeted: s.now,
		told: s.now, available: s.now, answered: s.now, role: kind, roleSince: s.now, configSince: s.now, priority: 100,
		announced: 1, parallel: 1, timeout: s.Periods.FailoverTimeout, Quorum: 0,
	}
	if of != nil {
		in.downAfter = of.downAfter
	}
	return in
}

// Master returns the master with a name, nil for none.
func (s *Sentinel) Master(name string) *Instance {
	at := slices.IndexFunc(s.Masters, func(m *Instance) bool { return m.Name == name })
	if at < 0 {
		return nil
	}
	return s.Masters[at]
}

// MasterAddr is the address of a master, or that of its successor once it works (sentinel.c:
// sentinelGetCurrentMasterAddress).
func (m *Instance) MasterAddr() Addr {
	if m.Flags&Failover != 0 && m.promoted != nil && m.state >= ReconfReplicas {
		return m.promoted.Addr
	}
	return m.Addr
}

func (in *Instance) has(f Flag) bool { return in.Flags&f != 0 }

// FlagNames are the flags as replies have them.
func (in *Instance) FlagNames() string {
	names := [...]string{"s_down", "o_down", "disconnected", "master_down", "failover_in_progress", "promoted",
		"reconf_sent", "reconf_inprog", "reconf_done", "force_failover", "script_kill_sent", "master_reboot"}
	var all []string
	for i, name := range names {
		if 1<<i == Disconnected {
			all = append(all, in.Kind.String())
		}
		if in.has(1 << i) {
			all = append(all, name)
		}
	}
	return strings.Join(all, ",")
}

// all calls fn for all instances: each master, its replicas, and the other Sentinels.
func (s *Sentinel) all(fn func(in *Instance)) {
	for _, m := range s.Masters {
		fn(m)
		for _, in := range m.Replicas {
			fn(in)
		}
		for _, in := range m.Others {
			fn(in)
		}
	}
}

// byWorth compares replicas: the best to promote comes first (sentinel.c: compareSlavesForPromotion).
func byWorth(a, b *Instance) int {
	return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.offset, a.offset),
		strings.Compare(orLast(a.RunID), orLast(b.RunID)))
}

// orLast sorts an unknown ID after all others.
func orLast(id string) string { return cmp.Or(id, "~") }
