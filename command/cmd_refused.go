package command

import (
	"strings"

	"github.com/miniredisd/miniredisd/store"
)

// refusedRows are commands of Redis that need other servers. With a row, COMMAND, ACL and
// MULTI know them, and the error gives the reason: "unknown command" would look like a typing
// error.
func refusedRows() []Row {
	const (
		link  = Admin | NoScript | NoAsyncLoading | NoMulti
		alone = "Always refused: this server does not replicate."
	)
	return []Row{
		{"sync", "",
			1, link, nil, "server", "1.0.0",
			"O(1)",
			alone, refuseReplica},
		{"psync", "replicationid offset:integer",
			-3, link, nil, "server", "2.8.0",
			"O(1)",
			alone, refuseReplica},
		{"replconf", "",
			-1, Admin | NoScript | Loading | Stale | AllowBusy, nil, "server", "3.0.0",
			"O(1)",
			alone, refuseReplica},
		{"failover", "[target: TO host port:integer [FORCE]] [ABORT] [TIMEOUT milliseconds]",
			-1, Admin | NoScript | Stale, nil, "server", "6.2.0",
			"O(1)",
			"Always refused: this server has no replicas.", failover},
	}
}

// PSYNC replicationid offset (replication.c: syncCommand)
// REPLCONF (replication.c: replconfCommand)
// SYNC (replication.c: syncCommand)
func refuseReplica(c *Call) error {
	return errorf("ERR %s is not supported: this server does not replicate", strings.ToUpper(c.Cmd.Name))
}

const (
	errNoFailover      store.Error = "ERR No failover in progress."
	errFailoverTimeout store.Error = "ERR FAILOVER timeout must be greater than 0"
	errNoReplicas      store.Error = "ERR FAILOVER requires connected replicas."
)

// FAILOVER [TO (host port [FORCE])] [ABORT] [TIMEOUT milliseconds] (replication.c: failoverCommand)
// The errors are those of a master without replicas.
func failover(c *Call) error {
	if len(c.Args) == 2 && is(c.Args[1], "abort") {
		return errNoFailover
	}
	timeout, target, force := false, false, false
	for i := 1; i < len(c.Args); i++ {
		left := len(c.Args) - 1 - i
		switch {
		case is(c.Args[i], "timeout") && left >= 1 && !timeout:
			ms, err := parseInt(c.Args[i+1])
			if err != nil {
				return err
			}
			if ms <= 0 {
				return errFailoverTimeout
			}
			timeout = true
			i++
		case is(c.Args[i], "to") && left >= 2 && !target:
			if _, err := parseInt(c.Args[i+2]); err != nil {
				return err
			}
			target = true
			i += 2
		case is(c.Args[i], "force") && !force:
			force = true
		default:
			return errSyntax
		}
	}
	return errNoReplicas
}
