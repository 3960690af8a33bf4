package glass

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// Verb is a LAB STEP that is read and not done yet.
type Verb struct {
	Do func() (any, error) // the reply: "OK", a State or []Breakpoint

	// Stops reports whether the verb may stop the server. If the server's own goroutine does the verb,
	// it waits with it until its reply is sent.
	Stops bool
}

// Step does the words after LAB STEP. The reply is "OK", a State or []Breakpoint. It never waits for the
// loop. Any goroutine may call it.
func (v *View) Step(words []string) (any, error) {
	verb, err := v.Verb(words)
	if err != nil {
		return nil, err
	}
	return verb.Do()
}

// Verb reads the words after LAB STEP.
func (v *View) Verb(words []string) (Verb, error) {
	if len(words) == 0 {
		return Verb{Do: func() (any, error) { return v.State(), nil }}, nil
	}
	verb, args := strings.ToUpper(words[0]), words[1:]
	switch verb {
	case "PAUSE":
		return simple(verb, args, true, v.Pause)
	case "CONTINUE":
		return simple(verb, args, false, v.Continue)
	case "NEXT":
		return v.next(args)
	case "SLOW":
		ms, err := onlyNumber(verb, "milliseconds", args, 0, 60_000)
		return done(err, true, func() { v.Slow(time.Duration(ms) * time.Millisecond) })
	case "LIMIT":
		s, err := onlyNumber(verb, "seconds", args, 1, 86_400)
		return done(err, false, func() { v.Limit(time.Duration(s) * time.Second) })
	case "CLOCK":
		return v.clockVerb(args)
	case "BREAK":
		return v.breakVerb(args)
	}
	return Verb{}, stepError("", "expects PAUSE, CONTINUE, NEXT, SLOW, BREAK, CLOCK, LIMIT or nothing, not %s",
		quote(words[0]))
}

// stepError makes an error of LAB STEP.
func stepError(verb, why string, args ...any) error {
	return fmt.Errorf("ERR "+strings.TrimSpace("LAB STEP "+verb)+": "+why, args...)
}

// quote shortens an argument for an error and makes it printable.
func quote(s string) string {
	const most = 64
	end := ""
	if len(s) > most {
		s, end = s[:most], "..."
	}
	return "'" + string(trace.AppendEscaped(nil, []byte(s))) + end + "'"
}

// done makes a verb whose reply is OK.
func done(err error, stops bool, do func()) (Verb, error) {
	return Verb{Stops: stops, Do: func() (any, error) {
		do()
		return "OK", nil
	}}, err
}

func simple(verb string, args []string, stops bool, do func()) (Verb, error) {
	return done(tooMany(verb, args, 0), stops, do)
}

func tooMany(verb string, args []string, most int) error {
	if len(args) > most {
		return stepError(verb, "%s is one argument too many", quote(args[most]))
	}
	return nil
}

func onlyNumber(verb, name string, args []string, least, most int64) (int64, error) {
	if len(args) == 0 {
		return 0, stepError(verb, "%s is missing", name)
	}
	if err := tooMany(verb, args, 1); err != nil {
		return 0, err
	}
	return number(verb, name, args[0], least, most)
}

// number reads a decimal number from least to most.
func number(verb, name, text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n >= least && n <= most && text[0] != '+' {
		return n, nil
	}
	if most == math.MaxInt64 {
		return 0, stepError(verb, "%s expects a number of at least %d, not %s", name, least, quote(text))
	}
	return 0, stepError(verb, "%s expects a number from %d to %d, not %s", name, least, most, quote(text))
}

// next reads [unit] [n].
func (v *View) next(args []string) (Verb, error) {
	unit, n := OneEvent, int64(1)
	if len(args) > 0 && strings.Trim(args[0], "0123456789+-") != "" {
		var err error
		if unit, err = parseUnit(strings.ToUpper(args[0])); err != nil {
			return Verb{}, stepError("NEXT", "%v", err)
		}
		args = args[1:]
	}
	if len(args) > 0 {
		var err error
		if n, err = number("NEXT", "n", args[0], 1, 1_000_000); err != nil {
			return Verb{}, err
		}
	}
	return done(tooMany("NEXT", args, 1), true, func() { v.Next(unit, int(n)) })
}

func (v *View) clockVerb(args []string) (Verb, error) {
	if len(args) == 0 {
		return Verb{}, stepError("CLOCK", "expects STILL or RUN")
	}
	word := strings.ToUpper(args[0])
	if word != "STILL" && word != "RUN" {
		return Verb{}, stepError("CLOCK", "expects STILL or RUN, not %s", quote(args[0]))
	}
	return done(tooMany("CLOCK", args, 1), false, func() { v.Stand(word == "STILL") })
}

