package glass

import (
	"slices"
	"strconv"
	"strings"
)

// Breakpoint stops the server at events that match all of its conditions. A condition that is "" or 0
// matches everything.
type Breakpoint struct {
	Name     string
	At       Point  // 0 for Executes, or for the points that When is about
	Cmd      string // lower case: "client" with all subcommands, or "client|kill"
	Key      string // glob
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
	add("AT", points()[string(rune(b.At))].Name, b.At != 0)
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
func (w *Watch) Break(b Breakpoint) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := &w.gate
	if w.find(b.Name) >= 0 {
		return stepError("BREAK ADD", "the breakpoint %s already exists", quote(b.Name))
	}
	if !g.opened {
		g.breaks = append(g.breaks, &b)
	}
	w.setLive()
	return nil
}

// BreakDel removes the breakpoint of that name.
func (w *Watch) BreakDel(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.find(name)
	if at < 0 {
		return stepError("BREAK DEL", "there is no breakpoint %s", quote(name))
	}
	w.gate.breaks = slices.Delete(w.gate.breaks, at, at+1)
	w.setLive()
	return nil
}

func (w *Watch) find(name string) int {
	return slices.IndexFunc(w.gate.breaks, func(b *Breakpoint) bool { return b.Name == name })
}

// BreakClear removes all breakpoints.
func (w *Watch) BreakClear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.breaks = nil
	w.setLive()
}

// Breaks returns the breakpoints in the order in which they were added.
func (w *Watch) Breaks() []Breakpoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := []Breakpoint{}
	for _, b := range w.gate.breaks {
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

func (w *Watch) matches(b *Breakpoint, e *Event) bool {
	switch {
	case b.At != 0 && b.At != e.Point,
		b.At == 0 && b.When == "" && e.Point != Executes,
		b.When != "" && !b.when(e),
		b.ClientID != 0 && b.ClientID != e.Client,
		b.Cmd != "" && e.Name != b.Cmd && !strings.HasPrefix(e.Name, b.Cmd+"|"),
		b.Client != "" && (e.Client == 0 || !w.named(b.Client, e.Client)):
		return false
	}
	return b.Key == "" || w.hasKey(b.Key, e)
}

// named asks the server for the name of a client. An I/O thread may ask too: main waits for it.
func (w *Watch) named(glob string, client int64) bool {
	return w.Name != nil && w.Match(glob, []byte(w.Name(client)))
}

func (w *Watch) hasKey(glob string, e *Event) bool {
	if e.Args == nil || w.Keys == nil {
		return false
	}
	return slices.ContainsFunc(w.Keys(e.Args), func(key []byte) bool { return w.Match(glob, key) })
}

// again is EAGAIN as A of an event.
const again = -11

func (b *Breakpoint) when(e *Event) bool {
	switch b.When {
	case "PARTIAL":
		return e.Point == Parsed && e.Text != ""
	case "EAGAIN":
		return (e.Point == ReadDone || e.Point == Written) && e.A == again
	case "BLOCKED":
		return e.Point == Replied && e.B == ReplyBlocked
	case "ERROR":
		return e.Point == Replied && e.B == ReplyError
	case "EXPIRED":
		return e.Point == Expired
	case "READY":
		return e.Point == Woke && e.A >= b.Ready
	}
	return false
}
