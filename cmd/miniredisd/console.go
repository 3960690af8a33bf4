package main

import (
	"fmt"
	"io"
	"os"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/version"
)

// printVersion is the subcommand version.
func printVersion(args []string, out, errs io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintf(errs, "version expects nothing after it, not '%s'\n", args[0])
		return 1
	}
	fmt.Fprintf(out, "miniredisd %s, speaks Redis %s\n", version.Of(), config.RedisVersion)
	return 0
}

// serverVersion is the output of -v. Tools parse v= in the first line.
func serverVersion(strict bool) string {
	build := "0000000000000000"
	if commit := version.Of().Commit; len(commit) >= len(build) {
		build = commit[:len(build)]
	}
	line := fmt.Sprintf("Redis server v=%s sha=%s:0 malloc=go bits=64 build=%s\n", config.RedisVersion, build[:8],
		build)
	if !strict {
		line += fmt.Sprintf("miniredisd v=%s\n", version.Version)
	}
	return line
}

// logo shows the same facts as Redis's logo. Redis's test suite reads the process id from it.
func logo(cfg *config.Config) string {
	return fmt.Sprintf(`
      .---.
     /  o  \      Redis %s, miniredisd %s, 64 bit
    |  .-.  |     Running in standalone mode
    |  '-'  |     Port: %d
     \  o  /      PID: %d
      '---'

`, config.RedisVersion, version.Version, max(cfg.Port, 0), os.Getpid())
}
