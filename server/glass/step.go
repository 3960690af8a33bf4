package glass

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/lab"
	"github.com/miniredisd/miniredisd/store"
)

// LAB STEP and LAB RECORD never need the loop of the server that they are about: it may be stopped. Over
// HTTP, from another master and from the program around, the goroutine that asks does them:
//
//	a client of this server     the row below, on main. PAUSE, NEXT and SLOW begin when the reply is sent
//	LAB MASTER n STEP, HTTP,    InternalRequest.sendTo -> State.takes
//	Server.Do
//
// takes also opens the gate for LAB RESET, LAB CRASH and SHUTDOWN, which the loop has to execute.

// Rows are LAB STEP and LAB RECORD.
func Rows() []command.Row {
	const onlyLooks = "O(1)"
	return []command.Row{
		lab.Row("step", "[PAUSE | CONTINUE | NEXT [EVENT | HANDLER | CLIENT | COMMAND | PHASE | PASS] [n] | "+
			"SLOW milliseconds | BREAK (ADD name [AT point] [CMD command] [KEY pattern] [CLIENT id-or-pattern] [NTH n] "+
			"[WHEN condition] | DEL name | CLEAR | LIST) | CLOCK (STILL | RUN) | LIMIT seconds]",
			-2, command.AllowBusy, onlyLooks,
			"Stops the loop at its points and lets it go on.", stepCommand),
		lab.Row("record", "(START [PASSES n] | STOP | GET | SAVE file | LIST)",
			-3, command.AllowBusy, "O(N) with GET and SAVE, where N is the number of events, otherwise O(1)",
			"Records what the loop does.", recordCommand),
	}
}

const errWatchOff store.Error = "ERR LAB STEP and LAB RECORD need a watch: start the server with --watch 127.0.0.1:0"

func stepCommand(l *lab.State, c *command.Call) error   { return stepOrRecord(l, c, stepVerb) }
func recordCommand(l *lab.State, c *command.Call) error { return stepOrRecord(l, c, recordVerb) }

func stepVerb(w *glass.View, words []string) (glass.Verb, error)   { return w.Verb(words) }
func recordVerb(w *glass.View, words []string) (glass.Verb, error) { return w.RecordVerb(words) }

// stepOrRecord executes a verb for a client of this server.
func stepOrRecord(
	l *lab.State, c *command.Call, read func(*glass.View, []string) (glass.Verb, error),
) error {
	v, isOn := server.FindPart[*State](l.Server)
	if !isOn {
		return errWatchOff
	}
	verb, err := read(v.view, wordsOf(c.Args[2:]))
	if err != nil {
		return store.Error(err.Error())
	}
	if verb.Stops {
		v.later = append(v.later, verb)
		c.OK()
		return nil
	}
	reply, err := verb.Do()
	if err != nil {
		return store.Error(err.Error())
	}
	writeStep(c.Writer, reply)
	return nil
}

func wordsOf(args [][]byte) []string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = string(arg)
	}
	return words
}

// writeStep writes the reply of a verb.
func writeStep(w *resp.Writer, reply any) {
	switch reply := reply.(type) {
	case glass.State:
		writeState(w, &reply)
	case []glass.Breakpoint:
		w.Array(len(reply))
		for i := range reply {
			b := &reply[i]
			w.Map(4)
			w.BulkString("name")
			w.BulkString(b.Name)
			w.BulkString("breakpoint")
			w.BulkString(strings.Join(b.Words()[1:], " "))
			w.BulkString("matched")
			w.Int(b.Matched)
			w.BulkString("fired")
			w.Int(b.Fired)
		}
	case []glass.Saved:
		w.Array(len(reply))
		for _, s := range reply {
			w.Map(3)
			w.BulkString("file")
			w.BulkString(s.File)
			w.BulkString("events")
			w.Int(int64(s.Events))
			w.BulkString("bytes")
			w.Int(s.Bytes)
		}
	case []byte:
		w.Bulk(reply)
	default:
		w.OK()
	}
}

func writeState(w *resp.Writer, s *glass.State) {
	w.Map(9)
	str := func(name, text string) {
		w.BulkString(name)
		w.BulkString(text)
	}
	num := func(name string, n int64) {
		w.BulkString(name)
		w.Int(n)
	}
	str("state", s.State)
	str("point", s.Point)
	num("pass", s.Pass)
	num("seq", s.Seq)
	num("client", s.Client)
	num("thread", int64(s.Thread))
	str("breakpoint", s.Breakpoint)
	num("slow", s.Slow)
	w.BulkString("still")
	w.Bool(s.Still)
}

// takes answers LAB STEP and LAB RECORD at once, without the loop, and reports whether it did. Any
// goroutine may call it. v is nil without the directive watch.
func (v *State) takes(r *server.InternalRequest) bool {
	if len(r.Args) == 0 {
		return false
	}
	words := wordsOf(r.Args)
	for i := range min(len(words), 2) {
		words[i] = strings.ToLower(words[i])
	}
	switch {
	case words[0] == "shutdown":
		v.view.Reset()
		return false
	case words[0] != "lab" || len(words) < 2:
		return false
	}
	switch words[1] {
	case "reset", "crash":
		v.view.Reset()
		return false
	case "all", "master":
		return v.takesFor(r, words)
	case "step", "record":
		var w resp.Writer
		w.Proto = r.Sess.Proto
		v.gate(r, &w, words[1:])
		r.Done(w.Buf)
		return true
	}
	return false
}

// gate does a verb for a request and appends its reply.
func (v *State) gate(r *server.InternalRequest, w *resp.Writer, words []string) {
	read := stepVerb
	if words[0] == "record" {
		read = recordVerb
	}
	verb, err := read(v.view, words[1:])
	if err != nil {
		w.Error(err.Error())
		return
	}
	if verb.Stops && lab.NoteOf(r).Own != nil { // this is main, and the reply has to be sent
		v.later = append(v.later, verb)
		w.OK()
		return
	}
	reply, err := verb.Do()
	if err != nil {
		w.Error(err.Error())
		return
	}
	writeStep(w, reply)
}

// takesFor is takes for LAB ALL and LAB MASTER n, of a request that came over HTTP or from the program
// around.
func (v *State) takesFor(r *server.InternalRequest, words []string) bool {
	at, to := 2, v.All
	if words[1] == "master" {
		n, err := strconv.Atoi(words[min(2, len(words)-1)])
		if err != nil || n < 1 || n > len(v.All) {
			return false // the loop refuses it
		}
		at, to = 3, v.All[n-1:n]
	}
	if len(words) <= at {
		return false
	}
	verb := slices.Clone(words[at:])
	verb[0] = strings.ToLower(verb[0])
	if verb[0] == "reset" || verb[0] == "crash" {
		for _, s := range to {
			s.view.Reset()
		}
	}
	if verb[0] != "step" && verb[0] != "record" {
		return false
	}
	var w resp.Writer
	w.Proto = r.Sess.Proto
	if words[1] == "all" {
		w.Array(len(to))
	}
	for _, s := range to {
		s.gate(r, &w, verb)
	}
	r.Done(w.Buf)
	return true
}
