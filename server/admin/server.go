// Package admin has the commands that look after a server: CLIENT, CONFIG, INFO, DEBUG, ACL, MONITOR, MIGRATE. They
// see clients, or the server itself, so they cannot stand in package command. INFO and DEBUG also show what other
// parts have registered (server.Part).
//
// The goroutine that executes commands calls all of it. MIGRATE stops it until the other server has replied.
//
// Redis has them in networking.c, config.c, server.c, debug.c, acl.c and cluster.c.
package admin

import (
	"net"
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/server"
)

// State is what only those need who look after a server: CLIENT, CONFIG, INFO, ACL and others.
type State struct {
	s        *server.Server
	Monitors monitors
	Migrate  migrateSockets
	Dial     func(host, port string, timeout time.Duration) (net.Conn, error) // for MIGRATE
	text     []byte                                                           // buffer for INFO and CLIENT LIST
}

// New makes what the commands of one server need.
func New(s *server.Server) *State { return &State{s: s, Monitors: monitors{s: s}, Dial: dialTCP} }

// Part is the place of MONITOR and MIGRATE in a pass.
func (a *State) Part() server.Part {
	return server.Part{
		Self: a, Installed: a.loadUsers, Debug: a.debugCommands(),
		Cron: func() (again bool) {
			a.Migrate.closeUnused(a.s.Ex.Clock.Timeline(a.s.Now) - int64(migrateSocketTTL))
			return false
		},
		Left: func(c *server.Client) {
			if c.Sess.Monitor {
				a.Monitors.leave(c)
			}
		},
		End: func() { a.Migrate.CloseFirst(len(a.Migrate)) },
	}
}

// Rows are the commands that see clients, or the server itself.
func Rows() []command.Row { return slices.Concat(clientRows(), serverRows(), aclRows()) }

// serverRows are the commands of group server that concern the whole server.
func serverRows() []command.Row {
	const (
		flags = command.Admin | command.NoScript | command.Loading | command.Stale
		stats = command.Loading | command.Stale
		toAll = command.RequestAllNodes | command.ResponseAllSucceeded
	)
	return []command.Row{
		server.Row("monitor", "",
			1, flags|command.Streams, "server", "1.0.0",
			"O(1)",
			"Streams every command that the server executes.", (*State).monitor),
		server.Row("info", "[section ...]",
			-1,
			stats|command.Dangerous|command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial,
			"server", "1.0.0",
			"O(1)",
			"Returns facts and statistics about the server.", (*State).info),
		server.Row("config|get", "parameter ...",
			-3, flags, "server", "2.0.0",
			"O(N) for N directives",
			"Returns the values of directives.", (*State).configGet),
		server.Row("config|set", "(data: parameter value) ...",
			-4, flags|toAll, "server", "2.0.0",
			"O(N) for N directives",
			"Changes directives: either all of them or none.", (*State).configSet).Hides(configSecrets),
		server.Row("config|rewrite", "",
			2, flags|toAll, "server", "2.8.0",
			"O(1)",
			"Writes the current values to the configuration file.", (*State).configRewrite),
		server.Row("config|resetstat", "",
			2, flags|toAll, "server", "2.0.0",
			"O(1)",
			"Resets the counters of INFO to zero.", (*State).configResetStat),
		server.Row("debug", "",
			-2, flags|command.ProtectedDebug, "server", "1.0.0",
			"See the subcommands.",
			"Runs a function for tests and debugging.", (*State).debug),
		server.Row("memory|stats", "",
			2, command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial, "server", "4.0.0",
			"O(1)",
			"Returns how much memory each part of the server uses.", (*State).memoryStats),
	}
}
