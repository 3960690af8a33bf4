package command

import (
	"crypto/sha1"
	"encoding/hex"
	"iter"
	"slices"

	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Observer is shown what the executor does, while there is one: by the lab. What its
// functions are given is good until they return.
type Observer struct {
	// Answered is called when s has the reply to its request in w behind mark, at once or
	// after a wait, and before CLIENT REPLY takes it back; the reply may be exchanged for
	// another. cmd is nil for a command that there is not. ran is false for a request that
	// was refused or queued.
	Answered func(s *Session, cmd *Command, args [][]byte, w *resp.Writer, mark int, ran bool)

	// Called is called for each command that EXEC or a script has run, with its reply: by
	// is "exec", the script's SHA1 or the function's name.
	Called func(s *Session, cmd *Command, args [][]byte, reply []byte, by string)

	// Outgoing decides whether a message goes to a client now; else it is Outgoing's.
	Outgoing func(to *Session, message []byte) bool

	// Expired is called when a key has been deleted because its time had come.
	Expired func(db *store.DB, key string)
}

// Refuse answers a request of s with err instead of executing it. A transaction ends by it,
// be it queued for or executed, as by any refusal.
func (ex *Executor) Refuse(s *Session, args [][]byte, w *resp.Writer, err error) {
	s.Commands++
	cmd, mark := ex.Table.Lookup(args), len(w.Buf)
	if cmd != nil {
		cmd.Calls.Rejected++
	}
	_ = ex.refuse(s, cmd, args, err) // of an EXEC it would have more to say than err
	ex.fail(w, mark, err)
	if ex.Observer != nil {
		ex.Observer.Answered(s, cmd, args, w, mark, false)
	}
	s.answered(cmd, w, mark)
}

// Queued are the commands that an EXEC of s would run.
func (s *Session) Queued() iter.Seq2[*Command, [][]byte] {
	return func(yield func(*Command, [][]byte) bool) {
		if !s.InMulti() {
			return
		}
		for cmd, args := range s.Tx.queue.all(nil) {
			if !yield(cmd, slices.Clone(args)) {
				return
			}
		}
	}
}

// WouldQueue tells whether a request of s for cmd would be queued.
func (s *Session) WouldQueue(cmd *Command) bool {
	return s.InMulti() && cmd != nil && cmd.Flags&NotQueued == 0
}

// AppendSubjects appends what a request is about: its keys, or its channels. There are none
// in one that will be refused for its number of arguments.
func (c *Command) AppendSubjects(found, args [][]byte) [][]byte {
	if !c.takes(len(args)) {
		return found
	}
	switch channels(c.Name) {
	case acl.FirstChannel:
		return append(found, args[1])
	case acl.EveryChannel, acl.EveryPattern:
		return append(found, args[1:]...)
	}
	for _, key := range c.AppendKeys(nil, args) {
		found = append(found, args[key.Index])
	}
	return found
}

// Script is the script that a request would run, by its SHA1 and text, or the function's
// name and the text of its library; "" for none.
func (ex *Executor) Script(c *Command, args [][]byte) (name, text string) {
	if len(args) < 2 {
		return "", ""
	}
	switch c.Name {
	case "eval", "eval_ro":
		sum := sha1.Sum(args[1])
		return hex.EncodeToString(sum[:]), string(args[1])
	case "evalsha", "evalsha_ro":
		if script := ex.lua().Find(args[1]); script != nil {
			return script.SHA, script.Body
		}
		return string(args[1]), ""
	case "fcall", "fcall_ro":
		return string(args[1]), ex.functionText(args[1])
	}
	return "", ""
}

func (ex *Executor) functionText(name []byte) string {
	f := ex.functions.Find(name)
	for _, library := range ex.functions.All() {
		if f != nil && slices.ContainsFunc(library.Functions, func(other *luaeval.Function) bool { return other == f }) {
			return library.Code
		}
	}
	return ""
}
