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
		{Name: "aof-flush-sleep", Syntax: "<microseconds>", Least: 1, Most: 1, Do: p.AOF.slowFlush,
			Summary: "Makes the server sleep before each write to the append only file."},
		{Name: "loadaof", Do: p.AOF.loadAgain,
			Summary: "Deletes all keys and loads the append only file again."},
		{Name: "reload", Syntax: "[MERGE] [NOFLUSH] [NOSAVE]", Most: 3, Do: p.reload,
			Summary: "Saves all keys and functions to the RDB file, deletes them and loads them again."},
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
