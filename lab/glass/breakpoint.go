package glass

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// Breakpoint stops the server at events that match all of its conditions. A condition that is "" or 0
// matches everything.
type Breakpoint struct {
	Name     string
	At       trace.Point // 0 for Executes, or for the points that When is about
	Cmd      string      // lower case: "client" with all subcommands, or "client|kill"
	Key      string      // glob
	ClientID int64
	Client   string // glob of the client's name
	Nth      int64  // stops at the n-th match only; 0 means at each
	When     string // PARTIAL EAGAIN BLOCKED EXPIRED ERROR READY
	Ready    int64  // of READY

	Matched, Fired int64
}

// Words returns the words after LAB STEP BREAK ADD that make b.
func (b *Breakpoint) Words() []string {
	words := []string{b.Name}
	add := func(word, value string, given bool) {
		if given {
			words = append(words, word, value)
		}
	}
	add("AT", trace.Points()[string(rune(b.At))].Name, b.At != 0)
	add("CMD", b.Cmd, b.Cmd != "")
	add("KEY", b.Key, b.Key != "")
	add("CLIENT", strconv.FormatInt(b.ClientID, 10), b.ClientID != 0)
	add("CLIENT", b.Client, b.Client != "")
	add("NTH", strconv.FormatInt(b.Nth, 10), b.Nth != 0)
	add("WHEN", b.When, b.When != "")
	if b.When == "READY" {
		words = append(words, strconv.FormatInt(b.Ready, 10))
	}
	return words
}

// Break adds a breakpoint.
func (v *View) Break(b Breakpoint) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := &v.gate
	if v.find(b.Name) >= 0 {
		return stepError("BREAK ADD", "the breakpoint %s already exists", quote(b.Name))
	}
	if !g.opened {
		g.breaks = append(g.breaks, &b)
	}
	v.setLive()
	return nil
}

// BreakDel removes the breakpoint of that name.
func (v *View) BreakDel(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.find(name)
	if at < 0 {
		return stepError("BREAK DEL", "there is no breakpoint %s", quote(name))
	}
	v.gate.breaks = slices.Delete(v.gate.breaks, at, at+1)
	v.setLive()
	return nil
}

func (v *View) find(name string) int {
	return slices.IndexFunc(v.gate.breaks, func(b *Breakpoint) bool { return b.Name == name })
}

// BreakClear removes all breakpoints.
func (v *View) BreakClear() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gate.breaks = nil
	v.setLive()
}

// Breaks returns the breakpoints in the order in which they were added.
func (v *View) Breaks() []Breakpoint {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := []Breakpoint{}
	for _, b := range v.gate.breaks {
		list = append(list, *b)
	}
	return list
}

// turn counts a match and reports whether b stops for it.
func (b *Breakpoint) turn() bool {
	b.Matched++
	if b.Nth > 0 && b.Matched != b.Nth {
		return false
	}
	b.Fired++
	return true
}

func (v *View) matches(b *Breakpoint, e *trace.Event) bool {
	switch {
	case b.At != 0 && b.At != e.Point,
		b.At == 0 && b.When == "" && e.Point != trace.Executes,
		b.When != "" && !b.when(e),
		b.ClientID != 0 && b.ClientID != e.Client,
		b.Cmd != "" && e.Name != b.Cmd && !strings.HasPrefix(e.Name, b.Cmd+"|"),
		b.Client != "" && (e.Client == 0 || !v.named(b.Client, e.Client)):
		return false
	}
	return b.Key == "" || v.hasKey(b.Key, e)
}

// named asks the server for the name of a client. An I/O thread may ask too: main waits for it.
func (v *View) named(glob string, client int64) bool {
	return v.Name != nil && v.Match(glob, []byte(v.Name(client)))
}

func (v *View) hasKey(glob string, e *trace.Event) bool {
	if e.Args == nil || v.Keys == nil {
		return false
	}
	return slices.ContainsFunc(v.Keys(e.Args), func(key []byte) bool { return v.Match(glob, key) })
}

// again is EAGAIN as A of an event.
const again = -11

func (b *Breakpoint) when(e *trace.Event) bool {
	switch b.When {
	case "PARTIAL":
		return e.Point == trace.Parsed && e.Text != "" && e.B >= 0
	case "EAGAIN":
		return (e.Point == trace.ReadDone || e.Point == trace.Written) && e.A == again
	case "BLOCKED":
		return e.Point == trace.Replied && e.B == trace.ReplyBlocked
	case "ERROR":
		return e.Point == trace.Replied && e.B == trace.ReplyError
	case "EXPIRED":
		return e.Point == trace.Expired
	case "READY":
		return e.Point == trace.Woke && e.A >= b.Ready
	}
	return false
}
