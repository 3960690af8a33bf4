package sentinel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Global is what SENTINEL CONFIG SET changes.
type Global struct {
	ResolveHostnames, AnnounceHostnames bool
	AnnounceIP                          string
	AnnouncePort                        int
	User, Pass                          string
	LogLevel                            string
}

// globals has the parameters in the order in which SENTINEL CONFIG GET has them. set says whether the value is valid,
// and with apply it changes it.
func (g *Global) globals() []global {
	return []global{
		{"resolve-hostnames", yesNo(g.ResolveHostnames), isYesNo, func(v string) { g.ResolveHostnames = isYes(v) }},
		{"announce-hostnames", yesNo(g.AnnounceHostnames), isYesNo, func(v string) { g.AnnounceHostnames = isYes(v) }},
		{"announce-ip", g.AnnounceIP, isAny, func(v string) { g.AnnounceIP = v }},
		{"announce-port", strconv.Itoa(g.AnnouncePort), isPort, func(v string) { g.AnnouncePort = atoi(v) }},
		{"sentinel-user", g.User, isAny, func(v string) { g.User = v }},
		{"sentinel-pass", g.Pass, isAny, func(v string) { g.Pass = v }},
		{"loglevel", g.LogLevel, isLevel, func(v string) { g.LogLevel = strings.ToLower(v) }},
	}
}

type global struct {
	name, value string
	isValid     func(v string) bool
	apply       func(v string)
}

