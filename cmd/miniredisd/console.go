package main

import (
	"fmt"
	"io"
	"os"
	"strings"

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

// usage is the output of -h. Programs that stand in for redis-server have no subcommands.
func usage(argv0 string, strict bool) string {
	text := fmt.Sprintf(`Usage: %[1]s [/path/to/redis.conf] [options] [-]
       %[1]s - (read config from stdin)
       %[1]s -v or --version
       %[1]s -h or --help

An option is a line of redis.conf with two dashes before it:
       %[1]s --port 7777 --maxmemory 128mb --save ""
Options that Redis does not have:
       --port 0           listen on a free port (without --unixsocket)
       --lab yes          answer LAB: faults, a clock and crashes, to test lock clients
       --lab-open yes     allow --lab yes on an address that others can reach without a password
       --lab-http ADDR    answer LAB over HTTP as well, on a loopback address such as 127.0.0.1:0
       --lab-token TOKEN  allow other addresses for them; every request has to show the token
       --lab-http-file PATH
                          write the URL of LAB over HTTP to a file
       --masters N        run N independent servers, on the ports from --port on
       --port-file PATH   write the port to a file once the server listens
       --trace PATH       record what each thread does; write the file at the end and on SIGUSR1
       --seed N           make hashing and random choices repeatable
`, argv0)
	if strict {
		return text
	}
	var b strings.Builder
	b.WriteString(text + "Subcommands, which start no server:\n")
	for _, c := range subcommands() {
		fmt.Fprintf(&b, "       %s %-18s  %s\n", argv0, strings.TrimSpace(c.name+" "+c.args), c.summary)
	}
	return b.String()
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
