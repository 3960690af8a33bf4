package server

import (
	"bufio"
	"bytes"
	"errors"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// LAB VERDICT asks all masters for their logs, as LAB ALL LOG EXPORT does. A goroutine of its own
// judges them, because the search for a legal order may take a second. The loop goes on meanwhile.
//
//	by: LAB VERDICT      home                  masters           a goroutine
//	   │ Await             ├── LAB LOG EXPORT ────>│
//	   │                   │<── post(arrived) ─────┘
//	   │                   ├── judge ─────────────────────────────────>│
//	   │<── Answer ────────┤<── post ──────────────────────────────────┘

func verdictRows() []command.Row {
	return []command.Row{
		labRow("verdict", "[SVG | PAGE] [pattern:string]",
			-2, command.AllowBusy,
			"O(N) where N is the number of entries in all logs, and at most some millions of steps",
			"Judges the locks in the logs of all masters: did two clients hold one lock?", (*labState).verdict),
	}
}

// verdictForm is what LAB VERDICT replies.
type verdictForm string

const (
	verdictWords verdictForm = ""
	verdictSVG   verdictForm = "SVG"
	verdictPage  verdictForm = "PAGE"
)

func (l *labState) verdict(c *command.Call) error {
	form, pattern, args := verdictWords, "*", c.Args[2:]
	if len(args) > 0 && (is(args[0], "svg") || is(args[0], "page")) {
		form, args = verdictForm(labVerb(args[0])), args[1:]
	}
	if len(args) > 0 {
		pattern, args = string(args[0]), args[1:]
	}
	if len(args) > 0 {
		return labError("verdict", "'%s' is one argument too many", printable(args[0]))
	}
	r := &relay{home: l.Server, by: l.running}
	proto := c.Sess.Proto
	r.finish = func() { l.judge(r, form, pattern, proto) }
	r.send(c, l.peers, func() *internalRequest {
		return &internalRequest{args: [][]byte{[]byte("LAB"), []byte("LOG"), []byte("EXPORT")}}
	})
	return nil
}

// judge answers r with the verdict over the logs that have arrived. One search runs at a time, because a
// search over a long log takes 100 MB.
func (l *labState) judge(r *relay, form verdictForm, pattern string, proto int) {
	logs := r.replies
	go func() {
		l.judging.Lock()
		defer l.judging.Unlock()
		w := resp.Writer{Proto: proto}
		if err := writeVerdict(&w, form, pattern, logs); err != nil {
			w.Buf = errorReply(errorf("ERR LAB VERDICT: %v", err))
		}
		l.post(func() {
			r.answer(func(to *resp.Writer) { to.Raw(w.Buf) })
		})
	}()
}

// writeVerdict judges logs, which are replies of LAB LOG EXPORT, and writes the reply of LAB VERDICT.
func writeVerdict(w *resp.Writer, form verdictForm, pattern string, logs [][]byte) error {
	histories, err := readLogs(logs)
	if err != nil {
		return err
	}
	v, err := verdict.JudgeLocks(histories, func(key string) bool {
		return store.MatchPattern(pattern, []byte(key))
	})
	if err != nil {
		return err
	}
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

// readLogs reads the histories of the masters. A master that has ended has none.
func readLogs(logs [][]byte) (all []lab.History, err error) {
	for _, reply := range logs {
		value, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(reply)))
		if err != nil || value.Kind == '-' {
			continue
		}
		some, err := verdict.Read(strings.NewReader(value.Str))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, errors.New("no master has a log")
	}
	return all, nil
}

func replyVerdict(w *resp.Writer, v *verdict.Verdict) {
	w.Map(8)
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
		w.BulkString("commands")
		w.Array(len(f.Steps))
		for _, step := range f.Steps {
			w.BulkString(verdict.Line(step))
		}
	}
}
