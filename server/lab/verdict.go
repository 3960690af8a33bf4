package lab

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labverdict"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// LAB VERDICT asks all masters for their logs, as LAB ALL LOG EXPORT does, but no text is made of them. A
// goroutine of its own judges them, because the search for a legal order may take a second. The loop continues
// meanwhile.
//
//	by: LAB VERDICT      home                  masters           a goroutine
//	   │ Await             ├── LAB LOG EXPORT ────>│
//	   │                   │<── post(arrived) ─────┘
//	   │                   ├── apart ─────────────────────────────────>│
//	   │<── Answer ────────┤<── post ──────────────────────────────────┘

func verdictRows() []command.Row {
	return []command.Row{
		Row("verdict", "[SVG | PAGE [LANG language:string]] [pattern:string]",
			-2, command.AllowBusy,
			"O(N) where N is the number of entries in all logs, and at most some millions of steps",
			"Judges the locks in the logs of all masters: did two clients hold one lock?", (*State).verdict),
	}
}

func (l *State) verdict(c *command.Call) error {
	ask, err := labverdict.Parse(c.Args[2:])
	if err != nil {
		return labError("verdict", "%v", err)
	}
	r := &relay{home: l, by: l.Running}
	logs := make([]lab.History, 0, len(l.All))
	r.finish = func() {
		l.apart(r, func(w *resp.Writer) {
			l.judging.Lock()
			defer l.judging.Unlock()
			if err := ask.Write(w, logs); err != nil {
				w.Buf = server.ErrorReply(store.Errorf("ERR LAB VERDICT: %v", err))
			}
		})
	}
	r.send(c, l.All, func() *server.InternalRequest {
		logs = append(logs, lab.History{})
		return &server.InternalRequest{
			Args: [][]byte{[]byte("LAB"), []byte("LOG"), []byte("EXPORT")},
			Note: &labRequest{history: &logs[len(logs)-1]},
		}
	})
	return nil
}

// apart answers r with what write writes in a goroutine of its own.
func (l *State) apart(r *relay, write func(w *resp.Writer)) {
	w := resp.Writer{Proto: r.by.Sess.Proto}
	go func() {
		write(&w)
		l.Inbox.Post(func() { r.handOver(w.Buf) })
	}()
}

// handOver answers with a reply that nobody else has. It becomes the output of a client that has no other:
// a copy of ten megabytes would make the loop collect garbage for as many milliseconds.
func (r *relay) handOver(reply []byte) {
	c := r.by
	if c.Internal != nil || c.Sess.Replies != command.ReplyOn || len(c.Out.Buf) > 0 {
		r.answer(func(to *resp.Writer) { to.Raw(reply) })
		return
	}
	if Of(c).relay != r {
		return
	}
	r.answer(func(*resp.Writer) {})
	if len(c.Out.Buf) == 0 && !c.Closed {
		c.Out.Buf, reply = reply, nil
	}
	r.home.Push(c, reply)
}
