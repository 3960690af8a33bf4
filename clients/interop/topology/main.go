// Command topology lets released clients take locks in a cluster and through Sentinel, in one process of miniredisd and
// on real servers, and shows what each of them sees.
//
//	clients/interop/run topology [-only ECO,...] [-client NAME,...] [-mode cluster,sentinel] [-control redis-server]
//		[-through]
//
// A cluster is three masters with a replica each. A group is a master with two replicas and three Sentinels. For each
// client both are new, because a scene moves a slot, and another one ends a master:
//
//	program                               this command
//	{"ask": "move", "key": "k"}  ───────> SETSLOT, MIGRATE: the slot of k is half-way
//	        <──────── ok ────────────────
//	{"scene": "slot", "saw": "ok"} ─────> a cell of the table
//
// With -through, the real servers stand behind miniredisd proxy on one side, and the control is the same without it. No
// server may then have a connection that goes past the proxy.
//
// The same requests do it on both kinds of servers. Only the end of a master differs: LAB CRASH, and SIGKILL.
//
//	main.go    flags and the table
//	stage.go   the servers
//	through.go the proxy before them
//	acts.go    what happens to them
//	play.go    the programs
//
// clients/interop/README.md describes the interface of the programs.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/clients/interop/labserver"
	"github.com/miniredisd/miniredisd/clients/interop/signals"
)

const (
	inCluster = "cluster"
	sentinels = "sentinel"
)

// scenes are the columns of the table.
var scenes = map[string][]string{
	inCluster: {"connect", "lock", "contention", "wake-up", "shard", "slot", "failover"},
	sentinels: {"connect", "lock", "contention", "wake-up", "outage", "failover"},
}

type options struct {
	only    []string
	clients []string
	modes   []string
	control string
	ours    string
	strict  bool
	judged  kind
}

// kind is what the control is compared with.
type kind struct {
	name  string
	start func(context.Context, options, string) (*stage, error)
}

func main() {
	ctx, stop := signals.Context(os.Stdout)
	err := run(ctx, parseFlags())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "topology:", err)
		os.Exit(1)
	}
}

func parseFlags() options {
	only := flag.String("only", "", "run these `ecosystems` only (their folders' names, separated by commas)")
	client := flag.String("client", "", "run the clients only whose name contains one of these `texts`")
	modes := flag.String("mode", inCluster+","+sentinels, "how the clients find a server: `cluster,sentinel`")
	control := flag.String("control", "redis-server", "the real `program`")
	through := flag.Bool("through", false, "put miniredisd proxy before real servers, in place of miniredisd")
	flag.Parse()
	judged := kind{"miniredisd", startOurs}
	if *through {
		judged = kind{"proxy", startProxied}
	}
	list := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	}
	return options{only: list(*only), clients: list(*client), modes: list(*modes), control: *control,
		strict: os.Getenv("CI") == "true", judged: judged}
}

func run(ctx context.Context, o options) (err error) {
	work, err := os.MkdirTemp("", "topology")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if o.ours, err = labserver.Build(ctx, work); err != nil {
		return err
	}
	if o.control, err = exec.LookPath(o.control); err != nil {
		return err
	}
	all, err := findPrograms(ctx, o)
	if err != nil {
		return err
	}
	failed := 0
	for _, mode := range o.modes {
		if scenes[mode] == nil {
			return fmt.Errorf("there is no mode %q: %s or %s", mode, inCluster, sentinels)
		}
		n, err := playAll(ctx, o, mode, all)
		if failed += n; err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d scenes are red on %s alone", failed, o.judged.name)
	}
	return nil
}

// playAll prints the table of a mode. It returns how many cells are red here and green on the control.
func playAll(ctx context.Context, o options, mode string, all []program) (failed int, err error) {
	fmt.Printf("\n%-40s", mode+": "+o.judged.name+" / control")
	for _, scene := range scenes[mode] {
		fmt.Printf("  %-16s", scene)
	}
	fmt.Println()
	var times, why []string
	for _, p := range all {
		own, err := playOn(ctx, o, mode, p, o.judged.start)
		if err != nil {
			return failed, fmt.Errorf("%s on %s: %w", p.name, o.judged.name, err)
		}
		control, err := playOn(ctx, o, mode, p, startReal)
		if err != nil {
			return failed, fmt.Errorf("%s on %s: %w", p.name, o.control, err)
		}
		fmt.Printf("%-40s", cmp.Or(own.client, p.name))
		for _, scene := range scenes[mode] {
			fmt.Printf("  %-16s", word(own.saw[scene])+" / "+word(control.saw[scene]))
			for kind, saw := range map[string]string{o.judged.name: own.saw[scene], "control": control.saw[scene]} {
				if saw != "ok" && saw != "" {
					why = append(why, fmt.Sprintf("%s, %s, %s: %s", own.client, scene, kind, saw))
				}
			}
			if own.saw[scene] != "ok" && control.saw[scene] == "ok" {
				failed++
			}
		}
		fmt.Println()
		if own.times != "" && control.times != "" {
			times = append(times, fmt.Sprintf("%-40s  %s / %s", own.client, own.times, control.times))
		}
	}
	if times != nil {
		fmt.Println("after the end of a master: until another one is named, until the lock is released there")
	}
	slices.Sort(why)
	for _, line := range append(times, why...) {
		fmt.Println(line)
	}
	return failed, nil
}

func word(saw string) string {
	switch {
	case saw == "ok":
		return "ok"
	case saw == "":
		return "-"
	}
	return "red"
}
