package persist

import (
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// debug are the subcommands of DEBUG that concern the files.
func (p *Files) debug() []server.DebugCommand {
	return []server.DebugCommand{
		{Name: "aof-flush-sleep", Syntax: "<microseconds>",
			Summary: "Makes the server sleep before each write to the append only file.", Least: 1, Most: 1, Do: p.AOF.slowFlush},
		{Name: "loadaof", Syntax: "",
			Summary: "Deletes all keys and loads the append only file again.", Least: 0, Most: 0, Do: p.AOF.loadAgain},
		{Name: "reload", Syntax: "[MERGE] [NOFLUSH] [NOSAVE]",
			Summary: "Saves all keys and functions to the RDB file, deletes them and loads them again.", Least: 0, Most: 3, Do: p.reload},
	}
}

// slowFlush is DEBUG AOF-FLUSH-SLEEP.
func (a *appendOnly) slowFlush(c *command.Call, args [][]byte) error {
	us, ok := ascii.ParseInt(args[0])
	if !ok || us < 0 || us > int64(time.Hour/time.Microsecond) {
		return store.ErrNotInt
	}
	a.Slow = time.Duration(us) * time.Microsecond
	c.OK()
	return nil
}
