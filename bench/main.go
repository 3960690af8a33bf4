// Command bench measures servers that speak RESP, side by side, in one run.
//
//	go run ./bench compare [-w set,get,memory] [-P 16,1] [-n N] [-r ROUNDS] [-o FILE.md] [NAME=COMMAND ...]
//
// compare builds and starts miniredisd and, where installed, redis-server, and any further
// COMMAND, in which {port} is replaced. Every server runs on one core and the load on another.
// For each workload the servers take turns (A B A B ...), so that a machine that gets slower
// meanwhile is slower for all of them; the medians of the rounds are printed.
//
// The load is redis-benchmark where it is installed, else a generator of our own, which says so.
// CPU per request is what the server's threads ran on their core, user and kernel time, divided
// by the requests. It is the figure to compare: requests per second end at what the load can do.
//
// This program talks TCP only and imports nothing of the server.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "compare" {
		fmt.Fprintln(os.Stderr, "usage: bench compare [flags] [NAME=COMMAND ...]   (bench compare -h lists the flags)")
		os.Exit(2)
	}
	if err := compare(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
