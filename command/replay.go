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

	during  Call     // of the command that replays, of DEBUG LOADAOF
	running *Session // its client, nil at the start of the server

	Failed int64 // commands that answered with an error
}

// StartReplay begins a replay. Until End, nobody else may execute anything.
func (ex *Executor) StartReplay() *Replay {
	ex.KS.Loading, ex.slow = true, math.MaxInt64
	return &Replay{
		ex: ex, s: Session{Authenticated: true, Proto: 2}, w: resp.Writer{Proto: 2},
		during: ex.calls[0], running: ex.running,
	}
}

// Do executes a command, or queues it behind MULTI. The error says that this server cannot.
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
	case s.WouldQueue(cmd):
		s.Tx.add(cmd, args, cmd.Flags)
		return nil
	}
	r.w.Buf = r.w.Buf[:0]
	ex.running, ex.executing = s, true
	ex.run(cmd, s, args, &r.w, 0, ex.Now.Mono)
	ex.running, ex.executing = nil, false
	if s.Hold == Blocked { // a command that Redis would not have written like this
		ex.Waiters.Remove(s)
		s.Hold = NotHeld
	}
	if len(r.w.Buf) == 0 || r.w.Buf[0] != '-' {
		return nil
	}
	if cmd.Name == "select" { // what follows belongs to a database that is not here
		return fmt.Errorf("%s", r.w.Buf[1:len(r.w.Buf)-2])
	}
	r.Failed++
	ex.Host.Log('#', "== CRITICAL == This server is sending an error to the AOF-loading-client: '%s' after processing "+
		"the command '%s'", r.w.Buf[1:len(r.w.Buf)-2], cmd.Name)
	return nil
}

// End ends the replay. A transaction without its EXEC has no effect.
func (r *Replay) End() {
	ex := r.ex
	ex.Leave(&r.s)
	ex.KS.Loading = false
	ex.calls[0], ex.running, ex.executing = r.during, r.running, r.running != nil
	if r.running == nil {
		ex.ResetStats()
	}
	ex.Configure()
}
