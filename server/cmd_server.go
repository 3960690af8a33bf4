package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/store"
)

// row builds a command.Row without keys. Servers share their rows, so do gets the server that executes
// the command.
func row(
	name, syntax string, arity int, flags command.Flag, group, since, complexity, summary string,
	do func(*Server, *command.Call) error,
) command.Row {
	return command.Row{
		Name: name, Syntax: syntax, Arity: arity, Flags: flags, Group: group, Since: since,
		Complexity: complexity, Summary: summary,
		Do: func(c *command.Call) error { return do(serverOf(c), c) },
	}
}

// serverRows are the commands of group server that concern the whole server.
func serverRows() []command.Row {
	const (
		admin = command.Admin | command.NoScript | command.Loading | command.Stale
		stats = command.Loading | command.Stale
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
		row("config|set", "(parameter value) ...",
			-4, admin|command.RequestAllNodes|command.ResponseAllSucceeded, "server", "2.0.0",
			"O(N) for N directives",
			"Changes directives: either all of them or none.", (*Server).configSet).Hides(configSecrets),
		row("config|rewrite", "",
			2, admin, "server", "2.8.0",
			"O(1)",
			"Writes the current values to the configuration file.", (*Server).configRewrite),
		row("config|resetstat", "",
			2, admin, "server", "2.0.0",
			"O(1)",
			"Resets the counters of INFO to zero.", (*Server).configResetStat),
		row("debug", "subcommand [argument ...]",
			-2, admin|command.ProtectedDebug, "server", "1.0.0",
			"See the subcommands.",
			"Runs a function for tests and debugging.", (*Server).debug),
		row("shutdown", "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
			-1, admin|command.NoMulti|command.AllowBusy, "server", "1.0.0",
			"O(1)",
			"Stops the server.", (*Server).shutdown),
		row("lastsave", "",
			1, stats|command.Fast|command.InAdmin|command.NondeterministicOutput, "server", "1.0.0",
			"O(1)",
			"Returns the Unix time of the last save. Nothing is saved here: it is the start time.", (*Server).lastSave),
		row("memory|stats", "",
			2, command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial, "server", "4.0.0",
			"O(1)",
			"Returns how much memory each part of the server uses.", (*Server).memoryStats),
	}
}

// LASTSAVE (db.c: lastsaveCommand)
func (s *Server) lastSave(c *command.Call) error {
	c.Int(s.started / 1000)
	return nil
}

const errShutdown store.Error = "ERR Errors trying to SHUTDOWN. Check logs."

// SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT] (db.c: shutdownCommand)
// The event loop stops, unless SAVE asks for a file, which this server cannot write. ABORT is
// possible while a shutdown waits because cron is paused.
func (s *Server) shutdown(c *command.Call) error {
	save, nosave, abort, now, force := false, false, false, false, false
	for _, arg := range c.Args[1:] {
		switch {
		case is(arg, "save"):
			save = true
		case is(arg, "nosave"):
			nosave = true
		case is(arg, "abort"):
			abort = true
		case is(arg, "now"):
			now = true
		case is(arg, "force"):
			force = true
		default:
			return errSyntax
		}
	}
	if save && nosave || abort && (save || nosave || now || force) {
		return errSyntax
	}
	if abort && s.terminating {
		s.terminating = false
		s.log('*', "Shutdown manually aborted.")
		c.OK()
		return nil
	}
	if abort {
		return store.Error("ERR No shutdown in progress.")
	}
	if busy := c.Ex.Scripts.Busy(); busy != nil && !nosave {
		return busy // a script must not be cut in the middle
	}
	if save {
		s.log('#', "Error trying to save the DB: this server keeps its data in memory only")
		if !force {
			return errShutdown
		}
	}
	s.running.sess.CloseAfterReply = true
	s.closeListeners() // a client that loses its connection must not get a new one
	s.loop.Stop()
	return nil
}
