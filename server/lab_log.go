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
		s.labWordsRow("log", "[count | RESET | WATCH pattern | UNWATCH pattern | EXPORT]", -2, "O(N) where N is the number of entries",
			"Tells which rules have fired, and which commands were executed on watched keys.",
			labWord{labCount, 0, 0, command.AllowBusy, s.labLogNewest},
			labWord{"RESET", 0, 0, command.AllowBusy, s.labLogReset},
			labWord{"WATCH", 1, 1, command.AllowBusy, s.labLogWatch},
			labWord{"UNWATCH", 1, 1, command.AllowBusy, s.labLogUnwatch},
			labWord{"EXPORT", 0, 0, command.AllowBusy, s.labLogExport},
			labWord{"", 0, 0, command.AllowBusy, s.labLogAll}),
	}
}

func (s *Server) labLogAll(c *command.Call, _ [][]byte) error {
	writeEntries(c.Writer, s.lab.history.All())
	return nil
}

func (s *Server) labLogNewest(c *command.Call, _ [][]byte) error {
	n, _ := store.ParseInt(c.Args[2])
	writeEntries(c.Writer, s.lab.history.Newest(int(min(n, farMillis))))
	return nil
}

func (s *Server) labLogExport(c *command.Call, _ [][]byte) error {
	c.Bulk(s.lab.history.Export(s.number, s.masters))
	return nil
}

func (s *Server) labLogReset(c *command.Call, _ [][]byte) error {
	s.lab.history.Reset()
	c.OK()
	return nil
}

func (s *Server) labLogWatch(c *command.Call, args [][]byte) error {
	if len(args[0]) == 0 {
		return labError("log watch", "pattern is empty: no key is")
	}
	s.lab.history.Watch(string(args[0]))
	s.arm()
	c.OK()
	return nil
}

func (s *Server) labLogUnwatch(c *command.Call, args [][]byte) error {
	if !s.lab.history.Unwatch(string(args[0])) {
		return labError("log unwatch", "'%s' is not watched", lab.Printable(string(args[0])))
	}
	s.arm()
	c.OK()
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

// labMoved notes that the clock is moved, together with those of all masters or alone.
func (s *Server) labMoved(from, to int64, together bool) {
	e := s.labEntry(nil, lab.EventClock)
	e.From, e.To, e.Together, e.Outcome = from, to, together, lab.Executed
	if from != to {
		e.Reply = fmt.Sprintf("%d -> %d", from, to)
	}
	s.lab.history.Add(e)
	s.lab.doctor.ClockMoved(from, to, together)
}
