package lab

import (
	"bytes"
	"errors"
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/lab/words"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// LAB VERDICT asks all masters for their logs, as LAB ALL LOG EXPORT does, but no text is made of them. A
// goroutine of its own judges them, because the search for a legal order may take a second. The loop goes on
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

// verdictForm is what LAB VERDICT replies.
type verdictForm string

const (
	verdictWords verdictForm = ""
	verdictSVG   verdictForm = "SVG"
	verdictPage  verdictForm = "PAGE"
)

func (l *State) verdict(c *command.Call) error {
	form, pattern, args := verdictWords, "*", c.Args[2:]
	var in words.Language
	if len(args) > 0 && (ascii.EqualFold(args[0], "svg") || ascii.EqualFold(args[0], "page")) {
		form, args = verdictForm(labVerb(args[0])), args[1:]
		if len(args) > 1 && ascii.EqualFold(args[0], "lang") {
			in, args = words.Language(args[1]), args[2:]
			if !in.Known() {
				return labError("verdict", "the language is en or zh, not '%s'", printable([]byte(in)))
			}
		}
	}
	if len(args) > 0 {
		pattern, args = string(args[0]), args[1:]
	}
	if len(args) > 0 {
		return labError("verdict", "'%s' is one argument too many", printable(args[0]))
	}
	r := &relay{home: l, by: l.Running}
	logs := make([]lab.History, 0, len(l.All))
	r.finish = func() {
		l.apart(r, func(w *resp.Writer) {
			l.judging.Lock()
			defer l.judging.Unlock()
			if err := writeVerdict(w, form, in, pattern, logs); err != nil {
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

// writeVerdict judges the logs of the masters and writes the reply of LAB VERDICT. A master that has ended
// has no log.
func writeVerdict(w *resp.Writer, form verdictForm, in words.Language, pattern string, logs []lab.History) error {
	histories := slices.DeleteFunc(logs, func(h lab.History) bool { return h.Master == 0 })
	if len(histories) == 0 {
		return errors.New("no master has a log")
	}
	v, err := verdict.JudgeLocks(histories, func(key string) bool {
		return store.MatchPattern(pattern, []byte(key))
	})
	if err != nil {
		return err
	}
	v.Language = in
	var picture bytes.Buffer
	switch form {
	case verdictSVG:
		err = v.SVG(&picture)
	case verdictPage:
		err = v.Picture(&picture)
	default:
		replyVerdict(w, v)
		return nil
	}
	w.Bulk(picture.Bytes())
	return err
}

func replyVerdict(w *resp.Writer, v *verdict.Verdict) {
	w.Map(9)
	w.TextField("verdict", string(v.Result()))
	w.TextField("text", v.Text())
	w.IntField("masters", int64(v.Masters))
	w.IntField("entries", int64(v.Entries))
	w.IntField("locks", int64(v.Locks))
	w.IntField("grants", int64(v.Grants))
	w.IntField("missing", v.Missing)
	violations := v.Violations()
	w.BulkString("violations")
	w.Array(len(violations))
	for _, f := range violations {
		w.Map(6)
		w.TextField("key", f.Key)
		w.IntField("db", int64(f.DB))
		w.TextField("why", f.Why)
		w.TextField("fix", f.Fix)
		w.TextField("fencing", f.Fencing)
		replySteps(w, f.Steps)
	}
	w.BulkString("undecided")
	open := slices.Concat(v.Undecided, v.NotJudged)
	w.Array(len(open))
	for _, q := range open {
		w.Map(5)
		w.TextField("key", q.Key)
		w.IntField("db", int64(q.DB))
		w.TextField("why", q.Why)
		w.TextField("fix", q.Fix)
		replySteps(w, q.Steps)
	}
}

func replySteps(w *resp.Writer, steps []holders.Step) {
	w.BulkString("commands")
	w.Array(len(steps))
	for _, step := range steps {
		w.BulkString(verdict.Line(step))
	}
}
