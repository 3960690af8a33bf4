package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/miniredisd/miniredisd/internal/collector"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rlog"
	"github.com/miniredisd/miniredisd/lab/labhttp"
	"github.com/miniredisd/miniredisd/lab/labverdict"
	"github.com/miniredisd/miniredisd/proxy"
	"github.com/miniredisd/miniredisd/proxy/child"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

const proxyUsage = `Clients of --port talk to the upstream. A client that sends LAB talks to the proxy:
LAB FAULT makes requests go wrong, LAB LOG WATCH and LAB VERDICT judge locks, and LAB HELP lists what there is.

  --upstream HOST:PORT   a server that speaks RESP; again for each further one. Here and below a URL will do as well,
                         redis://[[USER:]PASSWORD@]HOST[:PORT]; rediss:// is --upstream-tls yes, and the rest --auth
  --upstream-sentinel HOST:PORT  a Sentinel; each server and each Sentinel that it names gets a port, too
  --server COMMAND       in place of --upstream: starts the server, such as 'redis-server --port {port} --save ""', and
                         ends with it; LAB CRASH kills it and starts it again. No shell runs COMMAND. {dir} is a new
                         folder that goes with it. Again for each further one
  --sentinel-name NAME   only what belongs to this master (all)
  --upstream-cluster HOST:PORT   a node of a cluster; each other node gets a port, too
  --announce HOST        what replies that name nodes say instead of their hosts (where the client has connected)
  --port N               the port of the first upstream; the next ones count up (7777). 0 takes free ports
  --port-file FILE       have the ports there while it serves, one on a line
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

// upstreams is the value of --upstream and its like, which may be given more than once.
type upstreams []string

// String is for package flag.
func (u *upstreams) String() string { return strings.Join(*u, " ") }

// Set is for package flag.
func (u *upstreams) Set(value string) error {
	*u = append(*u, value)
	return nil
}

// proxyOptions are the options of the subcommand proxy.
type proxyOptions struct {
	proxy.Config
	upstreams, sentinels, nodes, commands upstreams

	auth, order string
	portFile    string
	secure      proxyTLS
	labAt       string
	access      labhttp.Access
	web         net.Listener // serves LAB over HTTP, nil for nothing
}

func (o *proxyOptions) define(flags *flag.FlagSet) {
	flags.Var(&o.upstreams, "upstream", "")
	flags.Var(&o.sentinels, "upstream-sentinel", "")
	flags.StringVar(&o.MasterName, "sentinel-name", "", "")
	flags.Var(&o.nodes, "upstream-cluster", "")
	flags.StringVar(&o.Config.Announce, "announce", "", "")
	flags.Var(&o.commands, "server", "")
	flags.IntVar(&o.Port, "port", 7777, "")
	flags.StringVar(&o.portFile, "port-file", "", "")
	flags.IntVar(&o.ClockKeys, "clock-keys", 10000, "")
	flags.StringVar(&o.auth, "auth", "", "")
	flags.StringVar(&o.labAt, "lab-http", "", "")
	flags.StringVar(&o.access.Token, "lab-token", "", "")
	o.secure.define(flags)
	flags.StringVar(&o.order, "order", "exact", "")
	flags.Uint64Var(&o.Seed, "seed", 1, "")
	flags.StringVar(&o.Bind, "bind", "127.0.0.1", "")
}

// logsIn sets how the proxy itself logs in: [NAME:]PASSWORD, or "" for not at all.
func (o *proxyOptions) logsIn(auth string) {
	if name, password, both := strings.Cut(auth, ":"); both {
		o.Auth = []string{name, password}
	} else if auth != "" {
		o.Auth = []string{auth}
	}
}

// check completes the configuration. The error says which option is wrong.
func (o *proxyOptions) check(rest []string) error {
	o.Free = o.order == "free"
	ways := 0
	for _, all := range []upstreams{o.upstreams, o.sentinels, o.nodes, o.commands} {
		if len(all) > 0 {
			ways++
		}
		o.Upstreams = append(o.Upstreams, all...)
	}
	switch {
	case len(o.sentinels) > 0:
		o.Behind = proxy.Sentinel
	case len(o.nodes) > 0:
		o.Behind = proxy.Cluster
	}
	if err := o.readURLs(); err != nil {
		return err
	}
	if o.Auth == nil {
		o.logsIn(cmp.Or(o.auth, os.Getenv("REDISCLI_AUTH")))
	}
	var failed [2]error
	o.TLS, failed[0] = o.secure.clients()
	o.UpstreamTLS, failed[1] = o.secure.upstream()
	switch last := o.Port + len(o.Upstreams) - 1; {
	case !o.Free && o.order != "exact":
		return fmt.Errorf("--order expects exact or free, not '%s'", o.order)
	case len(rest) > 0:
		return fmt.Errorf("'%s' is no option. miniredisd help proxy lists them.", rest[0])
	case o.access.Token != "" && o.labAt == "":
		return errors.New("--lab-token needs --lab-http")
	case ways == 0:
		return errors.New("--upstream HOST:PORT or --server COMMAND is missing")
	case ways > 1:
		return errors.New("--upstream, --upstream-sentinel, --upstream-cluster and --server exclude each other")
	case o.MasterName != "" && len(o.sentinels) == 0:
		return errors.New("--sentinel-name needs --upstream-sentinel")
	case o.Config.Announce != "" && o.Behind == "":
		return errors.New("--announce needs --upstream-sentinel or --upstream-cluster: other replies name no nodes")
	case o.UpstreamTLS != nil && len(o.commands) > 0:
		return errors.New("--upstream-tls does not go with --server: the servers that the proxy starts have no TLS here")
	case o.Port < 0 || last > server.MaxPort:
		return fmt.Errorf("%d ports from --port %d on are not all between 0 and %d", len(o.Upstreams), o.Port, server.MaxPort)
	}
	return cmp.Or(failed[0], failed[1])
}

// runProxy is the subcommand proxy: it serves until a signal ends it.
func runProxy(args []string, out, errs io.Writer) int {
	log := rlog.New(out)
	log.SetRole(rlog.Master)
	o := proxyOptions{Config: proxy.Config{Multiplexer: config.Default().Multiplexer, Match: store.MatchPattern,
		Log: log.Log, Judge: labverdict.Judge, Diagnose: labverdict.Diagnose}}
	flags := flag.NewFlagSet("proxy", flag.ContinueOnError)
	o.define(flags)
	if !parseFlags(flags, args, errs) {
		return 2
	}
	code := 2
	err := o.check(flags.Args())
	if err == nil {
		code = 1
		err = o.serve(log)
	}
	if err != nil {
		fmt.Fprintf(errs, "proxy: %v\n", err)
		return code
	}
	log.Log('*', "Proxy is now ready to exit, bye bye...")
	return 0
}

// serve serves until a signal ends the proxy.
func (o *proxyOptions) serve(log *rlog.Logger) error {
	collector.Pace()
	signal.Ignore(syscall.SIGPIPE) // the proxy continues when nobody reads its log
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if o.labAt != "" {
		var err error
		if o.web, err = o.access.Listen("--lab-http", o.labAt); err != nil {
			return err
		}
	}
	defer func() { // from the newest on
		for _, c := range slices.Backward(o.Own) {
			c.Close()
		}
	}()
	if err := o.startServers(log); err != nil {
		return err
	}
	p, err := proxy.New(o.Config)
	if err != nil {
		return err
	}
	go func() {
		<-signals
		p.Stop()
	}()
	if o.portFile != "" {
		defer os.Remove(o.portFile)
		if err := writeWhole(o.portFile, lines(p.Ports())); err != nil {
			return fmt.Errorf("writing the port file: %w", err)
		}
	}
	p.Announce()
	if o.web != nil {
		defer serveHTTP(o.web, o.access.Guard(labhttp.Handler(len(o.Upstreams), p.Ask)), log)()
		log.Log('*', "Lab is at http://%s/lab", o.web.Addr())
	}
	runtime.UnlockOSThread()
	if len(o.commands) == 0 { // else other goroutines wait for the servers
		p.Dedicated()
	}
	return p.Run()
}

// lines has each port on a line.
func lines(ports []int) string {
	var b strings.Builder
	for _, port := range ports {
		fmt.Fprintln(&b, port)
	}
	return b.String()
}

// startServers starts a server for each command. The log has what they print.
func (o *proxyOptions) startServers(log *rlog.Logger) error {
	for i, command := range o.commands {
		prints := func(line string) { log.Log('*', "Server: %s", line) }
		var c *child.Child
		var err error
		c, err = child.New(command, prints, func(how string) {
			log.Log('#', "The server has ended (%s), and is started again", how)
			if err := c.Start(); err != nil {
				log.Log('#', "%v", err)
			}
		})
		if err != nil {
			return err
		}
		o.Own, o.Upstreams[i] = append(o.Own, c), c.Addr
		if err := c.Start(); err != nil {
			return err
		}
	}
	return nil
}
