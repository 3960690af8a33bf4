package command

import (
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
