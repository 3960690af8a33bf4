//go:build linux

// Command models is four servers for `bench models`: the same commands as miniredisd, under four
// other threading models.
//
//	models goroutines 127.0.0.1:7000
//	models queue 127.0.0.1:7000
//	models owners 127.0.0.1:7000
//	models rings 127.0.0.1:7000
//
//	goroutines   conn 1: read parse ┐
//	             conn 2: read parse ┼─ mutex: execute, then write
//	             conn 3: read parse ┘
//
//	queue        reactor: read parse ─ channel ─> executor: execute ─ Post ─> reactor: write
//
//	owners       thread 1: read parse ┐ list                                ┌> thread 1: write
//	             thread 2: read parse ┴──────> main: execute ─ one list each ┴> thread 2: write
//
//	rings        main: epoll_wait ─ ring ─> thread: read parse ─> main: execute ─ ring ─> thread: write
//
// In goroutines, every connection has a goroutine of redcon. It reads, waits for the mutex of the
// executor, and writes. In queue, one goroutine owns the sockets and sends every client with input
// through a channel to another goroutine, which owns the keyspace. That is the picture of a server in
// which "commands enter a queue". owners is the idea of Redis 8: threads own clients for life. rings is
// the idea of Valkey 8: main owns the clients and gives single jobs to threads. miniredisd is one more
// model, in which the loop calls the executor as a function. With --io-threads it is that of Redis 6.
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
		return fmt.Errorf("want a model, such as queue, and an address")
	}
	collector.Pace()
	m, err := newModel(args[0], args[1])
	if err != nil {
		return err
	}
	return m.run()
}

// threads is the number of I/O threads beside main, as with io-threads 4.
const threads = 3

// model is one of the servers.
type model interface {
	run() error
	stop() // another goroutine calls it
	listens() string
}

func newModel(name, addr string) (model, error) {
	switch name {
	case "goroutines":
		return newGoroutines(addr)
	case "queue":
		return newQueue(addr)
	case "owners":
		return newOwners(addr, threads)
	case "rings":
		return newRings(addr, threads)
	}
	return nil, fmt.Errorf("there is no model %q", name)
}
