package command

import (
	"github.com/miniredisd/miniredisd/store"
)

// Following is what a replica may execute (server.c: processCommand). It changes nothing but what its master sends,
// and what its clients write if they may. Keys expire when the master says so. The server sets it. A master has one
// while it loads its own file.
type Following struct {
	Alone    bool // no replica
	ReadOnly bool // clients may not write (replica-read-only)
	Cut      bool // the link is down, and clients may not read either (replica-serve-stale-data no)
	Loading  bool // keys are being loaded: those of the master, or those of the server's own file
	Beside   bool // the same, and the old keys serve until then (repl-diskless-load swapdb)
}

const (
	errReadOnly   store.Error = "READONLY You can't write against a read only replica."
	errMasterDown store.Error = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	errNoOrder    store.Error = "ERR the stream of a master has no such command: it is not executed"
	errScriptCut  store.Error = "ERR Can not execute the command on a stale replica"

	// ErrWaitReplica refuses WAIT.
	ErrWaitReplica store.Error = "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 " +
		"if a replica is configured to be writable (which is not the default) writes to replicas are just local and are " +
		"not propagated."
	// ErrWaitAOFReplica refuses WAITAOF.
	ErrWaitAOFReplica store.Error = "ERR WAITAOF cannot be used with replica instances. Please also note that writes to " +
		"replicas are just local and are not propagated."

	// ErrRoleChanged ends the wait of clients when a master becomes a replica (blocked.c: disconnectAllBlockedClients).
	ErrRoleChanged store.Error = "UNBLOCKED force unblock from blocking operation, instance state changed " +
		"(master -> replica?)"
)

// Follow makes the executor that of a replica, or of a master for nil. The server calls it after each change of f.
func (ex *Executor) Follow(f *Following) {
	ex.Following = f
	ex.KS.KeepDue = f != nil || ex.Pause != PauseNone
	ex.Configure()
}

// refusal is the error for a request of a client, or nil.
func (f *Following) refusal(ex *Executor, s *Session, cmd *Command, args [][]byte) error {
	switch {
	case s.Master && cmd.needsClient():
		return errNoOrder
	case s.Master:
		return nil
	case f.ReadOnly && ex.flagsOf(s, cmd, args)&Write != 0:
		return errReadOnly
	case f.Cut && (ex.lacks(s, cmd, args, Stale) || ex.Scripts.isOld(cmd, args)):
		return errMasterDown
	case f.Loading && ex.lacks(s, cmd, args, Loading), f.Beside && ex.flagsOf(s, cmd, args)&NoAsyncLoading != 0:
		return ex.ErrLoading()
	}
	return nil
}

// ErrLoading refuses a command while keys are being loaded.
func (ex *Executor) ErrLoading() error {
	return errorf("LOADING %s is loading the dataset in memory", ex.Table.Dialect.Family)
}

// lacks reports whether a request has no right to run in a state that flag is about. An EXEC needs it for all of its
// commands (server.h: cmd_inv_flags).
func (ex *Executor) lacks(s *Session, cmd *Command, args [][]byte, flag Flag) bool {
	if ex.flagsOf(s, cmd, args)&flag == 0 {
		return true
	}
	if cmd.Flags&RunsQueue != 0 {
		for queued := range s.Queued() {
			if queued.Flags&flag == 0 {
				return true
			}
		}
	}
	return false
}

// scriptRefusal is refusal for a command of a script (script.c: scriptVerifyWriteCommandAllow,
// scriptVerifyAllowStale).
func (f *Following) scriptRefusal(by *Session, cmd *Command) error {
	switch {
	case by.Master:
		return nil
	case f.ReadOnly && cmd.Flags&Write != 0:
		return errReadOnly
	case f.Cut && cmd.Flags&Stale == 0:
		return errScriptCut
	}
	return nil
}

// Obey executes a request of the master (networking.c: processInputBuffer, for CLIENT_MASTER). Nothing expires
// meanwhile: the master says when. reply is what a client would get, valid until the next call.
func (ex *Executor) Obey(master *Session, args [][]byte) (reply []byte) {
	w := &ex.obeyed
	w.Buf = w.Buf[:0]
	ex.KS.Loading = true
	defer func() { ex.KS.Loading = false }()
	ex.Do(master, args, w)
	if master.Hold == Blocked { // a command that no master sends like this
		ex.Waiters.Remove(master)
		master.Hold = NotHeld
	}
	reply = w.Buf
	if cap(w.Buf) > keepMessage {
		w.Buf = nil
	}
	return reply
}

// Drop forgets what a master has sent of a transaction. It sends the transaction again.
func (ex *Executor) Drop(master *Session) { ex.endTransaction(master) }
