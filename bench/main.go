// Command bench measures servers that speak RESP, side by side, in one run.
//
//	go run ./bench compare [-w set,get,memory] [-P 16,1] [-n N] [-r ROUNDS] [-o FILE.md] [NAME=COMMAND ...]
//
// compare builds and starts miniredisd, redis-server if it is installed, and each COMMAND, in which it
// replaces {port}. Every server runs on one core and the load on another. For each workload the servers
// take turns (A B A B ...), so that a machine that becomes slower does so for all of them. It prints the
// medians of the rounds.
//
// The load is redis-benchmark if it is installed, otherwise this program's own generator. CPU per request
// is the time that the server's threads ran, user and kernel time together, divided by the requests. It
// is the figure to compare, because the load limits the requests per second.
//
//	go run ./bench breadth [-only REGEXP] [-rounds N] [-scale SHARE] [SERVERS] [-o FILE.md]
//
// breadth measures CPU per request and rate of many commands and scripts. The servers and the load
// run as in compare. The worst rows of miniredisd come first, and geometric means sum them up.
//
//	go run ./bench tails [-only REGEXP] [-rounds N] [-scale SHARE] [SERVERS] [-o FILE.md]
//
// tails measures p50, p99 and p99.9 of the same commands, each at pipeline 1 with 50 clients.
//
//	go run ./bench stalls [-only REGEXP] [-rounds N] [-scale SHARE] [SERVERS] [-o FILE.md]
//
// stalls measures the longest wait of a client that sends a PING every millisecond, while another
// client sends what takes a server long. Beside it stands the collector's share.
//
//	go run ./bench memory [-only REGEXP] [-rounds N] [-scale SHARE] [SERVERS] [-o FILE.md]
//
// memory fills fresh servers with data of many shapes, and prints the bytes per element. Then it
// empties a server and prints how much memory goes back to the system.
//
//	go run ./bench floor [-rounds N] [-scale SHARE] [-ways WAYS] [SERVERS] [-o FILE.md]
//
// floor measures the kernel's share of a request beside the servers. The program in bench/floor
// reads, and writes fixed bytes.
//
//	go run ./bench scale [-only REGEXP] [-rounds N] [-short] [SERVERS] [-o FOLDER]
//
// scale measures how cost grows with connections, keys, the pipeline, the size of values, channels,
// subscribers and waiters, and draws the curves.
//
// SERVERS are the flags -ours PATH, -redis PATH and -valkey PATH of these six.
//
//	go run ./bench models [-models reactor,queue] [-w get,set] [-c 1,50] [-P 1,16] [-d 32,1024]
//		[-t 1s | -n N] [-r ROUNDS] [-o FOLDER]
//
// models puts one load on several threading models, on redis-server, and on valkey-server if it is
// installed. It writes a report with drawings. Servers and load share all cores, so the figure to compare
// is the CPU time of a request: in total, and on the thread that executes. The other threading models are
// a separate program, bench/models.
//
//	go run ./bench timeline [-n COMMANDS] [-title TEXT] [-o FILE.svg] TRACE.json
//
// timeline draws one pass of a recording of miniredisd --trace. The pictures in docs are its drawings.
//
// This program talks to servers through TCP only. It imports nothing of the server.
package main

import (
	"fmt"
	"os"
)

func commands() map[string]func([]string) error {
	return map[string]func([]string) error{
		"compare": compare, "breadth": breadth, "memory": footprint, "floor": floor, "scale": scale,
		"tails": tails, "stalls": stalls,
		"models": models, "timeline": timeline,
	}
}

func main() {
	if len(os.Args) < 2 || commands()[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: bench compare [flags] [NAME=COMMAND ...]   (bench compare -h lists the flags)")
		fmt.Fprintln(os.Stderr, "       bench breadth [flags]                      (bench breadth -h lists the flags)")
		fmt.Fprintln(os.Stderr, "       bench tails [flags]                        (bench tails -h lists the flags)")
		fmt.Fprintln(os.Stderr, "       bench stalls [flags]                       (bench stalls -h lists the flags)")
		fmt.Fprintln(os.Stderr, "       bench memory [flags]                       (bench memory -h lists the flags)")
		fmt.Fprintln(os.Stderr, "       bench floor [flags]                        (bench floor -h lists the flags)")
		fmt.Fprintln(os.Stderr, "       bench scale [flags]                        (bench scale -h lists the flags)")
		fmt.Fprintln(os.Stderr, "       bench models [flags]                       (bench models -h lists the flags)")
		fmt.Fprintln(os.Stderr, "       bench timeline [flags] TRACE.json          (bench timeline -h lists the flags)")
		os.Exit(2)
	}
	if err := commands()[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
