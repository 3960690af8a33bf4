package paste

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
)

// verb is what a step of a test does.
type verb uint8

const (
	sendWords verb = iota // LAB with these words
	addRule
	waitHold
	letGo
	advance
	crash
	settle // wait until the other clients have gone on
	remark // a comment
)

// step is a line of Finding.Commands, as a test does it.
type step struct {
	verb   verb
	master int    // from 1, or 0 for all
	name   string // of a rule
	conds  []cond
	action string // of a rule
	arg    string // of the action
	ms     int64
	keep   bool     // a crash keeps the keys; it takes ms
	words  []string // behind LAB
	used   bool     // a rule that holds: a later step waits for it, or lets it go
}

// cond is a condition of a rule: CMD, KEY, SCRIPT, CLIENT, NTH, TIMES or PROB.
type cond struct{ word, value string }

// isNumber reports whether the value is a number in code.
func (c cond) isNumber() bool {
	_, err := strconv.ParseFloat(c.value, 64)
	return c.word == "NTH" || c.word == "TIMES" || c.word == "PROB" || c.word == "CLIENT" && err == nil
}

// longestTestLine bounds a line that becomes code. A longer one has a key of thousands of bytes in it.
const longestTestLine = 8 << 10

// steps returns the steps of a test. before are those that come before the program starts: the others begin
// with the first one that waits for the program.
func steps(f *explore.Finding) (before, during []step, err error) {
	var all []step
	for _, line := range f.Commands {
		if len(line) > longestTestLine {
			return nil, nil, fmt.Errorf("one of its commands has %d bytes", len(line))
		}
		words, ok := config.SplitArgs(line)
		switch {
		case len(words) > 0 && ok && strings.EqualFold(words[0], "lab"):
			s, err := stepOf(words[1:])
			if err != nil {
				return nil, nil, err
			}
			all = append(all, s)
		case line == explore.OthersGoOn:
			all = append(all, step{verb: settle, master: 1})
		case line != "" && !strings.HasPrefix(line, "# start the program"):
			all = append(all, step{verb: remark, words: []string{clean.Line(clean.Command(line))}})
		}
	}
	for i, s := range all {
		for j := range all[:i] {
			if (s.verb == waitHold || s.verb == letGo) && all[j].verb == addRule && all[j].name == s.name {
				all[j].used = true
			}
		}
	}
	for i, s := range all { // a wait for a rule that is not a sentence of the fixture is one of LAB
		named := slices.ContainsFunc(all, func(o step) bool { return o.verb == addRule && o.name == s.name })
		if (s.verb == waitHold || s.verb == letGo) && !named {
			all[i].verb = sendWords
		}
	}
	start := slices.IndexFunc(all, func(s step) bool { return s.waits() })
	if start < 0 {
		start = len(all)
	}
	all = slices.DeleteFunc(all, func(s step) bool { return s.fixtures() })
	start = min(start, len(all))
	if i := slices.IndexFunc(all, func(s step) bool { return s.waits() }); i >= 0 {
		start = i
	}
	return all[:start], all[start:], nil
}

// waits reports whether a step waits for the program.
func (s step) waits() bool { return s.verb == waitHold || s.is("HOLD", "WAIT") }

// fixtures reports whether the fixture of a test has done this before the test begins.
func (s step) fixtures() bool {
	return s.is("RESET") || s.is("LOG", "WATCH") || s.is("CLOCK", "FREEZE")
}

// is reports whether a step sends LAB with these words first.
func (s step) is(words ...string) bool {
	if s.verb != sendWords || len(s.words) < len(words) {
		return false
	}
	return slices.EqualFunc(s.words[:len(words)], words, strings.EqualFold)
}

