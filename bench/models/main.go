//go:build linux

// Command models is two servers for `bench models`: the same commands as miniredisd, under two
// other threading models.
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
// In goroutines (goroutines.go), every connection has a goroutine of redcon. It reads, waits for
// the mutex of the executor, and writes. In queue (queue.go), one goroutine owns the sockets and
// sends every client with input through a channel to another goroutine, which owns the keyspace.
// That is the picture of a server in which "commands enter a queue". miniredisd is the third model,
// in which the loop calls the executor as a function. With --io-threads it is the fourth.
//
// Everything behind the parser is miniredisd's own: command.Executor, store, the writer of replies,
// and the pace of the collector. So the figures differ only by who runs what on which thread. These
// servers have no limits and no cron. They close a client that wants to block or to subscribe,
// because nothing would wake it.
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
