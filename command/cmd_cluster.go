package command

import (
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/store"
)

const errNoCluster store.Error = "ERR This instance has cluster support disabled"

// CLUSTER subcommand [argument ...] (cluster.c: clusterCommand)
// ASKING (cluster.c: askingCommand)
// READONLY (cluster.c: readonlyCommand)
// READWRITE (cluster.c: readwriteCommand)
func clusterRefused(*Call) error { return errNoCluster }

// clusterRows are known but always refused. The error tells a client that the server is not part of
// a cluster; an unknown command would suggest that the server is too old.
func clusterRows() []Row {
	rows := []Row{
		{"cluster", "",
			-2, 0, nil, "cluster", "3.0.0",
			"See the subcommands.",
			"Always refused: this server is not part of a cluster.", nil},
		{"asking", "",
			1, Fast | InConnection, nil, "cluster", "3.0.0",
			"O(1)",
			"Always refused: this server is not part of a cluster.", clusterRefused},
		{"readonly", "",
			1, Loading | Stale | Fast | InConnection, nil, "cluster", "3.0.0",
			"O(1)",
			"Always refused: this server is not part of a cluster.", clusterRefused},
		{"readwrite", "",
			1, Loading | Stale | Fast | InConnection, nil, "cluster", "3.0.0",
			"O(1)",
			"Always refused: this server is not part of a cluster.", clusterRefused},
	}
	const change = Admin | Stale | NoAsyncLoading
	for _, sub := range [...]struct {
		name, syntax string
		arity        int
		flags        Flag
		since        string
	}{
		{"addslots", "slot:integer ...", -3, change, "3.0.0"},
		{"addslotsrange", "(range: start-slot:integer end-slot:integer) ...", -4, change, "7.0.0"},
		{"bumpepoch", "", 2, change | NondeterministicOutput, "3.0.0"},
		{"count-failure-reports", "node-id", 3, Admin | Stale | NondeterministicOutput, "3.0.0"},
		{"countkeysinslot", "slot:integer", 3, Stale, "3.0.0"},
		{"delslots", "slot:integer ...", -3, change, "3.0.0"},
		{"delslotsrange", "(range: start-slot:integer end-slot:integer) ...", -4, change, "7.0.0"},
		{"failover", "[options: FORCE | TAKEOVER]", -2, change, "3.0.0"},
		{"flushslots", "", 2, change, "3.0.0"},
		{"forget", "node-id", 3, change, "3.0.0"},
		{"getkeysinslot", "slot:integer count", 4, Stale | NondeterministicOutput, "3.0.0"},
		{"help", "", 2, Loading | Stale, "5.0.0"},
		{"info", "", 2, Stale | NondeterministicOutput, "3.0.0"},
		{"keyslot", "key:string", 3, Stale, "3.0.0"},
		{"links", "", 2, Stale | NondeterministicOutput, "7.0.0"},
		{"meet", "ip port:integer [cluster-bus-port@4.0.0:integer]", -4, change, "3.0.0"},
		{"myid", "", 2, Stale, "3.0.0"},
		{"myshardid", "", 2, Stale | NondeterministicOutput, "7.2.0"},
		{"nodes", "", 2, Stale | NondeterministicOutput, "3.0.0"},
		{"replicas", "node-id", 3, Admin | Stale | NondeterministicOutput, "5.0.0"},
		{"replicate", "node-id", 3, change, "3.0.0"},
		{"reset", "[reset-type: HARD | SOFT]", -2, Admin | NoScript | Stale, "3.0.0"},
		{"saveconfig", "", 2, change, "3.0.0"},
		{"set-config-epoch", "config-epoch:integer", 3, change, "3.0.0"},
		{"setslot",
			"slot:integer (subcommand: IMPORTING importing/node-id | MIGRATING migrating/node-id | NODE node/node-id | STABLE)",
			-4, change, "3.0.0"},
		{"shards", "", 2, Loading | Stale | NondeterministicOutput, "7.0.0"},
		{"slaves", "node-id", 3, Admin | Stale | NondeterministicOutput, "3.0.0"},
		{"slots", "", 2, Loading | Stale | NondeterministicOutput, "3.0.0"},
	} {
		rows = append(rows, Row{Name: "cluster|" + sub.name, Syntax: sub.syntax, Arity: sub.arity, Flags: sub.flags,
			Group: "cluster", Since: dialect.Since(sub.since), Complexity: "O(1)",
			Summary: "Always refused: this server is not part of a cluster.", Do: clusterRefused})
	}
	return rows
}