func yesNo(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

func isYes(v string) bool   { return strings.EqualFold(v, "yes") }
func isYesNo(v string) bool { return isYes(v) || strings.EqualFold(v, "no") }
func isAny(string) bool     { return true }

func isPort(v string) bool {
	n, ok := integer(v)
	return ok && n >= 0 && n <= 65535
}

func isLevel(v string) bool {
	return slices.Contains([]string{"debug", "verbose", "notice", "warning", "nothing"}, strings.ToLower(v))
}

// integer reads a number as Redis does: +1 and 01 are none (util.c: string2ll).
func integer(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

// ConfigGet returns names and values for patterns (sentinel.c: sentinelConfigGetCommand).
func (g *Global) ConfigGet(patterns []string, matches func(pattern, name string) bool) (pairs []string) {
	all := g.globals()
	seen := map[string]bool{}
	for _, pattern := range patterns {
		for _, p := range all {
			if matches(pattern, p.name) && !seen[p.name] {
				seen[p.name] = true
				pairs = append(pairs, p.name, p.value)
			}
		}
	}
	return pairs
}

// ConfigSet changes parameters, all or none (sentinel.c: sentinelConfigSetCommand).
func (g *Global) ConfigSet(args []string) error {
	all := g.globals()
	seen := map[string]bool{}
	var apply []func()
	for i := 0; i < len(args); i += 2 {
		at := slices.IndexFunc(all, func(p global) bool { return strings.EqualFold(p.name, args[i]) })
		switch {
		case at < 0:
			return fmt.Errorf("ERR Invalid argument '%s' to SENTINEL CONFIG SET", args[i])
		case seen[all[at].name]:
			return fmt.Errorf("ERR Duplicate argument '%s' to SENTINEL CONFIG SET", args[i])
		case i+1 == len(args):
			return fmt.Errorf("ERR Missing argument '%s' value", args[i])
		case !all[at].isValid(args[i+1]):
			return fmt.Errorf("ERR Invalid value '%s' to SENTINEL CONFIG SET '%s'", args[i+1], args[i])
		}
		seen[all[at].name] = true
		apply = append(apply, func() { all[at].apply(args[i+1]) })
	}
	for _, fn := range apply {
		fn()
	}
	return nil
}

// Error is a mistake in a request, with Redis's text.
type Error string

func (e Error) Error() string { return string(e) }

const (
	errInProgress Error = "INPROG Failover already in progress"
	errNoReplica  Error = "NOGOODSLAVE No suitable replica to promote"
	errNoScripts  Error = "ERR Reconfiguration of scripts path is denied for security reasons. Check the " +
		"deny-scripts-reconfig configuration directive in your Sentinel configuration"
	errQuorumSmall Error = "ERR Quorum must be 1 or greater."
	errDuplicate   Error = "ERR Duplicate master name."
	errPort        Error = "ERR Invalid port number."
)

// Failover is SENTINEL FAILOVER: it asks nobody.
func (s *Sentinel) Failover(m *Instance) error {
	switch {
	case m.has(Failover):
		return errInProgress
	case s.best(m) == nil:
		return errNoReplica
	}
	s.events = append(s.events, Event{Level: '*', Text: "Executing user requested FAILOVER of '" + m.Name + "'"})
	s.start(m)
	m.Flags |= Forced
	return nil
}

// Monitor is SENTINEL MONITOR, once the address is known to be good.
func (s *Sentinel) Monitor(name string, addr Addr, quorum int64) error {
	switch {
	case quorum <= 0:
		return errQuorumSmall
	case addr.Port < 0 || addr.Port > 65535:
		return errPort
	case s.Master(name) != nil:
		return errDuplicate
	}
	s.Watch(name, addr, quorum)
	return nil
}

// Remove is SENTINEL REMOVE.
func (s *Sentinel) Remove(m *Instance) {
	s.event('#', "-monitor", m, "")
	s.Masters = slices.DeleteFunc(s.Masters, func(o *Instance) bool { return o == m })
}

// Reset is SENTINEL RESET: it forgets the replicas and the other Sentinels of the masters that match, and finds them
// anew.
func (s *Sentinel) Reset(matches func(name string) bool) (n int64) {
	for _, m := range s.Masters {
		if matches(m.Name) {
			m.Others = nil
			s.reset(m)
			s.event('#', "+reset-master", m, "")
			n++
		}
	}
	return n
}

// IsDown is SENTINEL IS-MASTER-DOWN-BY-ADDR. who is "*" if nobody wants a vote. leader is "" for none.
func (s *Sentinel) IsDown(d Down) (isDown bool, leader string, epoch int64) {
	at := slices.IndexFunc(s.Masters, func(m *Instance) bool { return m.Addr == d.Master })
	if at < 0 {
		return false, "", 0
	}
	m := s.Masters[at]
	if d.RunID != "*" {
		leader, epoch = s.Vote(m, d.Epoch, d.RunID)
	}
	return m.has(SDown), leader, epoch
}

// Quorum is SENTINEL CKQUORUM: the text of the reply, or the error.
func (s *Sentinel) Quorum(m *Instance) (string, error) {
	usable := int64(1)
	for _, in := range m.Others {
		if !in.has(SDown | ODown) {
			usable++
		}
	}
	var why []string
	if usable < m.Quorum {
		why = append(why, "Not enough available Sentinels to reach the specified quorum for this master")
	}
	if usable < int64(len(m.Others)+1)/2+1 {
		why = append(why, "Not enough available Sentinels to reach the majority and authorize a failover")
	}
	if why != nil {
		return "", fmt.Errorf("NOQUORUM %d usable Sentinels. %s", usable, strings.Join(why, ". "))
	}
	return fmt.Sprintf("OK %d usable Sentinels. Quorum and failover authorization can be reached", usable), nil
}

// Set is SENTINEL SET (sentinel.c: sentinelSetCommand). What stands before a mistake is changed.
func (s *Sentinel) Set(m *Instance, args []string) error {
	options := map[string]struct {
		to    *int64
		least int64
	}{
		"down-after-milliseconds":         {&m.downAfter, 1},
		"failover-timeout":                {&m.timeout, 1},
		"parallel-syncs":                  {&m.parallel, 1},
		"quorum":                          {&m.Quorum, 1},
		"master-reboot-down-after-period": {&m.rebootMs, 0},
	}
	for len(args) > 0 {
		name := strings.ToLower(args[0])
		option, isNumber := options[name]
		taken, shown := 2, ""
		switch {
		case isNumber && len(args) > 1:
			n, ok := integer(args[1])
			if !ok || n < option.least {
				return fmt.Errorf("ERR Invalid argument '%s' for SENTINEL SET '%s'", args[1], args[0])
			}
			*option.to = n
		case (name == "notification-script" || name == "client-reconfig-script") && len(args) > 1:
			return errNoScripts
		case name == "auth-pass" && len(args) > 1:
			shown = "******"
		case name == "auth-user" && len(args) > 1:
		case name == "rename-command" && len(args) > 2:
			taken = 3
			for _, word := range args[1:3] {
				if word == "" {
					return fmt.Errorf("ERR Invalid argument '' for SENTINEL SET '%s'", args[0])
				}
			}
		default:
			return fmt.Errorf("ERR Unknown option or number of arguments for SENTINEL SET '%s'", args[0])
		}
		if shown == "" {
			shown = strings.Join(args[1:taken], " ")
		}
		s.event('#', "+set", m, " "+args[0]+" "+shown)
		args = args[taken:]
	}
	for _, in := range slices.Concat(m.Replicas, m.Others) {
		in.downAfter = m.downAfter
	}
	return nil
}

// Named are the periods in the order of SENTINEL DEBUG.
func (p *Periods) Named() []Period {
	return []Period{{"INFO-PERIOD", &p.Info}, {"PING-PERIOD", &p.Ping}, {"ASK-PERIOD", &p.Ask},
		{"PUBLISH-PERIOD", &p.Publish}, {"DEFAULT-DOWN-AFTER", &p.DownAfter},
		{"DEFAULT-FAILOVER-TIMEOUT", &p.FailoverTimeout}, {"TILT-TRIGGER", &p.TiltTrigger},
		{"TILT-PERIOD", &p.TiltPeriod}, {"SLAVE-RECONF-TIMEOUT", &p.ReconfTimeout},
		{"MIN-LINK-RECONNECT-PERIOD", &p.Reconnect}, {"ELECTION-TIMEOUT", &p.Election},
		{"SCRIPT-MAX-RUNTIME", &p.ScriptRuntime}, {"SCRIPT-RETRY-DELAY", &p.ScriptRetry}}
}

// Period is one of SENTINEL DEBUG.
type Period struct {
	Name  string
	Value *int64
}

// Set is SENTINEL DEBUG with arguments.
func (p *Periods) Set(args []string) error {
	for ; len(args) > 0; args = args[2:] {
		at := slices.IndexFunc(p.Named(), func(d Period) bool { return strings.EqualFold(d.Name, args[0]) })
		if at < 0 || len(args) == 1 {
			return fmt.Errorf("ERR Unknown option or number of arguments for SENTINEL DEBUG '%s'", args[0])
		}
		n, ok := integer(args[1])
		if !ok || n <= 0 {
			return fmt.Errorf("ERR Invalid argument '%s' for SENTINEL DEBUG '%s'", args[1], args[0])
		}
		*p.Named()[at].Value = n
	}
	return nil
}

// Fields are the names and values of an instance at a time in ms, as replies have them (sentinel.c:
// addReplySentinelRedisInstance).
func (in *Instance) Fields(now int64) []string {
	var all []string
	text := func(name, value string) { all = append(all, name, value) }
	number := func(name string, n int64) { text(name, strconv.FormatInt(n, 10)) }
	since := func(name string, at int64) {
		if at != 0 {
			at = max(now-at, 0)
		}
		number(name, at)
	}
	text("name", in.Name)
	text("ip", in.Addr.Host)
	number("port", int64(in.Addr.Port))
	text("runid", in.RunID)
	text("flags", in.FlagNames())
	number("link-pending-commands", 0)
	number("link-refcount", 1)
	if in.has(Failover) {
		text("failover-state", in.state.String())
	}
	since("last-ping-sent", in.unheard)
	since("last-ok-ping-reply", in.available)
	since("last-ping-reply", in.answered)
	if in.has(SDown) {
		since("s-down-time", in.sDownSince)
	}
	if in.has(ODown) {
		since("o-down-time", in.oDownSince)
	}
	number("down-after-milliseconds", in.downAfter)
	if in.Kind == Other {
		since("last-hello-message", in.greeted)
		text("voted-leader", orUnknown(in.leader))
		number("voted-leader-epoch", in.leaderEpoch)
		return all
	}
	since("info-refresh", in.informed)
	text("role-reported", in.role.String())
	since("role-reported-time", in.roleSince)
	if in.Kind == Master {
		number("config-epoch", in.ConfigEpoch)
		number("num-slaves", int64(len(in.Replicas)))
		number("num-other-sentinels", int64(len(in.Others)))
		number("quorum", in.Quorum)
		number("failover-timeout", in.timeout)
		number("parallel-syncs", in.parallel)
		return all
	}
	link := "err"
	if in.linkUp {
		link = "ok"
	}
	number("master-link-down-time", in.linkDown)
	text("master-link-status", link)
	text("master-host", orUnknown(in.follows.Host))
	number("master-port", int64(in.follows.Port))
	number("slave-priority", in.priority)
	number("slave-repl-offset", in.offset)
	number("replica-announced", in.announced)
	return all
}

func orUnknown(text string) string {
	if text == "" {
		return "?"
	}
	return text
}

// InfoAge is how many ms ago the INFO of an instance came, 0 if none has.
func (in *Instance) InfoAge(now int64) int64 {
	if in.informed == 0 {
		return 0
	}
	return max(now-in.informed, 0)
}
