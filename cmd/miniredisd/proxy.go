package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/miniredisd/miniredisd/internal/collector"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rlog"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labhttp"
	"github.com/miniredisd/miniredisd/lab/labverdict"
	"github.com/miniredisd/miniredisd/proxy"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

const proxyUsage = `Clients of --port talk to the upstream. A client that sends LAB talks to the proxy:
LAB FAULT makes requests go wrong, LAB LOG WATCH and LAB VERDICT judge locks, and LAB HELP lists what there is.

  --upstream HOST:PORT   a server that speaks RESP; again for each further one
  --upstream-sentinel HOST:PORT  a Sentinel; each server and each Sentinel that it names gets a port, too
  --sentinel-name NAME   only what belongs to this master (all)
  --upstream-cluster HOST:PORT   a node of a cluster; each other node gets a port, too
  --announce HOST        what replies that name nodes say instead of their hosts (where the client has connected)
  --port N               the port of the first upstream; the next ones count up (7777). 0 takes free ports
  --bind ADDRESS         listen on this address (127.0.0.1)
  --order ORDER          exact: the upstream has one request at a time (exact); free: it may have many
  --auth [NAME:]PASSWORD how the proxy itself logs in, for LAB LOG WATCH; else REDISCLI_AUTH
  --clock-keys N         how many keys with a deadline LAB CLOCK ADVANCE may move (10000)
  --lab-http ADDRESS     serve LAB over HTTP there, such as 127.0.0.1:7070
  --lab-token TOKEN      what LAB over HTTP asks for; needed where others than this machine reach it
  --seed N               what PROB and JITTER in a rule of LAB FAULT depend on (1)
` + proxyTLSUsage + `
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
		Log: log.Log, Judge: judge, Diagnose: labverdict.Diagnose}
	flags := flag.NewFlagSet("proxy", flag.ContinueOnError)
	flags.Var((*upstreams)(&cfg.Upstreams), "upstream", "")
	var sentinels, nodes upstreams
	flags.Var(&sentinels, "upstream-sentinel", "")
	flags.StringVar(&cfg.MasterName, "sentinel-name", "", "")
	flags.Var(&nodes, "upstream-cluster", "")
	flags.StringVar(&cfg.Announce, "announce", "", "")
	flags.IntVar(&cfg.Port, "port", 7777, "")
	flags.IntVar(&cfg.ClockKeys, "clock-keys", 10000, "")
	auth := flags.String("auth", os.Getenv("REDISCLI_AUTH"), "")
	access, labAt := labhttp.Access{}, flags.String("lab-http", "", "")
	flags.StringVar(&access.Token, "lab-token", "", "")
	var secure proxyTLS
	secure.define(flags)
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
	why := ""
	switch kinds := behind(&cfg, sentinels, nodes); {
	case !cfg.Free && *order != "exact":
		why = fmt.Sprintf("--order expects exact or free, not '%s'", *order)
	case flags.NArg() > 0:
		why = fmt.Sprintf("'%s' is no option. miniredisd help proxy lists them.", flags.Arg(0))
	case access.Token != "" && *labAt == "":
		why = "--lab-token needs --lab-http"
	case len(cfg.Upstreams) == 0:
		why = "--upstream HOST:PORT is missing"
	case kinds > 1:
		why = "--upstream, --upstream-sentinel and --upstream-cluster exclude each other"
	case cfg.MasterName != "" && len(sentinels) == 0:
		why = "--sentinel-name needs --upstream-sentinel"
	case cfg.Announce != "" && cfg.Behind == "":
		why = "--announce needs --upstream-sentinel or --upstream-cluster: other replies name no nodes"
	case cfg.Port < 0 || cfg.Port+len(cfg.Upstreams)-1 > server.MaxPort:
		why = fmt.Sprintf("%d ports from --port %d on are not all between 0 and %d", len(cfg.Upstreams), cfg.Port,
			server.MaxPort)
	}
	if why != "" {
		fmt.Fprintln(errs, "proxy: "+why)
		return 2
	}
	var failed [2]error
	cfg.TLS, failed[0] = secure.clients()
	cfg.UpstreamTLS, failed[1] = secure.upstream()
	if err := cmp.Or(failed[0], failed[1]); err != nil {
		fmt.Fprintf(errs, "proxy: %v\n", err)
		return 2
	}
	var web net.Listener
	if *labAt != "" {
		var err error
		if web, err = access.Listen("--lab-http", *labAt); err != nil {
			fmt.Fprintf(errs, "proxy: %v\n", err)
			return 1
		}
	}
	return serveProxy(cfg, web, access, log, errs)
}

// behind notes what the upstreams show the way to. It returns how many kinds of upstreams there are.
func behind(cfg *proxy.Config, sentinels, nodes upstreams) (kinds int) {
	for _, all := range [][]string{cfg.Upstreams, sentinels, nodes} {
		if len(all) > 0 {
			kinds++
		}
	}
	if len(sentinels) > 0 {
		cfg.Behind = proxy.Sentinel
	} else if len(nodes) > 0 {
		cfg.Behind = proxy.Cluster
	}
	cfg.Upstreams = append(cfg.Upstreams, append(sentinels, nodes...)...)
	return kinds
}

// serveProxy serves until a signal ends the proxy. web serves LAB over HTTP, nil for nothing. It returns the exit code.
func serveProxy(cfg proxy.Config, web net.Listener, access labhttp.Access, log *rlog.Logger, errs io.Writer) int {
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
	p.Announce()
	if web != nil {
		defer serveHTTP(web, access.Guard(labhttp.Handler(len(cfg.Upstreams), p.Ask)), log)()
		log.Log('*', "Lab is at http://%s/lab", web.Addr())
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
