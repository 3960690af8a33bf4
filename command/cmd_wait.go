package command

import (
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func waitRows() []Row {
	return []Row{
		{"waitaof", "numlocal:integer numreplicas:integer timeout:integer",
			4, NoScript | NotKeyspace | InConnection | RequestAllShards | ResponseMin, nil, "generic", "7.2.0",
			"O(1)",
			"Waits until this connection's writes are in append-only files.", waitAOF},
	}
}

const (
	errNumLocal store.Error = "ERR value is out of range, must be between 0 and 1"
	errNoAOF    store.Error = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
)

// LocalAOF is what WAITAOF knows of the append only file of this server, which sets it.
type LocalAOF struct {
	Appended int64 // bytes so far
	Synced   int64 // of them, on the disk
	Now      bool  // what a command appends is on the disk before its reply

	waiting []fsyncWait
}

// fsyncWait is a client that waits until so many bytes are on the disk.
type fsyncWait struct {
	s       *Session
	command int64 // Session.Commands: another one means that the wait is over
	local   bool  // it needs an append only file
	until   int64
}

// has reports whether so many bytes are on the disk before a reply of now.
func (l *LocalAOF) has(bytes int64) bool { return l.Now || l.Synced >= bytes }

// Waiting reports whether clients wait.
func (l *LocalAOF) Waiting() bool { return len(l.waiting) > 0 }

// WAITAOF numlocal numreplicas timeout (replication.c: waitaofCommand)
// It waits for all changes so far. Redis leaves out those of others since the client's last command.
func waitAOF(c *Call) error {
	local, err := parseInt(c.Args[1])
	if err != nil {
		return err
	}
	if local < 0 || local > 1 {
		return errNumLocal
	}
	n, ok := ascii.ParseInt(c.Args[2])
	if !ok || n < 0 {
		return errPositive
	}
	ms, err := ParseMillis(c, c.Args[3])
	if err != nil {
		return err
	}
	if c.Ex.Following != nil {
		return errWaitAOFReplica
	}
	if local > 0 && !c.Cfg.AppendOnly {
		return errNoAOF
	}
	l, s, until := &c.Ex.AOF, c.Sess, c.Ex.AOF.Appended
	reply := func(w *resp.Writer) {
		acked := int64(0)
		if c.Cfg.AppendOnly && l.has(until) {
			acked = 1
		}
		w.Array(2)
		w.Int(acked)
		w.Int(0)
	}
	if (local == 0 || l.has(until)) && n == 0 || !c.mayBlock() {
		reply(c.Writer)
		return nil
	}
	c.block(ms, reply)
	if n == 0 {
		l.waiting = append(l.waiting, fsyncWait{s, s.Commands, local > 0, until})
	}
	return nil
}

// ServeFsynced answers the clients in WAITAOF whose changes are on the disk (replication.c:
// processClientsWaitingReplicas).
func (ex *Executor) ServeFsynced() {
	l := &ex.AOF
	waiting := l.waiting
	l.waiting = l.waiting[:0]
	for _, f := range waiting {
		switch {
		case f.s.Hold != Blocked || f.s.Commands != f.command: // its time is over, or its connection
		case f.local && !ex.Cfg.AppendOnly:
			ex.Unblock(f.s, errNoAOF)
		case l.has(f.until):
			ex.Unblock(f.s, nil)
		default:
			l.waiting = append(l.waiting, f)
		}
	}
	clear(waiting[len(l.waiting):])
}
