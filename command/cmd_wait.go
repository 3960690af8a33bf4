package command

import (
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func waitRows() []Row {
	return []Row{
		{"wait", "numreplicas:integer timeout:integer",
			3, NotKeyspace | InConnection | RequestAllShards | ResponseMin, nil, "generic", "3.0.0",
			"O(1)",
			"Waits until replicas have received this connection's writes.", wait},
		{"waitaof", "numlocal:integer numreplicas:integer timeout:integer",
			4, NoScript | NotKeyspace | InConnection | RequestAllShards | ResponseMin, nil, "generic", "7.2.0",
			"O(1)",
			"Waits until this connection's writes are in append-only files.", waitAOF},
	}
}

const (
	errNumLocal store.Error = "ERR value is out of range, must be between 0 and 1"
	errLateSync store.Error = "ERR WAITAOF with numlocal is not supported by miniredisd unless appendfsync is always"
	errNoAOF    store.Error = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
)

// WAIT numreplicas timeout (replication.c: waitCommand)
// There are no replicas, so only the timeout ends the wait.
func wait(c *Call) error {
	n, err := parseInt(c.Args[1])
	if err != nil {
		return err
	}
	ms, err := ParseMillis(c, c.Args[2])
	if err != nil {
		return err
	}
	if n <= 0 || !c.mayBlock() {
		noReplicas(c.Writer)
	} else {
		c.block(ms, noReplicas)
	}
	return nil
}

func noReplicas(w *resp.Writer) { w.Int(0) }

// WAITAOF numlocal numreplicas timeout (replication.c: waitaofCommand)
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
	reply := nothingSynced
	switch always := c.Cfg.AppendFsync == "always"; {
	case c.Cfg.AppendOnly && always:
		reply = allSynced
	case c.Cfg.AppendOnly && local > 0:
		return errLateSync
	case local > 0:
		return errNoAOF
	}
	if n == 0 || !c.mayBlock() {
		reply(c.Writer)
	} else {
		c.block(ms, reply)
	}
	return nil
}

func nothingSynced(w *resp.Writer) {
	w.Array(2)
	w.Int(0)
	w.Int(0)
}

// allSynced is true with appendfsync always: no reply is written before the fsync.
func allSynced(w *resp.Writer) {
	w.Array(2)
	w.Int(1)
	w.Int(0)
}
