// Command models is two servers that miniredisd is not: the same commands under two other
// threading models, for `bench models` to compare it with.
//
//	models goroutines 127.0.0.1:7000
//	models queue 127.0.0.1:7000
//
//	goroutines                              queue
//
//	conn 1: read parse ┐                    reactor: read parse ┐      ┌> write
//	conn 2: read parse ┼─ mutex: execute    goroutine           │ chan │ Post
//	conn 3: read parse ┘  then write        executor:           └> execute
//
// In goroutines (goroutines.go) every connection has a goroutine of redcon's, which reads,
// waits its turn at the executor, and writes. In queue (queue.go) one goroutine owns the sockets
// and hands every client that has sent something to another, which owns the keyspace: the
// picture of a server in which "commands enter a queue". miniredisd itself is the third model,
// where the loop calls the executor as a function, and with --io-threads the fourth.
//
// Everything behind the parser is miniredisd's own: command.Executor, store, the reply writer,
// and the pace of the collector. So what differs between the figures is who runs what on which
// thread. These are servers for a measurement: they have no limits, no cron, and hang up on a
// client that wants to block or to listen, since there is nobody to wake it.
package main

import (
	"fmt"
	"os"

	"github.com/miniredisd/miniredisd/internal/collector"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "models:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a model, goroutines or queue, and an address")
	}
	collector.Pace()
	switch model, addr := args[0], args[1]; model {
	case "goroutines":
		g, err := newGoroutines(addr)
		if err != nil {
			return err
		}
		return g.server.Serve(g.listener)
	case "queue":
		q, err := newQueue(addr)
		if err != nil {
			return err
		}
		return q.run()
	default:
		return fmt.Errorf("there is no model %q", model)
	}
}
