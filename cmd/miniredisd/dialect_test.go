package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheVariableIsADefaultOfTheDialect(t *testing.T) {
	t.Setenv("MINIREDISD_DIALECT", "valkey-9.1")
	for args, want := range map[string]string{"": "valkey-9.1", "redis-8.4": "redis-8.4"} {
		line := []string{"--port", "0", "--port-file", "ports"}
		if args != "" {
			line = append(line, "--dialect", args)
		}
		p := start(t, "redis-server", "", line...)
		c := dialPort(t, masterPorts(p)[0])
		require.Equal(t, want, c.Do("CONFIG", "GET", "dialect").Elems[1].Str)
		require.Contains(t, p.out.String(), "This server plays "+want+"\n")
	}
	t.Setenv("MINIREDISD_DIALECT", "valkey-1.0")
	p := start(t, "miniredisd", "", "--port", "0")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.errs.String(), "MINIREDISD_DIALECT='valkey-1.0': argument must be one of the following: ")
}

// A name is no dialect: programs that start valkey-server may be about any version.
func TestStartedAsValkeyServerTheDefaultStaysAndTheLogSaysSo(t *testing.T) {
	require.NoError(t, os.Symlink("miniredisd", filepath.Join(bin, "valkey-server")))
	for name, said := range map[string]bool{"valkey-server": true, "redis-server": false, "miniredisd": false} {
		p := start(t, name, "", "--port", "0", "--port-file", "ports")
		c := dialPort(t, masterPorts(p)[0])
		require.Equal(t, "redis-7.2", c.Do("CONFIG", "GET", "dialect").Elems[1].Str)
		const line = "This server plays redis-7.2: --dialect valkey-9.1 or MINIREDISD_DIALECT=valkey-9.1 "
		if said {
			require.Contains(t, p.out.String(), line)
		} else {
			require.NotContains(t, p.out.String(), "This server plays", name)
		}
	}
}
