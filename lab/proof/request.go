package proof

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// request is an entry with the script or the transaction around it.
type request struct {
	*lab.Entry
	index  int
	around *lab.Entry // nil if it is no command inside of one, or the log does not have it
	words  []string   // any of them may be a token
}

// actor is who sent a request.
type actor struct {
	client int64
	name   string
	epoch  int
}

// id names a client: by its name, and without a name by its connection.
func (a actor) id() string {
	if a.name != "" {
		return a.name
	}
	return fmt.Sprint("\x00", a.epoch, " ", a.client)
}

const exec = "exec" // lab.Entry.By

func (p *prover) request(i int) *request {
	all := p.history.Entries
	r := &request{Entry: &all[i], index: i}
	if len(r.Cmd) > 0 {
		r.words = r.Cmd[1:]
	}
	if r.By == "" {
		return r
	}
	for j := i + 1; j < len(all); j++ {
		if e := &all[j]; e.Client == r.Client && (e.By != r.By || e.Run != r.Run) {
			if e.By == "" || e.By == exec {
				r.around = e
			}
			break
		}
	}
	if r.around != nil && isAround(r.around, r.By) {
		r.words = slices.Concat(r.words, r.around.Cmd[1:])
	} else {
		r.around = nil
	}
	return r
}

// isAround reports whether e is the EXEC or the script in which a command ran.
func isAround(e *lab.Entry, by string) bool {
	name := lower(e.Cmd)
	if by == exec {
		return name == "exec"
	}
	return strings.HasPrefix(name, "eval") || strings.HasPrefix(name, "fcall")
}

// encloses reports whether e, which stands before r, is a command inside of it.
func (r *request) encloses(e *lab.Entry) bool {
	return e.By != "" && r.By == "" && e.Client == r.Client && isAround(r.Entry, e.By)
}

// script names the script that a request runs, or in which it ran; "" for none.
func (r *request) script() string {
	switch name := lower(r.Cmd); {
	case r.By != "" && r.By != exec:
		return r.By
	case !r.runs() || len(r.Cmd) < 2:
		return ""
	case strings.HasPrefix(name, "eval") && !strings.HasPrefix(name, "evalsha"):
		sha, _ := shaOf(r.Cmd[1])
		return sha
	}
	return strings.ToLower(r.Cmd[1])
}