func stepOf(words []string) (step, error) {
	s := step{master: 1}
	switch {
	case len(words) > 2 && strings.EqualFold(words[0], "master"):
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 {
			return s, fmt.Errorf("there is no master %s", clean.Name(words[1]))
		}
		s.master, words = n, words[2:]
	case len(words) > 1 && strings.EqualFold(words[0], "all"):
		s.master, words = 0, words[1:]
	}
	for i, word := range words {
		if !utf8.ValidString(word) { // such bytes stand in globs only, and there ? is any byte
			words[i] = strings.ToValidUTF8(word, "?")
		}
	}
	s.words = words
	word := func(i int) string {
		if i < len(words) {
			return strings.ToUpper(words[i])
		}
		return ""
	}
	switch word(0) + " " + word(1) {
	case "FAULT ADD":
		s.rule(words[2:])
	case "HOLD WAIT":
		if len(words) > 2 && (len(words) < 5 || words[4] == "1") {
			s.verb, s.name = waitHold, words[2]
		}
	case "HOLD RELEASE":
		if len(words) == 3 {
			s.verb, s.name = letGo, words[2]
		}
	case "CLOCK ADVANCE":
		if ms, err := strconv.ParseInt(word(2), 10, 64); err == nil {
			s.verb, s.ms = advance, ms
		}
	}
	if word(0) == "CRASH" {
		s.crash(words[1:])
	}
	return s, nil
}

// crash reads the words behind CRASH.
func (s *step) crash(words []string) {
	for ; len(words) > 1; words = words[2:] {
		switch strings.ToUpper(words[0]) {
		case "LOSE":
			if strings.EqualFold(words[1], "unsynced") { // the fixtures have no one word for it
				return
			}
			s.keep = strings.EqualFold(words[1], "nothing")
		case "DOWN":
			ms, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				return
			}
			s.ms = ms
		default:
			return
		}
	}
	s.verb = crash
}

// rule reads the words behind FAULT ADD. A rule that the fixtures have no words for stays as it is.
func (s *step) rule(words []string) {
	if len(words) == 0 {
		return
	}
	r := *s
	r.verb, r.name = addRule, words[0]
	for words = words[1:]; len(words) > 1; words = words[2:] {
		switch c := (cond{strings.ToUpper(words[0]), words[1]}); c.word {
		case "CMD":
			r.conds = append(r.conds, cond{c.word, strings.ToUpper(c.value)})
		case "KEY", "SCRIPT", "CLIENT", "NTH", "TIMES", "PROB":
			r.conds = append(r.conds, c)
		case "ACTION":
			r.action = strings.ToUpper(c.value)
			if len(words) > 2 {
				r.arg = words[2]
			}
			if len(words) <= 3 && slices.Contains(actions(), r.action) {
				*s = r
			}
			return
		default:
			return
		}
	}
}

// actions has what the fixtures of all languages know.
func actions() []string {
	return []string{"DROP-BEFORE", "DROP-REPLY", "RESET-BEFORE", "RESET-AFTER", "SILENT", "DELAY-EXEC", "DELAY-REPLY",
		"HOLD", "ERROR", "ERROR-AFTER", "CUT", "SKIP-PUSH", "DELAY-PUSH"}
}

// isText, isMillis and isBytes say what the argument of an action is.
func (s step) isText() bool   { return s.action == "ERROR" || s.action == "ERROR-AFTER" }
func (s step) isMillis() bool { return strings.HasPrefix(s.action, "DELAY-") }

// in returns an action as a word of a language: DropReply, dropReply or drop_reply.
func (s step) in(style func(words []string) string) string {
	return style(strings.Split(strings.ToLower(s.action), "-"))
}

func pascal(words []string) (all string) {
	for _, w := range words {
		all += strings.ToUpper(w[:1]) + w[1:]
	}
	return all
}

func camel(words []string) string { return words[0] + pascal(words[1:]) }
func snake(words []string) string { return strings.Join(words, "_") }

// glob returns a pattern that matches a key and nothing else.
func glob(key string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(key, "?") {
		if strings.ContainsRune(`*?[]\^`, r) && !(r == '?' && !utf8.ValidString(key)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// title returns words for the name of a test: "reply lost at request 2 of a".
func title(r *explore.Report, f *explore.Finding) (words []string) {
	text := "breaks by itself"
	for i, s := range f.Strikes {
		if s.Point >= len(r.Points) || s.Fault >= len(r.Faults) || s.Point < 0 || s.Fault < 0 {
			continue
		}
		p, kind := r.Points[s.Point], "request"
		if p.Message {
			kind = "message"
		}
		one := fmt.Sprintf("%s at %s %d of %s", r.Faults[s.Fault].Name, kind, p.N, clean.Text(p.Client, 20))
		if i > 0 {
			one = text + " and " + one
		}
		text = one
	}
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}
