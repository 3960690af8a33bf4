package server

import (
	"github.com/miniredisd/miniredisd/command"
)

// Admin is what only those need who look after a server: CLIENT, CONFIG, INFO, ACL and others.
type Admin struct {
	s        *Server
	Monitors monitors
	Migrate  migrateSockets
	text     []byte // buffer for INFO and CLIENT LIST
}

func NewAdmin(s *Server) *Admin { return &Admin{s: s, Monitors: monitors{s: s}} }

// Part is the place of MONITOR and MIGRATE in a pass.
func (a *Admin) Part() Part {
	return Part{
		Self: a, Installed: a.loadUsers, Debug: a.debugCommands(),
		Cron: func() (again bool) {
			a.Migrate.closeUnused(a.s.Ex.Clock.Timeline(a.s.Now) - int64(migrateSocketTTL))
			return false
		},
		Left: func(c *Client) {
			if c.Sess.Monitor {
				a.Monitors.leave(c)
			}
		},
		End: func() { a.Migrate.CloseFirst(len(a.Migrate)) },
	}
}

// ServerRows are the commands of group server that concern the whole server.
func ServerRows() []command.Row {
	const (
		flags = command.Admin | command.NoScript | command.Loading | command.Stale
		stats = command.Loading | command.Stale
		toAll = command.RequestAllNodes | command.ResponseAllSucceeded
	)
	return []command.Row{
		Row("monitor", "",
			1, flags|command.Streams, "server", "1.0.0",
			"O(1)",
			"Streams every command that the server executes.", (*Admin).monitor),
		Row("info", "[section ...]",
			-1,
			stats|command.Dangerous|command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial,
			"server", "1.0.0",
			"O(1)",
			"Returns facts and statistics about the server.", (*Admin).info),
		Row("config|get", "parameter ...",
			-3, flags, "server", "2.0.0",
			"O(N) for N directives",
			"Returns the values of directives.", (*Admin).configGet),
		Row("config|set", "(data: parameter value) ...",
			-4, flags|toAll, "server", "2.0.0",
			"O(N) for N directives",
			"Changes directives: either all of them or none.", (*Admin).configSet).Hides(configSecrets),
		Row("config|rewrite", "",
			2, flags|toAll, "server", "2.8.0",
			"O(1)",
			"Writes the current values to the configuration file.", (*Admin).configRewrite),
		Row("config|resetstat", "",
			2, flags|toAll, "server", "2.0.0",
			"O(1)",
			"Resets the counters of INFO to zero.", (*Admin).configResetStat),
		Row("debug", "",
			-2, flags|command.ProtectedDebug, "server", "1.0.0",
			"See the subcommands.",
			"Runs a function for tests and debugging.", (*Admin).debug),
		Row("memory|stats", "",
			2, command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial, "server", "4.0.0",
			"O(1)",
			"Returns how much memory each part of the server uses.", (*Admin).memoryStats),
	}
}
