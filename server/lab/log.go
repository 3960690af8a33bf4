package lab

import (
	"fmt"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labreply"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

func logRows() []command.Row {
	return []command.Row{
		wordsRow("log", "[count | RESET | "+
			"WATCH pattern [AS (MUTEX | REENTRANT | RW | FAIR | SEMAPHORE holders:integer | QUEUE)] | "+
			"UNWATCH pattern | EXPORT]",
			-2, "O(N) where N is the number of entries",
			"Lists the rules that fired and the commands on watched keys.",
			labWord{labCount, 0, 0, command.AllowBusy, (*State).logNewest},
			labWord{"RESET", 0, 0, command.AllowBusy, (*State).logReset},
			labWord{"WATCH", 1, 4, command.AllowBusy, (*State).logWatch},
			labWord{"UNWATCH", 1, 1, command.AllowBusy, (*State).logUnwatch},
			labWord{"EXPORT", 0, 0, command.AllowBusy, (*State).logExport},
			labWord{"", 0, 0, command.AllowBusy, (*State).logAll}),
	}
}

func (l *State) logAll(c *command.Call, _ [][]byte) error {
	labreply.Entries(c.Writer, l.history.All())
	return nil
}

func (l *State) logNewest(c *command.Call, _ [][]byte) error {
	n, _ := ascii.ParseInt(c.Args[2])
	labreply.Entries(c.Writer, l.history.Newest(int(min(n, lab.MaxMillis))))
	return nil
}

// logExport writes a long log in a goroutine of its own, and the client waits.
func (l *State) logExport(c *command.Call, _ [][]byte) error {
	history, by := l.history.Export(l.Group, l.Cfg.Masters), l.Running
	history.Node, history.Cluster = l.node(), l.cluster != nil
	switch {
	case NoteOf(by.Internal).history != nil:
		*NoteOf(by.Internal).history = history
		c.OK()
	case len(history.Entries) <= shortLog:
		c.Bulk(history.JSON())
	default:
		r := &relay{home: l, by: by}
		r.begin(c)
		l.apart(r, func(w *resp.Writer) { w.Bulk(history.JSON()) })
	}
	return nil
}

// shortLog is how many entries the loop writes itself. That takes about a millisecond.
const shortLog = 500

func (l *State) logReset(c *command.Call, _ [][]byte) error {
	l.history.Reset()
	l.logChanged(lab.EventWatched, l.found(l.history.Watches))
	c.OK()
	return nil
}

func (l *State) logWatch(c *command.Call, args [][]byte) error {
	watched, err := lab.ParseWatch(args)
	if err != nil {
		return labError("log watch", "%v", err)
	}
	nodes := l.nodes()
	if len(nodes) == 1 {
		l.watch(watched)
		c.OK()
		return nil
	}
	// Each of the nodes may become the master, and a log that lacks its grants would make the verdict blind.
	w := server.Waiter{By: l.Running, Request: c.Sess.Commands}
	l.eachNode(nodes, func(_ int, at *State, end func()) {
		at.watch(watched)
		end()
	}, func() {
		if w.IsOn() {
			l.Ex.Answer(&w.By.Sess, (*resp.Writer).OK)
		}
	})
	c.Await((*resp.Writer).OK)
	return nil
}

func (l *State) logUnwatch(c *command.Call, args [][]byte) error {
	if !l.history.Unwatch(string(args[0])) {
		return labError("log unwatch", "'%s' is not watched", printable(args[0]))
	}
	l.arm()
	l.watchKeys()
	if len(l.history.Newest(1)) > 0 { // else there is no entry that a gap could come after
		l.logEvent(lab.EventUnwatched, printable(args[0]))
	}
	c.OK()
	return nil
}

// logEvent adds an entry about the lab itself.
func (l *State) logEvent(event, what string) {
	e := l.newEntry(nil, event)
	e.Outcome, e.Reply, e.Changes = lab.Executed, what, l.changed(lab.ByLoss)
	l.history.Add(e)
}

// logMoved adds an entry about a move of the clock. together is set if all masters move theirs.
func (l *State) logMoved(from, to int64, together bool) {
	e := l.newEntry(nil, lab.EventClock)
	e.From, e.To, e.Together, e.Outcome = from, to, together, lab.Executed
	if from != to {
		e.Reply = fmt.Sprintf("%d -> %d", from, to)
	}
	l.history.Add(e)
	l.doctor.ClockMoved(from, to, together)
}
