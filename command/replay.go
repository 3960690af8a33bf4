package command

import (
	"fmt"
	"math"

	"github.com/miniredisd/miniredisd/resp"
)

// Replay executes commands of an append only file again (aof.c: loadSingleAppendOnlyFile). They came from Propagation
// once, here or in Redis. So nothing expires by itself, and no rule about users, memory or arguments' limits counts.
type Replay struct {
	ex *Executor
	s  Session
	w  resp.Writer

	Failed int64 // commands that answered with an error
}

// StartReplay begins a replay. No command may be running. Until End, no client may change anything.
func (ex *Executor) StartReplay() *Replay {
	ex.KS.Loading = true
	return &Replay{ex: ex, s: Session{Authenticated: true, Proto: 2}, w: resp.Writer{Proto: 2}}
}

// Do executes a command, or queues it after MULTI. args are valid until it returns. The error says that this server
// cannot.
func (r *Replay) Do(args [][]byte) error {
	ex, s := r.ex, &r.s
	cmd := ex.Table.LookupOwn(args)
	if cmd == nil {
		cmd = ex.Table.Lookup(args) // Redis appends the names of rename-command
	}
	switch {
	case cmd == nil || cmd.lacksSubcommand(args):
		return fmt.Errorf("Unknown command '%s' reading the append only file", args[0])
	case !cmd.takes(len(args)):
		return fmt.Errorf("%s", errArity(cmd.Name))
	case cmd.needsClient():
		r.failed(cmd, "ERR an append only file has no connection for this command")
		return nil
	case s.WouldQueue(cmd):
		s.Tx.add(cmd, args, cmd.Flags)
		return nil
	}
	r.w.Buf = r.w.Buf[:0]
	ex.Propagation.again = true
	defer func() { ex.Propagation.again = false }()
	slow := ex.slow
	ex.running, ex.executing, ex.slow = s, true, math.MaxInt64
	ex.run(cmd, s, args, &r.w, 0, ex.Now.Mono)
	ex.running, ex.executing, ex.slow = nil, false, slow
	if s.Hold == Blocked { // a command that Redis would not have written like this
		ex.Waiters.Remove(s)
		s.Hold = NotHeld
	}
	if len(r.w.Buf) == 0 || r.w.Buf[0] != '-' {
		return nil
	}
	answer := string(r.w.Buf[1 : len(r.w.Buf)-2])
	switch {
	case cmd.Name == "select": // what follows belongs to a database that is not here
		return fmt.Errorf("%s", answer)
	case answer == string(errSyntax): // an option of a newer server: without it, a write would be lost
		return fmt.Errorf("'%s' has an option that this dialect lacks: %s", args[0], answer)
	}
	r.failed(cmd, answer)
	return nil
}

// failed notes that a command has not been executed.
func (r *Replay) failed(cmd *Command, answer string) {
	r.Failed++
	r.ex.Host.Log('#', "== CRITICAL == This server is sending an error to the AOF-loading-client: '%s' after processing "+
		"the command '%s'", answer, cmd.Name)
}

// needsClient reports whether a command acts on its connection, or on the server and not on keys. Redis propagates none
// of them.
func (cmd *Command) needsClient() bool {
	switch cmd.Name {
	case "select", "ping", "echo":
		return false
	}
	return cmd.Flags&(Write|MayReplicate) == 0 &&
		(cmd.Flags&Admin != 0 || cmd.Group == "connection" || cmd.Group == "pubsub")
}

// End ends the replay. A transaction without its EXEC has no effect.
func (r *Replay) End() {
	ex := r.ex
	ex.Leave(&r.s)
	ex.KS.Loading = false
}
