package command

import (
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Observer sees what commands do, and may hold messages back. The lab is one. Without a lab
// Executor.Observer is nil, and nothing here is called. The rules of Host hold: every call is on the
// executor's goroutine, and slices are valid until a method returns.
type Observer interface {
	// Answered is called when the reply to a request of s stands in w after mark, at once or after
	// a wait. CLIENT REPLY has not removed the reply yet, and Answered may replace it. cmd is nil
	// for an unknown command. ran is false for a request that was refused or queued.
	Answered(s *Session, cmd *Command, args [][]byte, w *resp.Writer, mark int, ran bool)

	// Called is called for each command that EXEC or a script has run, or that a cluster has refused to a
	// script. by is "exec", the script's SHA1 or the function's name.
	Called(s *Session, cmd *Command, args [][]byte, reply []byte, by string)

	// Outgoing reports whether a message may go to a client now. If not, it is the observer's.
	Outgoing(to *Session, message []byte) bool

	// Blocked is called when a request of s waits, and has no reply yet.
	Blocked(s *Session, cmd *Command, args [][]byte)

	// Expired is called when a key was deleted because its time had come, FieldsExpired when fields of a hash were
	// and others live on, and Evicted when a key was deleted for memory.
	Expired(db *store.DB, key string)
	FieldsExpired(db *store.DB, key string)
	Evicted(db *store.DB, key string)

	// Left is called when the client of s has gone.
	Left(s *Session)
}