func (v *View) breakVerb(args []string) (Verb, error) {
	if len(args) == 0 {
		return Verb{}, stepError("BREAK", "expects ADD, DEL, CLEAR or LIST")
	}
	word, rest := strings.ToUpper(args[0]), args[1:]
	verb := "BREAK " + word
	switch word {
	case "ADD":
		b, err := parseBreakpoint(rest)
		return Verb{Do: func() (any, error) { return "OK", v.Break(b) }}, err
	case "DEL":
		if len(rest) == 0 {
			return Verb{}, stepError(verb, "name is missing")
		}
		return Verb{Do: func() (any, error) { return "OK", v.BreakDel(rest[0]) }}, tooMany(verb, rest, 1)
	case "CLEAR":
		return simple(verb, rest, false, v.BreakClear)
	case "LIST":
		return Verb{Do: func() (any, error) { return v.Breaks(), nil }}, tooMany(verb, rest, 0)
	}
	return Verb{}, stepError("BREAK", "expects ADD, DEL, CLEAR or LIST, not %s", quote(args[0]))
}

// parseBreakpoint reads the words after LAB STEP BREAK ADD: the grammar is that of LAB FAULT ADD.
func parseBreakpoint(words []string) (b Breakpoint, err error) {
	const verb = "BREAK ADD"
	if len(words) == 0 {
		return b, stepError(verb, "a name is missing")
	}
	b.Name = words[0]
	if b.Name == "" || len(b.Name) > 64 || !trace.IsPlain([]byte(b.Name)) {
		return b, stepError(verb, "the name must be 1 to 64 printable characters without spaces and quotes, not %s",
			quote(b.Name))
	}
	seen := map[string]bool{}
	for words = words[1:]; len(words) > 0; words = words[2:] {
		word := strings.ToUpper(words[0])
		switch word {
		case "AT", "CMD", "KEY", "CLIENT", "NTH", "WHEN":
		default:
			return b, stepError(verb, "%s is not one of AT, CMD, KEY, CLIENT, NTH, WHEN", quote(words[0]))
		}
		if seen[word] {
			return b, stepError(verb, "%s is given twice", word)
		}
		seen[word] = true
		if len(words) == 1 || words[1] == "" {
			return b, stepError(verb, "%s expects a value", word)
		}
		if word == "WHEN" && strings.EqualFold(words[1], "READY") {
			if len(words) == 2 {
				return b, stepError(verb, "WHEN READY expects a number")
			}
			b.When = "READY"
			if b.Ready, err = number(verb, "WHEN READY", words[2], 1, math.MaxInt64); err != nil {
				return b, err
			}
			words = words[1:]
			continue
		}
		if err := b.option(word, words[1]); err != nil {
			return b, err
		}
	}
	return b, b.check()
}

func (b *Breakpoint) option(word, value string) (err error) {
	const verb = "BREAK ADD"
	switch word {
	case "AT":
		if b.At = pointOf(strings.ToLower(value)); b.At == 0 {
			return stepError(verb, "AT expects a point such as read, parsed or execute, not %s", quote(value))
		}
	case "CMD":
		b.Cmd = strings.ToLower(value)
	case "KEY":
		b.Key = value
	case "CLIENT":
		if strings.Trim(value, "0123456789") != "" {
			b.Client = value
			return nil
		}
		b.ClientID, err = number(verb, word, value, 1, math.MaxInt64)
	case "NTH":
		b.Nth, err = number(verb, word, value, 1, math.MaxInt64)
	case "WHEN":
		b.When = strings.ToUpper(value)
		switch b.When {
		case "PARTIAL", "EAGAIN", "BLOCKED", "EXPIRED", "ERROR":
		default:
			return stepError(verb, "WHEN %s is not one of PARTIAL, EAGAIN, BLOCKED, EXPIRED, ERROR, READY", quote(value))
		}
	}
	return err
}

// pointOf finds a point by its letter or its name, 0 for none.
func pointOf(text string) trace.Point {
	for letter, p := range trace.Points() {
		if text == letter || text == p.Name {
			return trace.Point(letter[0])
		}
	}
	return 0
}

// check refuses conditions that never match together.
func (b *Breakpoint) check() error {
	ofCommand := b.At == 0 && b.When == "" || b.At == trace.Executes || b.At == trace.Replied ||
		b.At == 0 && (b.When == "BLOCKED" || b.When == "ERROR")
	if (b.Cmd != "" || b.Key != "") && !ofCommand {
		return stepError("BREAK ADD", "CMD and KEY need AT execute or AT replied: other points know no command")
	}
	return nil
}
