package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/miniredisd/miniredisd/internal/config"
)

// version is the output of -v. Tools parse v= in the first line.
func version(strict bool) string {
	build := "0000000000000000"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= len(build) {
				build = s.Value[:len(build)]
			}
		}
	}
	line := fmt.Sprintf("Redis server v=%s sha=%s:0 malloc=go bits=64 build=%s\n", config.RedisVersion, build[:8],
		build)
	if !strict {
		line += fmt.Sprintf("miniredisd v=%s\n", config.Version)
	}
	return line
}

// usage is the output of -h.
func usage(argv0 string) string {
	return fmt.Sprintf(`Usage: %[1]s [/path/to/redis.conf] [options] [-]
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
       --lab-http-file PATH
                          write the URL of LAB over HTTP to a file
       --masters N        run N independent servers, on the ports from --port on
       --port-file PATH   write the port to a file once the server listens
       --trace PATH       record what each thread does; write the file at the end and on SIGUSR1
       --seed N           make hashing and random choices repeatable
`, argv0)
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

`, config.RedisVersion, config.Version, max(cfg.Port, 0), os.Getpid())
}
