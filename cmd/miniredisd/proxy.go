package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/miniredisd/miniredisd/internal/collector"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rlog"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labverdict"
	"github.com/miniredisd/miniredisd/proxy"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

const proxyUsage = `Clients of --port talk to the upstream. A client that sends LAB talks to the proxy:
LAB FAULT makes requests go wrong, LAB LOG WATCH and LAB VERDICT judge locks, and LAB HELP lists what there is.

  --upstream HOST:PORT   a server that speaks RESP; again for each further one
  --port N               the port of the first upstream; the next ones count up (7777). 0 takes free ports
  --bind ADDRESS         listen on this address (127.0.0.1)
  --order ORDER          exact: the upstream has one request at a time (exact); free: it may have many
  --auth [NAME:]PASSWORD how the proxy itself logs in, for LAB LOG WATCH; else REDISCLI_AUTH
  --clock-keys N         how many keys with a deadline LAB CLOCK ADVANCE may move (10000)
  --seed N               what PROB in a rule of LAB FAULT depends on (1)

Exit codes: 0 ended by SIGTERM or SIGINT, 1 it could not go on, 2 wrong arguments.
`

// upstreams is the value of --upstream, which may be given more than once.
type upstreams []string

// String is for package flag.
func (u *upstreams) String() string { return strings.Join(*u, " ") }

// Set is for package flag.
func (u *upstreams) Set(value string) error {
	*u = append(*u, value)
	return nil
}

// judge answers LAB VERDICT.
func judge(w *resp.Writer, args [][]byte, logs []lab.History) error {
	ask, err := labverdict.Parse(args)
	if err != nil {
		return err
	}
	return ask.Write(w, logs)
}

// runProxy is the subcommand proxy: it serves until a signal ends it.
func runProxy(args []string, out, errs io.Writer) int {
	log := rlog.New(out)
	log.SetRole(rlog.Master)
	cfg := proxy.Config{Multiplexer: config.Default().Multiplexer, Match: store.MatchPattern,
		Log: log.Log, Judge: judge}
	flags := flag.NewFlagSet("proxy", flag.ContinueOnError)
	flags.Var((*upstreams)(&cfg.Upstreams), "upstream", "")
	flags.IntVar(&cfg.Port, "port", 7777, "")
	flags.IntVar(&cfg.ClockKeys, "clock-keys", 10000, "")
	auth := flags.String("auth", os.Getenv("REDISCLI_AUTH"), "")
	order := flags.String("order", "exact", "")
	flags.Uint64Var(&cfg.Seed, "seed", 1, "")
	flags.StringVar(&cfg.Bind, "bind", "127.0.0.1", "")
	if !parseFlags(flags, args, errs) {
		return 2
	}
	cfg.Free = *order == "free"
	if name, password, both := strings.Cut(*auth, ":"); both {
		cfg.Auth = []string{name, password}
	} else if *auth != "" {
		cfg.Auth = []string{*auth}
	}
	switch {
	case !cfg.Free && *order != "exact":
		fmt.Fprintf(errs, "proxy: --order expects exact or free, not '%s'\n", *order)
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(errs, "proxy: '%s' is no option. miniredisd help proxy lists them.\n", flags.Arg(0))
		return 2
	case len(cfg.Upstreams) == 0:
		fmt.Fprintln(errs, "proxy: --upstream HOST:PORT is missing")
		return 2
	case cfg.Port < 0 || cfg.Port+len(cfg.Upstreams)-1 > server.MaxPort:
		fmt.Fprintf(errs, "proxy: %d ports from --port %d on are not all between 0 and %d\n", len(cfg.Upstreams), cfg.Port,
			server.MaxPort)
		return 2
	}
	collector.Pace()
	p, err := proxy.New(cfg)
	if err != nil {
		fmt.Fprintf(errs, "proxy: %v\n", err)
		return 1
	}
	signal.Ignore(syscall.SIGPIPE) // the proxy continues when nobody reads its log
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		p.Stop()
	}()
	for i, port := range p.Ports() {
		log.Log('*', "Ready to accept connections tcp: port %d leads to %s", port, cfg.Upstreams[i])
	}
	runtime.UnlockOSThread()
	p.Dedicated()
	if err := p.Run(); err != nil {
		log.Log('#', "%v", err)
		return 1
	}
	log.Log('*', "Proxy is now ready to exit, bye bye...")
	return 0
}
