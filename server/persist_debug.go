package server

import (
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// debug are the subcommands of DEBUG that concern the files.
func (p *Files) debug() []DebugCommand {
	return []DebugCommand{
		{"aof-flush-sleep", "<microseconds>",
			"Makes the server sleep before each write to the append only file.", 1, 1, p.AOF.slowFlush},
		{"loadaof", "",
			"Deletes all keys and loads the append only file again.", 0, 0, p.AOF.loadAgain},
		{"reload", "[MERGE] [NOFLUSH] [NOSAVE]",
			"Saves all keys and functions to the RDB file, deletes them and loads them again.", 0, 3, p.reload},
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
