package command

import (
	"github.com/miniredisd/miniredisd/resp"
)

// Gone forgets s, whose client has gone.
func (ex *Executor) Gone(s *Session) {
	ex.Leave(s)
	if ex.Observed {
		ex.Host.Left(s)
	}
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
	if ex.Observed {
		ex.Host.Answered(s, cmd, args, w, mark, false)
	}
	s.answered(cmd, w, mark)
}
