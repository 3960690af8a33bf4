// Command sentinel loses the master of a group under Redis Sentinel, and shows who gets over it after how long.
//
//	clients/interop/run sentinel [-only ECO,...] [-fault killed,paused,cut] [-servers miniredisd,redis-server]
//	clients/interop/run sentinel -rounds 10 -fault killed,paused,cut
//
// A group is a master, two replicas and three sentinels. The servers are those of miniredisd, and those of redis-server
// as the control. The sentinels are redis-server's, or those of the program that -sentinel names. Each fault takes the
// master away for as long as the failover takes: it is killed, paused, or cut off from everyone.
//
// Without -rounds, released clients of all ecosystems take locks through the sentinels while that happens once. The
// table has the seconds for which each client had no lock. With -rounds, writers of this program go on while it happens
// again and again in one group. No write may be lost that WAIT has confirmed for both replicas, the old master has to
// come back as a replica, and all three must have the same data at the end.
//
//	main.go     flags, and which servers there are
//	node.go     a process
//	group.go    servers and sentinels, the fault, and the way back
//	proxy.go    cuts a server off
//	load.go     writers, and which of their writes are lost
//	rounds.go   failovers under this load
//	clients.go  the programs of the ecosystems
//
// clients/interop/README.md describes the interface of the programs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/clients/interop/labserver"
	"github.com/miniredisd/miniredisd/clients/interop/signals"
)

const ours = "miniredisd"

type options struct {
	only     []string // ecosystems; none means all
	faults   []string
	servers  []string // the first is judged, the second is the control
	sentinel string
	rounds   int
	strict   bool // in CI: whatever is missing is a failure
}

func main() {
	ctx, stop := signals.Context(os.Stdout)
	err := start(ctx, parseFlags())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sentinel:", err)
		os.Exit(1)
	}
}

func parseFlags() options {
	only := flag.String("only", "", "run these `ecosystems` only (their folders' names, separated by commas)")
	faults := flag.String("fault", killed, "how the master is lost: `killed,paused,cut`")
	servers := flag.String("servers", ours+",redis-server", "the `programs` of the servers; the second is the control")
	sentinel := flag.String("sentinel", "redis-server", "the `program` of the sentinels")
	rounds := flag.Int("rounds", 0, "`how often` a group loses its master under load, instead of clients")
	flag.Parse()
	return options{
		only: list(*only), faults: list(*faults), servers: list(*servers), sentinel: *sentinel, rounds: *rounds,
		strict: os.Getenv("CI") == "true",
	}
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

func start(ctx context.Context, o options) error {
	for _, how := range o.faults {
		if !slices.Contains([]string{killed, paused, cutOff}, how) {
			return fmt.Errorf("there is no fault %q: %s, %s or %s", how, killed, paused, cutOff)
		}
	}
	work, err := os.MkdirTemp("", "sentinel")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	kinds, err := find(ctx, o, work)
	if err != nil {
		return err
	}
	if o.rounds > 0 {
		return runRounds(o, kinds)
	}
	return runClients(ctx, o, kinds)
}

// find builds miniredisd, and looks for the other programs.
func find(ctx context.Context, o options, work string) (kinds []programs, err error) {
	sentinel, err := exec.LookPath(o.sentinel)
	if err != nil {
		return nil, err
	}
	for _, name := range o.servers {
		path := name
		if name == ours {
			path, err = labserver.Build(ctx, work)
		} else {
			path, err = exec.LookPath(name)
		}
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, programs{path, sentinel})
	}
	if len(kinds) == 0 || len(kinds) > 2 {
		return nil, errors.New("-servers takes one program or two")
	}
	return kinds, nil
}

func (p programs) name() string { return filepath.Base(p.server) }
