// Package labreply writes the replies of LAB, which are the same for a server and for a proxy. It decides nothing:
// package lab has the rules and the log, and the callers own them. The goroutine that owns the connection calls it.
//
// Redis has nothing like LAB.
package labreply

import (
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/resp"
)

// Entries writes entries of the log, as a map for each. It leaves out the fields that differ between two runs
// of a test.
func Entries(w *resp.Writer, entries []lab.Entry) {
	w.Array(len(entries))
	for i := range entries {
		e := &entries[i]
		fields := 11
		if len(e.Changes) > 0 {
			fields++
		}
		w.Map(fields)
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
		if len(e.Changes) > 0 {
			str("changes", e.ChangesText())
		}
	}
}

// Rules writes rules, as a map for each. held returns how many clients a rule holds.
func Rules(w *resp.Writer, rules []*lab.Rule, held func(rule string) int) {
	w.Array(len(rules))
	for _, r := range rules {
		w.Map(5)
		w.BulkString("name")
		w.BulkString(r.Name)
		w.BulkString("rule")
		w.BulkString(lab.Printable(lab.Line(r.Words()[1:])))
		w.BulkString("matched")
		w.Int(r.Matched)
		w.BulkString("fired")
		w.Int(r.Fired)
		w.BulkString("held")
		w.Int(int64(held(r.Name)))
	}
}

// Held writes a client that a rule holds, as a map.
func Held(w *resp.Writer, client int64, name, rule string, words []string, key string) {
	w.Map(5)
	w.BulkString("client")
	w.Int(client)
	w.BulkString("name")
	w.BulkString(name)
	w.BulkString("rule")
	w.BulkString(rule)
	w.BulkString("cmd")
	w.BulkString(lab.Line(words))
	w.BulkString("key")
	w.BulkString(key)
}
