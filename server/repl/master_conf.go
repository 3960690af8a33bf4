package repl

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

func replicaRows() []command.Row {
	const link = command.Admin | command.NoScript | command.NoAsyncLoading | command.NoMulti
	return []command.Row{
		server.Row("sync", "",
			1, link, "server", "1.0.0",
			"O(1)",
			"Makes this connection a replica: it gets all keys, then the stream of changes.", (*replicas).syncCommand),
		server.Row("psync", "replicationid offset:integer",
			-3, link, "server", "2.8.0",
			"O(1)",
			"Makes this connection a replica that goes on where it was, or gets all keys first.", (*replicas).psync),
		server.Row("replconf", "",
			-1, command.Admin|command.NoScript|command.Loading|command.Stale|command.AllowBusy, "server", "3.0.0",
			"O(1)",
			"Says what a replica can do and how far it is.", (*replicas).replconf),
		server.Row("role", "",
			1, command.NoScript|command.Loading|command.Stale|command.Fast|command.Dangerous|command.InAdmin,
			"server", "2.8.12",
			"O(1)",
			"Returns the replication role of this server, its offset and its replicas.", (*replicas).role),
		server.Row("failover", "[target: TO host port:integer [FORCE]] [ABORT] [TIMEOUT milliseconds]",
			-1, command.Admin|command.NoScript|command.Stale, "server", "6.2.0",
			"O(1)",
			"Hands the role of the master over to a replica that has everything.", (*Failover).failoverCommand),
	}
}

// REPLCONF [option value ...] (replication.c: replconfCommand)
func (r *replicas) replconf(c *command.Call) error {
	me := r.s.Running
	if me.Internal != nil || len(c.Args)%2 == 0 {
		return server.ErrSyntax
	}
	rep := r.of(me)
	for i := 1; i < len(c.Args); i += 2 {
		switch name := c.Args[i]; {
		case ascii.EqualFold(name, "ack"):
			r.heard(me, c.Args[i+1:])
			return nil
		case ascii.EqualFold(name, "getack"): // it asks a replica
			return nil
		default:
			if err := rep.set(r.s.Server, name, c.Args[i+1]); err != nil {
				return err
			}
		}
	}
	c.OK()
	return nil
}

// hostMax is the length of the longest name of a host (server.h: NET_HOST_STR_LEN).
const hostMax = 255

// set takes an option of REPLCONF.
func (rep *replica) set(s *server.Server, name, value []byte) error {
	switch {
	case ascii.EqualFold(name, "listening-port"):
		port, ok := ascii.ParseInt(value)
		if !ok {
			return store.ErrNotInt
		}
		rep.Port = port
	case ascii.EqualFold(name, "ip-address"):
		if len(value) > hostMax {
			return store.Errorf("ERR REPLCONF ip-address provided by replica instance is too long: %d bytes", len(value))
		}
		rep.addr = string(value)
	case ascii.EqualFold(name, "capa"):
		rep.takesEOF = rep.takesEOF || ascii.EqualFold(value, "eof")
		rep.takesNewID = rep.takesNewID || ascii.EqualFold(value, "psync2")
	case ascii.EqualFold(name, "version") && s.Ex.Table.Dialect.Family == dialect.Valkey:
		rep.version = string(value)
	case ascii.EqualFold(name, "rdb-only"):
		n, ok := ascii.ParseInt(value)
		if !ok {
			return store.ErrNotInt
		}
		if n != 0 && n != 1 {
			return store.Error("ERR value is out of range, value must between 0 and 1")
		}
		rep.rdbOnly = n == 1
	case ascii.EqualFold(name, "rdb-filter-only"):
		parts, ok := config.SplitArgs(string(value))
		if !ok {
			return store.Error("ERR Missing rdb-filter-only values")
		}
		rep.filtered, rep.wantsLibrary = true, false
		for _, what := range parts {
			if !ascii.EqualFold([]byte(what), "functions") {
				return store.Errorf("ERR Unsupported rdb-filter-only option: %s", what)
			}
			rep.wantsLibrary = true
		}
	default:
		return store.Errorf("ERR Unrecognized REPLCONF option: %s", name)
	}
	return nil
}

// heard takes the offset that a replica has executed: ACK offset [FACK offset].
func (r *replicas) heard(c *server.Client, args [][]byte) {
	if !c.Sess.Replica {
		return
	}
	rep := ReplicaOf(c)
	acked, ok := ascii.ParseInt(args[0])
	if !ok {
		return
	}
	if rep.State == Online {
		rep.onAck = false
	}
	if r.s.Link.Refuses(c) != nil {
		return
	}
	rep.Acked = max(rep.Acked, acked)
	if len(args) > 2 && ascii.EqualFold(args[1], "fack") {
		if synced, ok := ascii.ParseInt(args[2]); ok {
			rep.synced, rep.hasFile = max(rep.synced, synced), true
		}
	}
	rep.Heard, rep.Told = r.Now(), r.s.Ex.Now.Mono
	r.AnswerWaits()
}