// shaOf returns the SHA1 of the text of a script, and reports whether the log has all of it.
func shaOf(text string) (sha string, whole bool) {
	const end = ", sha1 "
	if i := strings.LastIndex(text, end); i >= 0 && strings.Contains(text[:i], "...(") &&
		len(text) == i+len(end)+2*sha1.Size+1 {
		return text[i+len(end) : len(text)-1], false
	}
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\\`, `\`).Replace(text) // lab.Printable
	return fmt.Sprintf("%x", sha1.Sum([]byte(text))), true
}

// runs reports whether a request runs a script.
func (r *request) runs() bool {
	name := lower(r.Cmd)
	return strings.HasPrefix(name, "eval") || strings.HasPrefix(name, "fcall")
}

// scriptArgs returns the words of a request that runs a script behind its keys.
func (r *request) scriptArgs() []string {
	if !r.runs() || len(r.Cmd) < 3 {
		return nil
	}
	keys, _ := strconv.Atoi(r.Cmd[2])
	return r.Cmd[min(3+max(keys, 0), len(r.Cmd)):]
}

// tries reports whether a command takes a lock only if it is free.
func tries(r *request) bool {
	name := lower(r.Cmd)
	if name == "copy" || name == "restore" {
		return !r.has(3, "replace")
	}
	return r.has(3, "nx") && !r.demands() || strings.HasSuffix(name, "nx") || name == "move"
}

// triesWith returns the token with which a command takes a lock only if it is free, "" if it is no such command.
func triesWith(r *request) string {
	at := 2
	switch name := lower(r.Cmd); {
	case !tries(r) || r.brings():
		return ""
	case name == "hsetnx" || name == "zadd":
		at = len(r.Cmd) - 1
	}
	if at >= len(r.Cmd) {
		return ""
	}
	return r.Cmd[at]
}

func (r *request) isScript() bool { return r.By != "" && r.By != exec }

func (r *request) actor(epoch int) actor { return actor{r.Client, r.Name, epoch} }

// outer is the entry whose reply the client gets.
func (r *request) outer() *lab.Entry {
	if r.around != nil && r.isScript() {
		return r.around
	}
	return r.Entry
}

// lost reports whether the client does not know the reply.
func (r *request) lost() bool {
	return r.outer().Outcome.Unknown() || r.around != nil && r.around.Outcome.Unknown()
}

// ran reports whether the server has executed the request.
func (r *request) ran() bool {
	return r.Outcome == lab.Executed || r.Outcome == lab.Failed || r.Outcome == lab.ReplyLate || r.Outcome.Unknown()
}

// has reports whether the words of the command behind the first n have an option.
func (r *request) has(n int, option string) bool {
	return len(r.Cmd) > n && slices.ContainsFunc(r.Cmd[n:], func(w string) bool { return strings.EqualFold(w, option) })
}

func isNil(e *lab.Entry) bool { return e.Kind == "_" || e.Reply == "(nil)" && e.Kind != "$" }

// answer is what a reply tells of success.
type answer int

const (
	no    answer = iota // 0, false, an error
	empty               // nil
	yes
)

func answered(e *lab.Entry) answer {
	switch {
	case e.Failed() || e.Outcome == lab.NotExecuted:
		return no
	case isNil(e):
		return empty
	case e.Reply == "" || e.Reply == "0" || e.Reply == "[]" || e.Reply == "(empty array)":
		return no
	}
	return yes
}

// verb names the command as people write it: the script around it, if its own words say less.
func (r *request) verb() string { return strings.ToUpper(lower(r.Cmd)) }

// step returns a request as findings show it, with its master if there are several.
func (p *prover) step(r *request) holders.Step {
	s := r.step()
	if p.masters > 1 {
		s.Master = p.master + 1
	}
	s.Node = p.name
	return s
}

// step returns a request as findings show it.
func (r *request) step() holders.Step {
	s := holders.Step{Time: r.Time, Client: r.Client, Name: r.Name, Command: lab.Line(r.Cmd), Reply: r.Reply}
	switch {
	case len(r.Cmd) == 0:
		s.Command = r.Event
	case r.isScript():
		s.Command += " (in script " + r.By[:min(8, len(r.By))] + ")"
	case r.By == exec:
		s.Command += " (in MULTI)"
	}
	return s
}

// who names a client in a sentence.
func who(a actor) string {
	return cmp.Or(a.name, "client "+strconv.FormatInt(a.client, 10))
}

// isConstant reports whether the time of a command inside of a script is a constant of the script: then it is meant.
func (r *request) isConstant() bool {
	return r.isScript() && r.around != nil && len(r.Cmd) > 2 && !slices.Contains(r.around.Cmd, r.Cmd[2])
}

// brings reports whether a command puts a value into a key that is not among its words.
func (r *request) brings() bool {
	switch lower(r.Cmd) {
	case "copy", "move", "rename", "renamenx", "restore", "restore-asking", "swapdb":
		return true
	}
	return false
}

// reads reports whether a command reads a lock, and shows whether it is free.
func (r *request) reads() bool {
	switch lower(r.Cmd) {
	case "get", "exists", "hget", "hexists":
		return true
	}
	return false
}

// isPast reports whether a request gives a key a time that is over: a TTL of 0 or less, or a moment before now.
func (r *request) isPast() bool {
	name := lower(r.Cmd)
	switch {
	case name == "getex" || name == "set" || name == "setex" || name == "psetex":
		return true
	}
	return strings.HasPrefix(name, "expire") || strings.HasPrefix(name, "pexpire")
}
