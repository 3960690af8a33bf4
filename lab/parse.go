package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxMillis bounds the numbers that LAB accepts: a hundred years in milliseconds. A larger number is a mistake.
const MaxMillis = 100 * 365 * 24 * 3600 * 1000

// The events of the log itself. No rule may have such a name.
const (
	EventCommand = "command" // a command on a watched key, and no rule fired
	EventExpired = "expired"
	EventClock   = "clock"
	EventCrash   = "crash"
	EventRestore = "restore" // LAB SNAPSHOT RESTORE replaced all keys
	EventDisk    = "disk"    // a restart has found a key otherwise on the disk than it was in memory

	EventWatched   = "watched"   // LAB LOG WATCH or RESET: Changes are the watched keys that exist
	EventUnwatched = "unwatched" // LAB LOG UNWATCH: the log no longer has what happens to these keys
	EventEvicted   = "evicted"
	EventFields    = "hexpired" // fields of a hash have expired, and others live on
	EventApplied   = "applied"  // a replica has executed what its master has sent
	EventStranger  = "stranger" // a key has changed past the proxy that writes the log
	EventChanged   = "changed"  // keys have changed: no other event says why, or they are too many for the entry above

	EventPromoted = "promoted" // a replica has become a master
	EventDemoted  = "demoted"  // a master has become a replica
	EventSynced   = "synced"   // the link of a replica is up, and its data are those of its master
	EventLink     = "link"     // the link of a replica is down, or LAB REPLICATION has told a stream what to do
)

// ParseRule reads the words after LAB FAULT ADD. The error names the word that is wrong.
func ParseRule(words [][]byte) (*Rule, error) {
	p := parser{rule: &Rule{Prob: 1}}
	if err := p.parse(words); err != nil {
		return nil, fmt.Errorf("ERR LAB FAULT ADD: %w", err)
	}
	return p.rule, nil
}

type parser struct {
	rule *Rule
	seen []string // the option words so far
}

func (p *parser) parse(words [][]byte) error {
	if len(words) == 0 {
		return fmt.Errorf("a name is missing")
	}
	p.rule.Name = string(words[0])
	if err := checkName(p.rule.Name); err != nil {
		return err
	}
	for words = words[1:]; len(words) > 0; {
		taken, err := p.option(words)
		if err != nil {
			return err
		}
		words = words[taken:]
	}
	if !p.given("ACTION") {
		return fmt.Errorf("ACTION is missing")
	}
	if p.rule.Times == 0 && p.rule.Nth > 0 {
		p.rule.Times = 1
	}
	return p.rule.checkPush()
}

// checkName refuses a name that would be unreadable or ambiguous in the log.
func checkName(name string) error {
	switch name {
	case EventCommand, EventExpired, EventClock, EventCrash, EventRestore, EventDisk,
		EventWatched, EventUnwatched, EventEvicted, EventFields, EventApplied, EventChanged,
		EventPromoted, EventDemoted, EventSynced, EventLink, EventStranger:
		return fmt.Errorf("the name %s is reserved for an event of the log", quote(name))
	case "":
		return fmt.Errorf("the name is empty")
	}
	if len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the name must be at most 64 printable characters without spaces, not %s", quote(name))
	}
	return nil
}

func (p *parser) given(word string) bool {
	for _, s := range p.seen {
		if s == word {
			return true
		}
	}
	return false
}

// option reads the first word and its arguments, and returns how many words it used.
func (p *parser) option(words [][]byte) (taken int, err error) {
	word := strings.ToUpper(string(words[0]))
	switch word {
	case "CMD", "KEY", "SCRIPT", "CLIENT", "ORDER", "NTH", "TIMES", "PROB", "ACTION":
	default:
		const all = "CMD, KEY, SCRIPT, CLIENT, ORDER, NTH, TIMES, PROB, ACTION"
		return 0, fmt.Errorf("%s is not one of %s", quote(string(words[0])), all)
	}
	if p.given(word) {
		return 0, fmt.Errorf("%s is given twice", word)
	}
	p.seen = append(p.seen, word)
	if len(words) == 1 || len(words[1]) == 0 {
		return 0, fmt.Errorf("%s expects a value", word)
	}
	if word == "ACTION" {
		return p.action(words)
	}
	return 2, p.value(word, string(words[1]))
}

