package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// A panic that ends a script must not leave the server busy with it. One that ends another client's command
// while a script runs leaves the script as it was: what it has made is not for others yet.
func TestAPanicEndsItsOwnCommandOnly(t *testing.T) {
	cfg := config.Default()
	cfg.BusyReplyThreshold = 1
	host := &testHost{}
	ex := New(cfg, store.NewKeyspace(store.Options{}), clock.New(), host, NewCommands())
	s, w := &Session{User: ex.Users.Default, Authenticated: true, Proto: 2}, &resp.Writer{Proto: 2}
	loop := requestOf("EVAL", "while true do end", "0")

	host.block = func() (stop bool) {
		ex.Abandon() // another's
		require.Equal(t, errBusyEval, ex.Scripts.Busy())
		require.Equal(t, 1, ex.Depth)
		return true
	}
	ex.Do(s, loop, w)
	require.NoError(t, ex.Scripts.Busy())
	require.Zero(t, ex.Depth)

	ex.Scripts.run, ex.Depth = scriptRun{on: true, busy: true}, 1
	ex.Abandon() // the script itself
	require.NoError(t, ex.Scripts.Busy())
	require.Zero(t, ex.Depth)
}
