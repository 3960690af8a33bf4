package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

func TestShutdownAbortCancelsASignalWhileCronIsPaused(t *testing.T) {
	p := start(t, "redis-server", "", "--port", "0", "--enable-debug-command", "yes")
	p.port()
	c := p.dial()
	require.Equal(t, "ERR No shutdown in progress.", c.Do("SHUTDOWN", "ABORT").Str)
	require.Equal(t, "OK", c.Do("DEBUG", "PAUSE-CRON", "1").Str)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.waitFor("Received SIGTERM scheduling shutdown...")
	for c.Do("SHUTDOWN", "ABORT").Str != "OK" { // until the signal has arrived
	}
	p.waitFor("* Shutdown manually aborted.")
	require.Equal(t, "OK", c.Do("DEBUG", "PAUSE-CRON", "0").Str)
	require.Equal(t, "PONG", c.Do("PING").Str)

	require.Equal(t, "OK", c.Do("DEBUG", "PAUSE-CRON", "1").Str)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.waitFor("Received SIGTERM scheduling shutdown...")
	require.NoError(t, c.Send([]byte("DEBUG PAUSE-CRON 0\r\n")))
	require.Equal(t, 0, p.exit())
}

func TestAServerGoesOnWhenNobodyReadsItsLog(t *testing.T) {
	p := start(t, "redis-server", "", "--port", "0", "--loglevel", "debug")
	p.port()
	c := p.dial()
	require.NoError(t, p.log.Close())
	require.Equal(t, "PONG", c.Do("PING").Str)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM)) // logs three lines
	require.NoError(t, p.cmd.Wait())
}

// A signal that saves waits for a script that has changed keys. It can be taken back: the next SIGINT is the first one
// then, and only the one behind it ends the process at once.
func TestASecondInterruptEndsAServerThatWaitsForAScript(t *testing.T) {
	p := start(t, "redis-server", "", "--port", "0", "--save", "3600 1", "--busy-reply-threshold", "1")
	p.port()
	c, script := p.dial(), p.dial()
	endless := "redis.call('SET', 'half', 'v') while true do end"
	require.NoError(t, script.Send(resp.AppendRequest(nil, "EVAL", endless, "0")))
	redistest.Until(t, func() bool { return strings.HasPrefix(c.Do("PING").Str, "BUSY ") })
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGINT} {
		require.NoError(t, p.cmd.Process.Signal(sig))
		p.waitFor("Waiting for a script that has changed keys before saving.")
		require.True(t, strings.HasPrefix(c.Do("PING").Str, "BUSY "))
		require.Equal(t, "OK", c.Do("SHUTDOWN", "ABORT").Str)
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.waitFor("Waiting for a script that has changed keys before saving.")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	p.waitFor("You insist... exiting now.")
	require.Equal(t, 1, p.exit())
	require.NoFileExists(t, filepath.Join(p.cmd.Dir, "dump.rdb"))
}
