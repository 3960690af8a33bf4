package server

import (
	"github.com/miniredisd/miniredisd/command"
)

// admin is the place of MONITOR and MIGRATE in a pass.
func (s *Server) admin() part {
	return part{
		installed: s.loadUsers,
		cron: func() (again bool) {
			s.migrate.closeUnused(s.ex.Clock.Timeline(s.now) - int64(migrateSocketTTL))
			return false
		},
		left: func(c *client) {
			if c.sess.Monitor {
				s.monitors.leave(c)
			}
		},
		end: func() { s.migrate.closeFirst(len(s.migrate)) },
	}
}

// serverRows are the commands of group server that concern the whole server.
func serverRows() []command.Row {
	const (
		admin = command.Admin | command.NoScript | command.Loading | command.Stale
		stats = command.Loading | command.Stale
		toAll = command.RequestAllNodes | command.ResponseAllSucceeded
	)
	return []command.Row{
		row("monitor", "",
			1, admin|command.Streams, "server", "1.0.0",
			"O(1)",
			"Streams every command that the server executes.", (*Server).monitor),
		row("info", "[section ...]",
			-1,
			stats|command.Dangerous|command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial,
			"server", "1.0.0",
			"O(1)",
			"Returns facts and statistics about the server.", (*Server).info),
		row("config|get", "parameter ...",
			-3, admin, "server", "2.0.0",
			"O(N) for N directives",
			"Returns the values of directives.", (*Server).configGet),
		row("config|set", "(data: parameter value) ...",
			-4, admin|toAll, "server", "2.0.0",
			"O(N) for N directives",
			"Changes directives: either all of them or none.", (*Server).configSet).Hides(configSecrets),
		row("config|rewrite", "",
			2, admin|toAll, "server", "2.8.0",
			"O(1)",
			"Writes the current values to the configuration file.", (*Server).configRewrite),
		row("config|resetstat", "",
			2, admin|toAll, "server", "2.0.0",
			"O(1)",
			"Resets the counters of INFO to zero.", (*Server).configResetStat),
		row("debug", "",
			-2, admin|command.ProtectedDebug, "server", "1.0.0",
			"See the subcommands.",
			"Runs a function for tests and debugging.", (*Server).debug),
		row("memory|stats", "",
			2, command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial, "server", "4.0.0",
			"O(1)",
			"Returns how much memory each part of the server uses.", (*Server).memoryStats),
	}
}
