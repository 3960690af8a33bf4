package cluster

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

const errDisabled store.Error = "ERR This instance has cluster support disabled"

// Rows are CLUSTER, and the commands of a client's connection to a cluster. A server without a cluster knows them and
// refuses them: an unknown command would suggest that the server is too old.
func Rows() []command.Row {
	const atHand = command.Loading | command.Stale | command.Fast | command.InConnection
	container := row("", "", -2, 0, "3.0.0", "See the subcommands.", "Shows and changes the cluster.", nil)
	container.Do = nil
	rows := []command.Row{
		container,
		connection("asking", command.Fast|command.InConnection,
			"Lets the next command use a slot that this node imports.", (*State).asking),
		connection("readonly", atHand, "Lets this connection read from a replica.", (*State).readOnly),
		connection("readwrite", atHand, "Ends READONLY.", (*State).readWrite),
	}
	return append(append(rows, showRows()...), changeRows()...)
}

// showRows are those that change nothing.
func showRows() []command.Row {
	const (
		look   = command.Stale | command.NondeterministicOutput
		always = look | command.Loading
		admin  = look | command.Admin
	)
	return []command.Row{
		row("count-failure-reports", "node-id", 3, admin, "3.0.0", "O(N) for N nodes",
			"Counts the masters that believe a node to be down.", (*State).failureReports),
		row("countkeysinslot", "slot:integer", 3, command.Stale, "3.0.0", "O(N) for N keys of this node",
			"Counts the keys of a slot on this node.", (*State).countKeys),
		row("getkeysinslot", "slot:integer count", 4, look, "3.0.0", "O(N) for N keys of this node",
			"Returns keys of a slot on this node.", (*State).getKeys),
		row("help", "", 2, command.Loading|command.Stale, "5.0.0", "O(1)", "Lists the subcommands.",
			(*State).help),
		row("info", "", 2, look, "3.0.0", "O(N) for N slots", "Shows the state of the cluster.", (*State).info),
		row("keyslot", "key:string", 3, command.Stale, "3.0.0", "O(N) for N bytes of the key", "Returns the slot of a key.",
			(*State).keySlot),
		row("links", "", 2, look, "7.0.0", "O(N) for N nodes", "Lists the links to other nodes.", (*State).links),
		row("myid", "", 2, command.Stale, "3.0.0", "O(1)", "Returns the ID of this node.", (*State).myID),
		row("myshardid", "", 2, look, "7.2.0", "O(1)", "Returns the ID of the shard of this node.", (*State).myShardID),
		row("nodes", "", 2, look, "3.0.0", "O(N) for N nodes", "Shows what this node believes of all nodes.", (*State).nodes),
		row("replicas", "node-id", 3, admin, "5.0.0", "O(N) for N nodes", "Lists the replicas of a master.",
			(*State).replicas),
		row("slaves", "node-id", 3, admin, "3.0.0", "O(N) for N nodes", "Lists the replicas of a master.", (*State).replicas),
		row("shards", "", 2, always, "7.0.0", "O(N) for N nodes", "Shows the shards, their slots and nodes.",
			(*State).shards),
		row("slots", "", 2, always, "3.0.0", "O(N) for N nodes", "Shows which nodes serve which slots.", (*State).slots),
	}
}

// changeRows are those that change what this node believes.
func changeRows() []command.Row {
	const (
		change = command.Admin | command.Stale | command.NoAsyncLoading
		ranges = "(range: start-slot:integer end-slot:integer) ..."
	)
	return []command.Row{
		row("addslots", "slot:integer ...", -3, change, "3.0.0", "O(N) for N slots", "Gives free slots to this node.",
			(*State).addSlots),
		row("addslotsrange", ranges, -4, change, "7.0.0", "O(N) for N slots", "Gives ranges of free slots to this node.",
			(*State).addRanges),
		row("bumpepoch", "", 2, change|command.NondeterministicOutput, "3.0.0", "O(1)", "Gives this node a new epoch.",
			(*State).bumpEpoch),
		row("delslots", "slot:integer ...", -3, change, "3.0.0", "O(N) for N slots",
			"Makes this node forget who serves slots.", (*State).delSlots),
		row("delslotsrange", ranges, -4, change, "7.0.0", "O(N) for N slots",
			"Makes this node forget who serves ranges of slots.", (*State).delRanges),
		row("failover", "[options: FORCE | TAKEOVER]", -2, change, "3.0.0", "O(1)", "Makes this replica the master.",
			(*State).failover),
		row("flushslots", "", 2, change, "3.0.0", "O(1)", "Takes all its slots from this node.", (*State).flushSlots),
		row("forget", "node-id", 3, change, "3.0.0", "O(1)", "Removes a node from what this one knows.", (*State).forget),
		row("meet", "ip port:integer [cluster-bus-port@4.0.0:integer]", -4, change, "3.0.0", "O(1)",
			"Introduces this node to another one of the process.", (*State).meet),
		row("replicate", "node-id", 3, change, "3.0.0", "O(1)", "Makes this node a replica of another one.",
			(*State).replicate),
		row("reset", "[reset-type: HARD | SOFT]", -2, command.Admin|command.NoScript|command.Stale, "3.0.0",
			"O(N) for N nodes", "Makes this node forget the others.", (*State).reset),
		row("saveconfig", "", 2, change, "3.0.0", "O(1)", "Does nothing: this node has no file of nodes.",
			(*State).saveConfig),
		row("set-config-epoch", "config-epoch:integer", 3, change, "3.0.0", "O(1)", "Sets the epoch of a new node.",
			(*State).setEpoch),
		row("setslot",
			"slot:integer (subcommand: IMPORTING importing/node-id | MIGRATING migrating/node-id | NODE node/node-id | STABLE)",
			-4, change, "3.0.0", "O(1)", "Says where a slot is, or where it goes.", (*State).setSlot),
	}
}

// row is a subcommand of CLUSTER, or CLUSTER itself.
func row(name, syntax string, arity int, flags command.Flag, since, complexity, summary string,
	do func(*State, *command.Call) error,
) command.Row {
	if name != "" {
		name = "|" + name
	}
	return command.Row{Name: "cluster" + name, Syntax: syntax, Arity: arity, Flags: flags, Group: "cluster",
		Since: dialect.Since(since), Complexity: complexity, Summary: summary, Do: ifEnabled(do)}
}

func connection(name string, flags command.Flag, summary string, do func(*State, *command.Call) error) command.Row {
	return command.Row{Name: name, Arity: 1, Flags: flags, Group: "cluster", Since: "3.0.0", Complexity: "O(1)",
		Summary: summary, Do: ifEnabled(do)}
}

func ifEnabled(do func(*State, *command.Call) error) func(*command.Call) error {
	return func(c *command.Call) error {
		st, enabled := server.FindPart[*State](server.ServerOf(c))
		if !enabled {
			return errDisabled
		}
		return do(st, c)
	}
}
