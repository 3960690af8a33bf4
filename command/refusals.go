package command

import (
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/store"
)

// Refusals says what keeps a server from executing all that it could (server.c: processCommand). It is empty on a
// plain server. So a request meets one test, and only after it the states of files, replicas and pauses.
type Refusals struct {
	ex *Executor
	on State

	AOFError store.Error // the text for AOFFailed
}

// State is a set of states of a server.
type State uint16

// The states that refuse something. The server enters and leaves them.
const (
	IsReplica       State = 1 << iota // keys change and expire when the master says so (server.h: masterhost)
	ReadOnlyReplica                   // its clients may not write (replica-read-only)
	StaleReplica                      // its link is down, and its clients may not read (replica-serve-stale-data no)
	LoadsFiles                        // the keys of its own files are being loaded (server.h: loading)
	LoadsMaster                       // those of its master are
	LoadsAside                        // the same, and the old keys serve until then (server.h: async_loading)
	SaveFailed                        // the last save in the background has (server.h: lastbgsave_status)
	AOFFailed                         // nothing can be written to the append only file (server.h: aof_last_write_status)
	LacksReplicas                     // too few are near, for min-replicas-to-write
	PausesWrites                      // CLIENT PAUSE holds back commands that may change the keyspace
	PausesAll                         // it holds back all

	Loads  = LoadsFiles | LoadsMaster
	Pauses = PausesWrites | PausesAll
)

const (
	errReadOnly      store.Error = "READONLY You can't write against a read only replica."
	errMasterDown    store.Error = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	errLacksReplicas store.Error = "NOREPLICAS Not enough good replicas to write."
	errNoOrder       store.Error = "ERR the stream of a master has no such command: it is not executed"
	errScriptStale   store.Error = "ERR Can not execute the command on a stale replica"
	errShebangWrites store.Error = "READONLY Can not run script with write flag on readonly replica"
	errShebangStale  store.Error = "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' " +
		"and 'allow-stale' flag is not set on the script."

	// No pause holds back a replica, so it must not use keys.
	errReplicaUsesKeys store.Error = "ERR Replica can't interact with the keyspace"

	// errPostponed is never sent: CLIENT PAUSE holds the request back.
	errPostponed store.Error = "PAUSED"

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

// Set enters the states, or leaves them.
func (r *Refusals) Set(states State, on bool) {
	r.on &^= states
	if on {
		r.on |= states
	}
	r.apply()
}

// apply tells the keyspace: who does not decide when keys go deletes none, and evicts none.
func (r *Refusals) apply() {
	ks, cfg := r.ex.KS, r.ex.Cfg
	ks.KeepDue = r.Has(IsReplica | Loads | Pauses)
	ks.MaxMemory = cfg.MaxMemory
	if r.Has(Loads) || r.Has(IsReplica) && cfg.ReplicaIgnoreMaxMemory {
		ks.MaxMemory = 0
	}
}

// Has reports whether the server is in one of the states.
func (r *Refusals) Has(states State) bool { return r.on&states != 0 }

// refusal is the error for a request of a client if the server or the client is in a state that refuses something, or
// nil. A client has one error at a time, so the order counts: it is that of Redis.
func (r *Refusals) refusal(s *Session, cmd *Command, args [][]byte) error {
	ex, flags := r.ex, r.ex.flagsOf(s, cmd, args)
	writes := flags&Write != 0
	switch {
	case s.Master && cmd.needsClient():
		return errNoOrder
	case s.Master:
		return nil
	}
	if writes || cmd.Name == "ping" { // so a program that watches the server hears of it
		if err := r.DiskError(); err != nil {
			return err
		}
	}
	switch {
	case writes && r.Has(LacksReplicas):
		return errLacksReplicas
	case writes && r.Has(ReadOnlyReplica):
		return errReadOnly
	case s.Subscriber && s.Proto < 3 && cmd.Flags&WhileSubscribed == 0:
		return errSubscriber(cmd)
	case r.Has(StaleReplica) && s.lacks(cmd, flags, Stale):
		return errMasterDown
	case r.Has(Loads) && s.lacks(cmd, flags, Loading), r.Has(LoadsAside) && flags&NoAsyncLoading != 0:
		return ex.Table.ErrLoading()
	case ex.Scripts.run.busy && cmd.Flags&AllowBusy == 0:
		return ex.Scripts.Busy()
	case s.Replica || s.Monitor: // a client in MONITOR is a kind of replica in Redis
		if flags&(ReadOnly|Write|MayReplicate) != 0 {
			return errReplicaUsesKeys
		}
	case r.holds(flags):
		return errPostponed
	}
	return nil
}

// lacks reports whether a request has no right to run in a state that a flag is about. An EXEC needs it for all of its
// commands (server.h: cmd_inv_flags).
func (s *Session) lacks(cmd *Command, flags, right Flag) bool {
	return flags&right == 0 || cmd.Flags&RunsQueue != 0 && s.Tx != nil && s.Tx.lacking&right != 0
}

// holds reports whether a pause holds back a command with these flags.
func (r *Refusals) holds(flags Flag) bool {
	return flags&NeverPaused == 0 && (r.Has(PausesAll) || r.Has(PausesWrites) && flags&(Write|MayReplicate) != 0)
}

// DiskError is the error for a command that writes although the disk fails, or nil (server.c:
// writeCommandsDeniedByDiskError, writeCommandsGetDiskErrorMessage). Those of the master are executed all the same.
func (r *Refusals) DiskError() error {
	switch cfg := r.ex.Cfg; {
	case r.Has(SaveFailed) && cfg.StopWritesOnBgsaveError && cfg.Save != "":
		return errorf("MISCONF %[1]s is configured to save RDB snapshots, but it's currently unable to persist to disk. "+
			"Commands that may modify the data set are disabled, because this instance is configured to report errors during "+
			"writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the %[1]s logs for details "+
			"about the RDB error.", r.ex.Table.Dialect.Family)
	case r.Has(AOFFailed):
		return r.AOFError
	}
	return nil
}

// ofScript is the error for a script that begins, or nil (script.c: scriptPrepareForRun). A script without a shebang
// does not say what it needs, and runs nowhere without its master. What another lacks, its request has lacked as well,
// unless an EXEC has changed the server since.
func (r *Refusals) ofScript(by *Session, declared luaeval.Flags) error {
	switch {
	case declared&luaeval.Compat != 0 && r.Has(StaleReplica):
		return errMasterDown
	case declared&luaeval.Compat != 0:
		return nil
	case r.Has(StaleReplica) && declared&luaeval.AllowStale == 0:
		return errShebangStale
	case declared&luaeval.NoWrites != 0:
		return nil
	case r.Has(ReadOnlyReplica) && !by.Master:
		return errShebangWrites
	}
	return r.ofWrite(by)
}

// ofWrite is the error for the first command of a script that writes, or nil (script.c:
// scriptVerifyWriteCommandAllow).
func (r *Refusals) ofWrite(by *Session) error {
	if r.Has(ReadOnlyReplica) && !by.Master {
		return errReadOnly
	}
	if err := r.DiskError(); err != nil {
		return err
	}
	if r.Has(LacksReplicas) {
		return errLacksReplicas
	}
	return nil
}
