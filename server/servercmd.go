package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// row is the shape of command.Row, for commands without keys.
func row(name, syntax string, arity int, flags command.Flag, group, since, complexity, summary string, do func(*command.Call) error) command.Row {
	return command.Row{Name: name, Syntax: syntax, Arity: arity, Flags: flags, Group: group, Since: since, Complexity: complexity, Summary: summary, Do: do}
}

// serverRows are the commands of group server that see the server itself.
func (s *Server) serverRows() []command.Row {
	const (
		admin = command.Admin | command.NoScript | command.Loading | command.Stale
		stats = command.Loading | command.Stale
	)
	return []command.Row{
		row("monitor", "", 1, admin, "server", "1.0.0", "O(1)", "Shows every command that is executed, as it happens.", s.monitor),
		row("info", "[section ...]", -1, stats|command.Dangerous|command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial, "server", "1.0.0", "O(1)", "Tells all about the server.", s.info),
		row("config|get", "parameter ...", -3, admin, "server", "2.0.0", "O(N) when N is the number of configuration parameters provided", "Tells the values of directives.", s.configGet),
		row("config|set", "(parameter value) ...", -4, admin|command.RequestAllNodes|command.ResponseAllSucceeded, "server", "2.0.0", "O(N) when N is the number of configuration parameters provided", "Changes directives, all of them or none.", s.configSet),
		row("config|rewrite", "", 2, admin, "server", "2.8.0", "O(1)", "Writes the present values to the configuration file.", s.configRewrite),
		row("config|resetstat", "", 2, admin, "server", "2.0.0", "O(1)", "Sets the counters of INFO back to zero.", s.configResetStat),
		row("debug", "subcommand [argument ...]", -2, admin|command.ProtectedDebug, "server", "1.0.0", "Depends on subcommand.", "Does what only tests need.", s.debug),
		row("shutdown", "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]", -1, admin|command.NoMulti|command.AllowBusy, "server", "1.0.0",
			"O(N) when saving, where N is the total number of keys in all databases when saving data, otherwise O(1)", "Ends the server.", s.shutdown),
		row("lastsave", "", 1, stats|command.Fast|command.InAdmin|command.NondeterministicOutput, "server", "1.0.0", "O(1)", "Tells when data was saved last, or the server started.", s.lastSave),
		row("memory|stats", "", 2, command.NondeterministicOutput|command.RequestAllShards|command.ResponseSpecial, "server", "4.0.0", "O(1)", "Tells what memory is used for.", s.memoryStats),
		row("wait", "numreplicas:integer timeout:integer", 3, command.NoScript|command.NotKeyspace|command.InConnection|command.RequestAllShards|command.ResponseMin, "generic", "3.0.0", "O(1)", "Waits until replicas have what was written.", s.wait),
		row("waitaof", "numlocal:integer numreplicas:integer timeout:integer", 4, command.NoScript|command.NotKeyspace|command.InConnection|command.RequestAllShards|command.ResponseMin, "generic", "7.2.0", "O(1)", "Waits until what was written is on disk here and on replicas.", s.waitAOF),
	}
}

func (s *Server) lastSave(c *command.Call) error {
	c.Int(s.ex.Clock.Wall(s.start) / 1000)
	return nil
}

// wait has no replicas to wait for: it is the timeout that ends it.
func (s *Server) wait(c *command.Call) error {
	n, err := parseInt(c.Args[1])
	if err != nil {
		return err
	}
	timeout, err := parseTimeout(c.Args[2])
	if err != nil {
		return err
	}
	if n <= 0 || c.Ex.Depth > 0 {
		c.Int(0)
		return nil
	}
	s.block(timeout, func(c *client) {
		s.answer(c, func(w *resp.Writer) { w.Int(0) })
	})
	return nil
}

func (s *Server) waitAOF(c *command.Call) error {
	local, ok := store.ParseInt(c.Args[1])
	if !ok {
		return store.ErrNotInt
	}
	if local < 0 || local > 1 {
		return store.Error("ERR value is out of range, must be between 0 and 1")
	}
	n, ok := store.ParseInt(c.Args[2])
	if !ok || n < 0 {
		return errPositive
	}
	timeout, err := parseTimeout(c.Args[3])
	if err != nil {
		return err
	}
	if local > 0 {
		return store.Error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
	}
	reply := func(w *resp.Writer) {
		w.Array(2)
		w.Int(0)
		w.Int(0)
	}
	if n == 0 || c.Ex.Depth > 0 {
		reply(c.Writer)
		return nil
	}
	s.block(timeout, func(c *client) { s.answer(c, reply) })
	return nil
}

// shutdown ends Run. There is nothing to save yet, so nothing can keep it from
// ending, and never a shutdown in progress to abort.
func (s *Server) shutdown(c *command.Call) error {
	save, nosave, abort, others := false, false, false, false
	for _, arg := range c.Args[1:] {
		switch {
		case is(arg, "save"):
			save = true
		case is(arg, "nosave"):
			nosave = true
		case is(arg, "abort"):
			abort = true
		case is(arg, "now") || is(arg, "force"):
			others = true
		default:
			return errSyntax
		}
	}
	if save && nosave || abort && (save || nosave || others) {
		return errSyntax
	}
	if abort {
		return store.Error("ERR No shutdown in progress.")
	}
	s.running.sess.CloseAfterReply = true
	s.loop.Stop()
	return nil
}
