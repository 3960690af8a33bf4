package server

import (
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func (s *Server) labLogRows() []command.Row {
	return []command.Row{
		s.labRow("log", "[count | RESET | WATCH pattern | UNWATCH pattern | EXPORT]", -2, "O(N) where N is the number of entries",
			"Tells which rules have fired, and which commands were executed on watched keys.", s.labLog),
	}
}

func (s *Server) labLog(c *command.Call) error {
	verb, args := "", c.Args[2:]
	if len(args) > 0 {
		verb, args = labVerb(args[0]), args[1:]
	}
	want, known := map[string]int{"": 0, "RESET": 0, "WATCH": 1, "UNWATCH": 1, "EXPORT": 0}[verb]
	if !known {
		return s.labLogNewest(c)
	}
	if err := labArgs("log "+verb, args, want, want); err != nil {
		return err
	}
	history := s.lab.history
	switch verb {
	case "":
		writeEntries(c.Writer, history.All())
		return nil
	case "EXPORT":
		c.Bulk(history.Export(s.number, s.masters))
		return nil
	case "RESET":
		history.Reset()
	case "WATCH":
		if len(args[0]) == 0 {
			return labError("log watch", "pattern is empty: no key is")
		}
		history.Watch(string(args[0]))
	case "UNWATCH":
		if !history.Unwatch(string(args[0])) {
			return labError("log unwatch", "'%s' is not watched", lab.Printable(string(args[0])))
		}
	}
	s.arm()
	c.OK()
	return nil
}

// labLogNewest is LAB LOG with a number.
func (s *Server) labLogNewest(c *command.Call) error {
	n, ok := store.ParseInt(c.Args[2])
	if !ok || n < 0 {
		return labError("log", "wants a number, RESET, WATCH, UNWATCH, EXPORT or nothing, not '%s'", lab.Printable(string(c.Args[2])))
	}
	if err := labArgs("log", c.Args[3:], 0, 0); err != nil {
		return err
	}
	writeEntries(c.Writer, s.lab.history.Newest(int(min(n, farMillis))))
	return nil
}

// writeEntries leaves out what is never the same twice.
func writeEntries(w *resp.Writer, entries []lab.Entry) {
	w.Array(len(entries))
	for i := range entries {
		e := &entries[i]
		w.Map(11)
		num := func(field string, n int64) {
			w.BulkString(field)
			w.Int(n)
		}
		str := func(field, text string) {
			w.BulkString(field)
			w.BulkString(text)
		}
		num("seq", e.Seq)
		num("time", e.Time)
		num("client", e.Client)
		str("name", e.Name)
		str("event", e.Event)
		str("cmd", lab.Line(e.Cmd))
		str("key", e.Key)
		num("db", int64(e.DB))
		str("by", e.By)
		str("outcome", string(e.Outcome))
		str("reply", e.Reply)
	}
}

// labEvent adds an entry of the lab's own.
func (s *Server) labEvent(event, what string) {
	e := s.labEntry(nil, event)
	e.Outcome, e.Reply = lab.Executed, what
	s.lab.history.Add(e)
}

// labMoved notes that the clock is moved.
func (s *Server) labMoved(from, to int64) {
	e := s.labEntry(nil, lab.EventClock)
	e.From, e.To, e.Outcome = from, to, lab.Executed
	if from != to {
		e.Reply = fmt.Sprintf("%d -> %d", from, to)
	}
	s.lab.history.Add(e)
}
