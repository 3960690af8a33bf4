package labverdict

import (
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/resp"
)

// Diagnose answers LAB DOCTOR from the log of a master. now is unix ms by the clock of that master.
func Diagnose(w *resp.Writer, log lab.History, now int64) error {
	log.Master, log.Masters = 1, 1
	findings, err := verdict.Mistakes(log, now)
	if err == nil {
		Findings(w, findings)
	}
	return err
}

// Findings writes the findings of a doctor, as a map for each.
func Findings(w *resp.Writer, findings []doctor.Finding) {
	w.Array(len(findings))
	for _, f := range findings {
		w.Map(10)
		w.TextField("pattern", string(f.Pattern))
		w.TextField("key", f.Key)
		w.IntField("db", int64(f.DB))
		w.IntField("client", f.Client)
		w.TextField("name", f.Name)
		w.IntField("unix-ms", f.Time)
		w.IntField("count", int64(f.Count))
		w.BulkString("commands")
		w.Array(len(f.Steps))
		for _, step := range f.Steps {
			w.BulkString(describeStep(step))
		}
		w.TextField("why", f.Why)
		w.TextField("fix", f.Fix)
	}
}

// describeStep writes a step as one line.
func describeStep(step holders.Step) string {
	var b strings.Builder
	switch {
	case step.Node != "":
		b.WriteString(step.Node + ": ")
	case step.Master > 0:
		fmt.Fprintf(&b, "master %d: ", step.Master)
	}
	fmt.Fprintf(&b, "%d", step.Time)
	if step.Client != 0 {
		fmt.Fprintf(&b, " id=%d", step.Client)
	}
	if step.Name != "" {
		fmt.Fprintf(&b, " name=%s", step.Name)
	}
	b.WriteString(": " + step.Command)
	if step.Reply != "" {
		b.WriteString(" -> " + step.Reply)
	}
	return b.String()
}
