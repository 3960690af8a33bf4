package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
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
