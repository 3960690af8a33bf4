// Command go runs lock libraries for Go against one Redis server. It prints one line of JSON for
// each cell, which is one client in one scenario.
//
// clients/interop/matrix starts it and passes the servers in its environment (clients/interop/README.md describes
// the interface). By hand:
//
//	REDIS_ADDR=127.0.0.1:6379 ./run
//
// The scenarios are written once, for the functions of a locker. Each library has a file with these
// functions.
//
//	cell.go         a cell, its time limit and its line
//	server.go       the servers, and a connection to look behind the client's back
//	locker.go       what a lock library is to a scenario
//	scenarios.go    the scenarios of a plain lock
//	redsync.go redislock.go rueidislock.go  the libraries
//	suites.go       the libraries' own test suites
//	inside.go       where a suite runs
//	holders.go      two owners of one RedLock, for clients/interop/redlock
//	resend.go       single requests whose reply does not come, for clients/interop/resend
//	compare.go      locks in commands that compare the token themselves
//	explore.go      one client again and again, for clients/interop/explore
//	explored.go     the clients that it runs
//	sentinel.go     clients that find their master through Sentinel, for clients/interop/sentinel
//	topology.go     locks in a cluster or through Sentinel, for clients/interop/topology
//	spread.go       the clients that take them
package main

import (
	"fmt"
	"os"
	"sync"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == insideArg {
		os.Exit(inside(os.Args[2:]))
	}
	if len(os.Args) == 3 && os.Args[1] == holdersArg {
		if err := holders(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "clients/interop/go:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == resendArg {
		if err := resend(); err != nil {
			fmt.Fprintln(os.Stderr, "clients/interop/go:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == exploreArg {
		if err := explore(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "clients/interop/go:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == tlsArg {
		if err := overTLS(); err != nil {
			fmt.Fprintln(os.Stderr, "clients/interop/go:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == sentinelArg {
		if err := throughSentinel(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "clients/interop/go:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == topologyArg {
		if err := inTopology(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "clients/interop/go:", err)
			os.Exit(1)
		}
		return
	}
	env, err := environment()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients/interop/go:", err)
		os.Exit(1)
	}
	var cells []cell
	for _, l := range []library{redsyncOverGoRedis(), redsyncOverRedigo(), redislock(), rueidislock()} {
		cells = append(cells, lockCells(l)...)
	}
	cells = append(cells, redsyncCells()...)
	cells = append(cells, compareCells()...)
	cells = append(cells, quickSuites()...)
	for _, c := range cells {
		if env.wants(c) {
			c.run(env).print()
		}
	}
	runAtOnce(env, sleepySuites())
}

// runAtOnce runs cells that use no server of the matrix and mostly sleep.
func runAtOnce(env *env, cells []cell) {
	lines := make([]*line, len(cells))
	var wg sync.WaitGroup
	for i, c := range cells {
		if env.wants(c) {
			wg.Go(func() { l := c.run(env); lines[i] = &l })
		}
	}
	wg.Wait()
	for _, l := range lines {
		if l != nil {
			l.print()
		}
	}
}