func (p *parser) value(word, value string) (err error) {
	r := p.rule
	switch word {
	case "CMD":
		r.Cmd = strings.ToLower(value)
	case "KEY":
		r.Key = value
	case "SCRIPT":
		r.Script = value
	case "CLIENT":
		if strings.Trim(value, "0123456789") != "" {
			r.Client = value
			return nil
		}
		r.ClientID, err = number(word+" expects a number", value, 1, math.MaxInt64)
	case "ORDER":
		r.Order, err = number(word+" expects a number", value, 1, math.MaxInt64)
	case "NTH":
		r.Nth, err = number(word+" expects a number", value, 1, math.MaxInt64)
	case "TIMES":
		r.Times, err = number(word+" expects a number", value, 1, math.MaxInt64)
	case "PROB":
		var ok bool
		if r.Prob, ok = ParseDecimal(value); !ok || r.Prob <= 0 || r.Prob > 1 {
			return fmt.Errorf("PROB expects a number above 0 and up to 1, not %s", quote(value))
		}
	}
	return err
}

func (p *parser) action(words [][]byte) (taken int, err error) {
	r, name := p.rule, string(words[1])
	for r.Action = 0; !strings.EqualFold(name, r.Action.String()); {
		if r.Action++; r.Action == actions {
			return 0, fmt.Errorf("ACTION %s is not one of %s", quote(name), allActions())
		}
	}
	word, arg := "ACTION "+r.Action.String(), ""
	if len(words) > 2 {
		arg = string(words[2])
	}
	switch {
	case r.Action.takesMillis():
		r.Millis, err = number(word+" expects a number of milliseconds", arg, 1, MaxMillis)
	case r.Action == Cut:
		r.Bytes, err = number(word+" expects a number of bytes", arg, 0, math.MaxInt32)
	case r.Action == Bandwidth:
		r.Bytes, err = number(word+" expects a number of bytes in a second", arg, 1, math.MaxInt32)
	case r.Action == Slice:
		r.Bytes, err = number(word+" expects a number of bytes", arg, 1, math.MaxInt32)
	case r.Action.takesText():
		r.Text = strings.TrimPrefix(arg, "-")
		if r.Text == "" || strings.ContainsAny(r.Text, "\r\n") {
			err = fmt.Errorf("%s expects an error text in one line, not %s", word, quote(arg))
		}
	default:
		return 2, nil
	}
	return 3, err
}

// checkPush refuses conditions that make no sense for a rule on messages.
func (r *Rule) checkPush() error {
	if !r.Action.OnPush() {
		return nil
	}
	if r.Script != "" {
		return fmt.Errorf("SCRIPT does not go with ACTION %s: a message has no script", r.Action)
	}
	switch r.Cmd {
	case "", "message", "pmessage", "smessage", "invalidate":
		return nil
	}
	const why = "CMD of ACTION %s must be MESSAGE, PMESSAGE, SMESSAGE or INVALIDATE, not %s"
	return fmt.Errorf(why, r.Action, quote(r.Cmd))
}

func allActions() string {
	var names []string
	for a := range actions {
		names = append(names, a.String())
	}
	return strings.Join(names, ", ")
}

// number reads a decimal number from least to most. The error begins with what is expected.
func number(expects, value string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err == nil && n >= least && n <= most && value[0] != '+':
		return n, nil
	case most == math.MaxInt64:
		return 0, fmt.Errorf("%s of at least %d, not %s", expects, least, quote(value))
	}
	return 0, fmt.Errorf("%s from %d to %d, not %s", expects, least, most, quote(value))
}

// ParseDecimal reads a number such as 0.25 or 1e-3, and reports whether text is one. It refuses the
// rest of Go's syntax, such as 1_000 and 0x10p2: here it is a mistake.
func ParseDecimal(text string) (float64, bool) {
	if strings.HasPrefix(text, "+") || strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// quote shortens an argument for an error and makes it printable.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		s = s[:most] + "..."
	}
	return "'" + Printable(s) + "'"
}
