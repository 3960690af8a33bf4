package verdict

import (
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/picture"
)

// mark adds the mark of the entry in a column.
func (s *sketch) mark(column, index int) {
	e := s.replay.entries[index]
	m := picture.Mark{At: column, Title: s.describe(e)}
	g := &s.groups[1+e.master]
	ended, over := s.ended[index]
	switch {
	case e.Event == lab.EventClock:
		m.Kind, m.Label = picture.Clock, s.words.Say("clock %s", s.signed(e.To-e.From))
	case e.Event == lab.EventCrash && e.Reply != "":
		m.Kind, m.Label = picture.Crash, s.words.Say("restart")
	case e.Event == lab.EventCrash:
		m.Kind, m.Label = picture.Crash, s.words.Say("crash")
	case e.Event == lab.EventRestore:
		m.Kind, m.Label = picture.Crash, s.words.Say("restored")
	case e.isRole():
		m.Kind, m.Label = picture.Role, s.roleOf(e)
	case e.Event == lab.EventExpired && over:
		m.Kind, m.Label = picture.Expired, s.words.Say("expired")
		r := s.row(1+e.master, s.nameOf(ended))
		r.Marks = append(r.Marks, m)
		return
	case len(e.Cmd) > 0:
		m.Kind, m.Label = s.kindOf(e, ended, over)
		name := s.nameBy(e)
		if over && ended.End == holders.EndReleased {
			name = s.nameOf(ended)
		}
		r := s.row(1+e.master, name)
		r.Marks = append(r.Marks, m)
		return
	default:
		return
	}
	g.Marks = append(g.Marks, m)
}

// roleOf returns the label of an event about roles and links.
func (s *sketch) roleOf(e entry) string {
	late, isLate := strings.CutPrefix(e.Reply, "late ")
	switch {
	case e.Event == lab.EventPromoted:
		return s.words.Say("promoted")
	case e.Event == lab.EventDemoted:
		return s.words.Say("replica of %s", s.peer(e))
	case e.Event == lab.EventSynced && e.Reply == lab.SyncedFull:
		return s.words.Say("all keys from %s", s.peer(e))
	case e.Event == lab.EventSynced:
		return s.words.Say("follows %s", s.peer(e))
	case isLate:
		return s.words.Say("link late by %s", late)
	}
	switch e.Reply {
	case "held":
		return s.words.Say("link held")
	case "released":
		return s.words.Say("link released")
	case lab.LinkDown:
		return s.words.Say("link down")
	}
	return s.words.Say("link up")
}

// peer names the other node of an event.
func (s *sketch) peer(e entry) string {
	if e.Peer < 1 || e.Peer > len(s.nodes) {
		return s.words.Say("another server")
	}
	return s.nodes[e.Peer-1].name
}

// kindOf returns the kind of mark for a command, and its label.
func (s *sketch) kindOf(e entry, ended holders.Vote, over bool) (picture.Kind, string) {
	name := strings.ToUpper(e.Cmd[0])
	switch e.Outcome {
	case lab.Held, lab.Delayed:
		return picture.Held, s.words.Say("%s held", name)
	case lab.ReplyLate:
		return picture.Held, s.words.Say("%s reply late", name)
	case lab.PushLate:
		return picture.Held, s.words.Say("message late")
	case lab.ReplyLost, lab.ReplyCut:
		return picture.Lost, s.words.Say("%s reply lost", name)
	case lab.PushSkipped:
		return picture.Lost, s.words.Say("message lost")
	case lab.NotExecuted:
		if e.Reply == "" {
			return picture.Error, s.words.Say("%s dropped", name)
		}
		return picture.Error, s.words.Say("%s error", name)
	case lab.Failed:
		return picture.Error, s.words.Say("%s error", name)
	}
	switch {
	case over && ended.End == holders.EndReleased:
		return picture.Released, name
	case over:
		return picture.Stranger, name
	case s.refused(e):
		return picture.Refused, name
	}
	return picture.Command, name
}

// refused reports whether e tried to take the lock in vain.
func (s *sketch) refused(e entry) bool {
	if e.Reply != "(nil)" && e.Reply != "0" {
		return false
	}
	if strings.EqualFold(e.Cmd[0], "setnx") {
		return true
	}
	for _, word := range e.Cmd[min(3, len(e.Cmd)):] {
		if strings.EqualFold(e.Cmd[0], "set") && strings.EqualFold(word, "nx") {
			return true
		}
	}
	return false
}

// describe returns an entry as a line.
func (s *sketch) describe(e entry) string {
	line := s.clock(e.Time)
	if e.Client != 0 {
		line += ", " + s.nameBy(e)
	}
	if len(e.Cmd) > 0 {
		line += ": " + lab.Line(e.Cmd)
	} else {
		line += ": " + strings.TrimSpace(s.words.Say(e.Event)+" "+e.Key)
	}
	if e.Reply != "" {
		line += " -> " + e.Reply
	}
	if e.Outcome != lab.Executed {
		line += " (" + s.words.Say(string(e.Outcome)) + ")"
	}
	return line
}

// signed returns a number of ms as seconds, with its sign.
func (s *sketch) signed(ms int64) string {
	if ms < 0 {
		return "-" + s.seconds(-ms)
	}
	return "+" + s.seconds(ms)
}

// clocks adds the times of each master, where they change.
func (s *sketch) clocks() {
	last := map[int]int64{}
	for at, i := range s.entries {
		e := s.replay.entries[i]
		if shown, known := last[e.master]; known && shown == e.Time {
			continue
		}
		last[e.master] = e.Time
		g := &s.groups[1+e.master]
		g.Times = append(g.Times, picture.Time{At: at, Text: s.clock(e.Time)})
	}
}

// waits adds a line from each request that was held back to its execution.
func (s *sketch) waits() {
	held := map[string]int{} // the column, by master, client and command
	for at, i := range s.entries {
		e := s.replay.entries[i]
		if len(e.Cmd) == 0 {
			continue
		}
		id := fmt.Sprint(e.master, e.Client, e.Cmd)
		from, waits := held[id]
		switch {
		case e.Outcome == lab.Held || e.Outcome == lab.Delayed:
			held[id] = at
		case waits:
			delete(held, id)
			r := s.row(1+e.master, s.nameBy(e))
			r.Waits = append(r.Waits, picture.Span{From: from, To: at})
		}
	}
}
