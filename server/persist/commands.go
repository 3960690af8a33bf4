package persist

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/server"
)

// Rows are the commands that save the data, and SHUTDOWN.
func Rows() []command.Row {
	const admin = command.Admin | command.NoScript
	return []command.Row{
		server.Row("save", "",
			1, admin|command.NoAsyncLoading|command.NoMulti, "server", "1.0.0",
			"O(N) where N is the total number of keys in all databases",
			"Saves all keys and functions to dbfilename, and serves nobody meanwhile.", (*Files).saveCommand),
		server.Row("bgsave", "[SCHEDULE@3.2.2] [CANCEL@,8.1.0]",
			-1, admin|command.NoAsyncLoading, "server", "1.0.0",
			"O(1)",
			"Saves all keys and functions to dbfilename while commands go on.", (*Files).bgsave),
		server.Row("bgrewriteaof", "",
			1, admin|command.NoAsyncLoading, "server", "1.0.0",
			"O(1)",
			"Writes the append only file anew while commands go on, as short as it can be.", (*Files).bgrewriteaof),
		server.Row("lastsave", "",
			1, command.Loading|command.Stale|command.Fast|command.InAdmin|command.NondeterministicOutput,
			"server", "1.0.0",
			"O(1)",
			"Returns the Unix time of the last save, or of the start.", (*Files).lastSaveCommand),
		server.Row("shutdown", "[save-selector: NOSAVE | SAVE] [NOW@7.0.0] [FORCE@7.0.0] [ABORT@7.0.0]",
			-1, admin|command.Loading|command.Stale|command.NoMulti|command.AllowBusy, "server", "1.0.0",
			"O(N) when saving, where N is the total number of keys in all databases when saving data, otherwise O(1)",
			"Stops the server. It saves if asked to, or if there are save points.", (*Stopping).shutdown),
	}
}

// SAVE (rdb.c: saveCommand)
func (p *Files) saveCommand(c *command.Call) error {
	if p.Background.snapshot != nil {
		return errSaving
	}
	p.saves++
	if p.save() != nil {
		return errPlain
	}
	c.OK()
	return nil
}

// LASTSAVE (db.c: lastsaveCommand)
func (p *Files) lastSaveCommand(c *command.Call) error {
	c.Int(p.lastSave())
	return nil
}
