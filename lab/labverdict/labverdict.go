// Package labverdict answers LAB VERDICT and LAB DOCTOR: it reads the words and writes the reply. Package verdict
// judges. A server and a proxy collect the logs, and call it.
//
// The package has no state. Any goroutine may call it. Redis has nothing like it.
package labverdict

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/lab/words"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Ask is what a client wants to know.
type Ask struct {
	form    form
	in      words.Language
	pattern string // of keys
}

// form is what LAB VERDICT replies.
type form string

const (
	inWords form = ""
	asSVG   form = "SVG"
	asPage  form = "PAGE"
)

// Judge answers LAB VERDICT: Parse, and then Write.
func Judge(w *resp.Writer, args [][]byte, logs []lab.History) error {
	ask, err := Parse(args)
	if err != nil {
		return err
	}
	return ask.Write(w, logs)
}

// Parse reads the words after LAB VERDICT: [SVG | PAGE [LANG language]] [pattern]. The error names the word that is
// wrong.
func Parse(args [][]byte) (*Ask, error) {
	a := &Ask{pattern: "*"}
	for _, form := range []form{asSVG, asPage} {
		if len(args) > 0 && ascii.EqualFold(args[0], string(form)) {
			a.form, args = form, args[1:]
			break
		}
	}
	if a.form != inWords && len(args) > 1 && ascii.EqualFold(args[0], "lang") {
		a.in, args = words.Language(args[1]), args[2:]
		if !a.in.Known() {
			return nil, fmt.Errorf("the language is en or zh, not '%s'", lab.Printable(string(a.in)))
		}
	}
	if len(args) > 0 {
		a.pattern, args = string(args[0]), args[1:]
	}
	if len(args) > 0 {
		return nil, fmt.Errorf("'%s' is one argument too many", lab.Printable(string(args[0])))
	}
	return a, nil
}

// Write judges the logs of the masters and writes the reply. A master that has ended has no log.
func (a *Ask) Write(w *resp.Writer, logs []lab.History) error {
	histories := slices.DeleteFunc(logs, func(h lab.History) bool { return h.Master == 0 })
	if len(histories) == 0 {
		return errors.New("no master has a log")
	}
	v, err := verdict.JudgeLocks(histories, func(key string) bool {
		return store.MatchPattern(a.pattern, []byte(key))
	})
	if err != nil {
		return err
	}
	v.Language = a.in
	var picture bytes.Buffer
	switch a.form {
	case asSVG:
		err = v.SVG(&picture)
	case asPage:
		err = v.Picture(&picture)
	default:
		reply(w, v)
		return nil
	}
	w.Bulk(picture.Bytes())
	return err
}

func reply(w *resp.Writer, v *verdict.Verdict) {
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
		writeSteps(w, f.Steps)
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
		writeSteps(w, q.Steps)
	}
}

func writeSteps(w *resp.Writer, steps []holders.Step) {
	w.BulkString("commands")
	w.Array(len(steps))
	for _, step := range steps {
		w.BulkString(verdict.Line(step))
	}
}
