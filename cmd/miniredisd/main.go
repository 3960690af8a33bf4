// Command miniredisd is the server, with redis-server's command line, log lines and exit codes.
//
// Its first argument may also be the name of a subcommand, such as version. A configuration file with
// such a name is written ./version.
//
// Started through a link named redis-server or valkey-server, it prints nothing that redis-server
// would not print, and has no subcommands. So programs that start redis-server and read its output
// work unchanged. A link named redis-cli or valkey-cli is the subcommand redis-cli.
//
//	main.go           from arguments to a running server; from signals to its end
//	console.go        what it prints: version, logo
//	help.go           usage, the subcommand help, hints
//	process.go        what other processes see: pid file, port file, daemon, systemd
//	crash.go          the report when a signal ends the process
//	lab.go            the lab's HTTP server
//	watch.go          the page that shows the loop
//	runtime.go        locking main to its thread, and the number of processors
//	grade.go          the subcommand grade
//	explore.go        the subcommand explore
//	explore_stdio.go  explore --stdio, for tests that another process runs
//	health.go         the subcommand health
//	cli.go            the subcommand redis-cli, for health checks
//	proxy.go          the subcommand proxy
//	verdict.go        the subcommand verdict: judges histories
//	doctor.go         the subcommand doctor: mistakes in histories
//	check.go          the subcommand check: files of Redis, whole or damaged; check_report.go, check_fix.go
//	recording.go      the subcommand watch: shows a recording
//
// These goroutines run:
//
//	main          executes every command, in server.Nodes.Run
//	signals       waits for signals and posts them to main's loop
//	I/O threads   only with --io-threads
//	executor      executes every command instead of main, only with --exec queue
//	masters       one for each master after the first, only with --masters
//	HTTP          only with --lab-http and --watch
//	handshakes    one for each that has begun, until it is over, only with --tls-port
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/miniredisd/miniredisd/internal/collector"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/internal/rlog"
	"github.com/miniredisd/miniredisd/internal/version"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/server"
)

func main() {
	stayOnFirstThread()
	os.Exit(run(os.Args))
}

// run is the whole program. It returns the exit code.
func run(argv []string) int {
	args := argv[1:]
	if isNamed(argv[0], "cli") {
		return redisCLI(args, os.Stdout, os.Stderr)
	}
	strict := isNamed(argv[0], "server")
	if code, done := answerAndExit(argv, strict); done {
		return code
	}
	if c := subcommandOf(args); c != nil && !strict {
		if asksForHelp(args[1:]) {
			return help(args[:1], os.Stdout, os.Stderr)
		}
		return c.run(args[1:], os.Stdout, os.Stderr)
	}
	log := rlog.New(os.Stdout)
	var input bytes.Buffer // a copy of standard input, for the daemon
	if config.ReadsStdin(args) {
		log.Log('*', "Reading config from stdin")
	}
	cfg, err := configOf(args, io.TeeReader(os.Stdin, &input))
	var open *config.OpenError
	switch {
	case errors.As(err, &open):
		log.Log('#', "%v", err)
		if !strict {
			fmt.Fprint(os.Stderr, hint(args, open))
		}
		return 1
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		if !strict {
			fmt.Fprint(os.Stderr, likeDirective(err))
		}
		return 1
	}
	if cfg.Dir != "" {
		if err := os.Chdir(cfg.Dir); err != nil {
			log.Log('#', "Can't chdir to '%s': %s", cfg.Dir, config.ErrorText(err))
			return 1
		}
	}
	if cfg.Daemonize && cfg.Supervised == "no" && !isDaemon() {
		return daemonize(argv, &input)
	}
	log.SetFile(cfg.LogFile)
	log.SetLevel(cfg.LogLevel)
	return serve(cfg, log, argv, strict)
}

// configOf reads the command line and, for what it leaves open, the environment.
func configOf(args []string, stdin io.Reader) (*config.Config, error) {
	cfg := config.Default()
	if err := cfg.SetDialect(os.Getenv(dialect.Variable)); err != nil {
		return nil, err
	}
	return config.ParseOver(cfg, args, stdin)
}

// subcommand is what the program does instead of running a server.
type subcommand struct {
	name, args, summary string
	more                string // the rest of its help: lines, or ""

	run func(args []string, out, errs io.Writer) int // returns the exit code
}

// subcommands has one row for each subcommand, in the order of the usage.
func subcommands() []subcommand {
	return []subcommand{
		{"check", "FILE|DIR [--fix]", "say what RDB files and append only files have, and where they are damaged",
			checkUsage, checkFile},
		{"doctor", "HISTORY...", "find mistakes of lock clients in a history of LAB LOG EXPORT",
			"A HISTORY of - is the standard input.\n" +
				"Exit codes: 0 no mistake, 1 mistakes, 2 no history or wrong arguments.\n", doctorFile},
		{"explore", "-- COMMAND...", "find the failure that breaks the lock of a program",
			exploreUsage, exploreProgram},
		{"grade", "LAB [-- COMMAND...]", "show a lab, or grade a program: grade list has all labs",
			gradeUsage, gradeLab},
		{"health", "[URL]", "ask whether the server at URL answers (redis://127.0.0.1:6379)",
			"A URL begins with redis:// or rediss://. Exit codes: 0 it answers, 1 it does not.\n", health},
		{"help", "[SUBCOMMAND]", "explain the program, or a subcommand; first-test is the way to a first test", "", help},
		{"proxy", "--upstream HOST:PORT...", "stand between clients and another server, and make requests go wrong",
			proxyUsage, runProxy},
		{"redis-cli", "[OPTION...] COMMAND...", "send a command and print the reply, as a health check does",
			cliUsage, redisCLI},
		{"verdict", "HISTORY...", "judge the locks in a history, and draw those that are broken",
			"A HISTORY of - is the standard input. -o FILE.svg before it names the picture,\n" +
				"and --lang zh makes it Chinese.\n" +
				"Exit codes: 0 safe, 1 broken, 2 no history or wrong arguments, 3 nothing is proved.\n", verdictFile},
		{"version", "", "print the version", "", printVersion},
		{"watch", "FILE.loop.gz", "show a recording of the loop in a browser",
			"LAB RECORD SAVE writes such a file. Ctrl-C ends the program.\n", watchFile},
	}
}

// subcommandOf returns the subcommand that the first argument names, or nil.
func subcommandOf(args []string) *subcommand {
	all := subcommands()
	at := slices.IndexFunc(all, func(c subcommand) bool { return len(args) > 0 && c.name == args[0] })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// isNamed reports whether the program runs under the name of a program of Redis or Valkey, such as server.
func isNamed(argv0, program string) bool {
	name := filepath.Base(argv0)
	return strings.HasPrefix(name, "redis-"+program) || strings.HasPrefix(name, "valkey-"+program)
}

// serve runs the server until it ends. It returns the exit code.
func serve(cfg *config.Config, log *rlog.Logger, argv []string, strict bool) int {
	collector.Pace()
	greet(cfg, log, argv, strict)
	log.SetRole(rlog.Master)
	cfg.SystemFiles = true
	lab, err := listenLab(cfg)
	if err != nil {
		log.Log('#', "%v", err)
		return 1
	}
	page, err := listenWatch(cfg)
	if err != nil {
		log.Log('#', "%v", err)
		return 1
	}
	logs := logsOf(cfg, log)
	masters, err := node.NewNodes(cfg, func(n int) server.Log { return logs[n-1].Log })
	if err != nil {
		return refuse(cfg, log, err)
	}
	dedicate(masters, cfg)
	for i, s := range masters {
		s.Idle = new(collector.Idle).Collect
		s.Reconfigured = func(cfg *config.Config, name string) {
			if name == "loglevel" {
				logs[i].SetLevel(cfg.LogLevel)
			}
		}
	}
	signal.Ignore(syscall.SIGPIPE) // the server continues when nobody reads its log (server.c: initServer)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, append(crashSignals(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)...)
	go obeySignals(signals, masters, log)

	remove, err := announce(cfg, log, masters)
	if err != nil {
		log.Log('#', "%v", err)
		return 1
	}
	endLab := serveLab(lab, cfg, masters, log)
	defer endLab()
	endWatch := serveWatch(page, cfg, masters, log)
	defer endWatch()
	for i, s := range masters {
		if !cfg.AlwaysShowLogo || len(masters) > 1 {
			logs[i].Log('*', "Running mode=%s, port=%d.", s.Ex.Table.Mode, s.Port())
		}
	}
	initialized(cfg, log)
	loading := int32(len(masters))
	for _, s := range masters {
		s.Loaded = func() {
			if atomic.AddInt32(&loading, -1) == 0 {
				ready(cfg, log)
			}
		}
	}
	err = masters.Run()
	remove()
	if err != nil {
		log.Log('#', "%v", err)
		return 1
	}
	log.Log('#', "Redis is now ready to exit, bye bye...")
	return 0
}

// refuse says why the server does not start. It returns the exit code.
func refuse(cfg *config.Config, log *rlog.Logger, err error) int {
	var line *config.LineError
	if errors.As(err, &line) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	log.Log('#', "%v", err)
	return 1
}

// logsOf returns one log for each server. With several of them, each line names its server: a replica has the number by
// which LAB MASTER calls it.
func logsOf(cfg *config.Config, log *rlog.Logger) []*rlog.Logger {
	if cfg.Servers() == 1 {
		return []*rlog.Logger{log}
	}
	var logs []*rlog.Logger
	for n := 1; n <= cfg.Servers(); n++ {
		role := "master"
		switch {
		case cfg.IsSentinel(n):
			role = "sentinel"
		case n > cfg.Masters:
			role = "replica"
		}
		logs = append(logs, log.Named(fmt.Sprintf("%s %d", role, n)))
	}
	return logs
}

// dedicate lets a single server keep its processors while it waits: see runtime.go. With
// several masters or an HTTP server, Go's scheduler shares out the processors.
func dedicate(masters node.Nodes, cfg *config.Config) {
	if len(masters) > 1 || cfg.LabHTTP != "" || cfg.Watch != "" {
		runtime.UnlockOSThread()
		return
	}
	masters[0].Dedicated()
	makeRoom(cfg.IOThreads, cfg.TLSPort > 0)
}

// greet writes the first lines of the log, before anything can fail.
func greet(cfg *config.Config, log *rlog.Logger, argv []string, strict bool) {
	log.Log('*', "oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo")
	log.Log('*', "Redis version=%s, bits=64, commit=00000000, modified=0, pid=%d, just started",
		config.RedisVersion, os.Getpid())
	if len(argv) == 1 {
		log.Log('#', "Warning: no config file specified, using the default config. "+
			"In order to specify a config file use %s /path/to/redis.conf", argv[0])
	} else {
		log.Log('*', "Configuration loaded")
	}
	level := byte('#')
	if strict {
		level = '-'
	} else {
		log.Log('*', "miniredisd version=%s", version.Version)
		log.Log('*', "%s", labState(cfg))
	}
	switch {
	case cfg.Dialect != dialect.Default:
		log.Log('*', "This server plays %s", cfg.Dialect)
	case strings.HasPrefix(filepath.Base(argv[0]), "valkey-server"):
		log.Log('*', "This server plays %s: --dialect valkey-9.1 or %s=valkey-9.1 makes it a Valkey", cfg.Dialect,
			dialect.Variable)
	}
	for _, name := range cfg.Inert() {
		log.Log(level, "The directive '%s' is accepted but has no effect here", name)
	}
	for _, path := range cfg.Unread() {
		log.Log('#', "WARNING: %s is not loaded: appendonly is no.", path)
	}
}

// initialized writes the logo, if it is wanted, and that the server is initialized.
func initialized(cfg *config.Config, log *rlog.Logger) {
	if cfg.AlwaysShowLogo {
		log.Text(logo(cfg))
	}
	log.Log('*', "Server initialized")
}

// ready writes the lines that other programs wait for, when the data are loaded.
func ready(cfg *config.Config, log *rlog.Logger) {
	if cfg.Port > 0 {
		log.Log('*', "Ready to accept connections tcp")
	}
	if cfg.UnixSocket != "" {
		log.Log('*', "Ready to accept connections unix")
		// Redis used this wording for unix sockets until 7.0. tempredis always uses a unix socket, and
		// some of its users wait for this line.
		log.Log('*', "The server is now ready to accept connections at %s", cfg.UnixSocket)
	}
	if cfg.TLSPort > 0 {
		log.Log('*', "Ready to accept connections tls")
	}
	notify(cfg, log, "READY=1\nSTATUS=Ready to accept connections\n")
}

// obeySignals ends all masters on the first SIGTERM or SIGINT, and the process on a second SIGINT before that end.
// SIGUSR1 writes the trace.
func obeySignals(signals <-chan os.Signal, masters node.Nodes, log *rlog.Logger) {
	for sig := range signals {
		switch {
		case sig == syscall.SIGUSR1:
			masters[0].SaveTrace() // several masters have no trace
			continue
		case sig == syscall.SIGINT && masters.Terminates():
			log.Signal("You insist... exiting now.")
			os.Exit(1)
		case sig == syscall.SIGINT:
			log.Signal("Received SIGINT scheduling shutdown...")
		case slices.Contains(crashSignals(), sig):
			reportCrash(log, sig.(syscall.Signal))
			continue
		default:
			log.Signal("Received SIGTERM scheduling shutdown...")
		}
		masters.Terminate(sig == syscall.SIGINT)
	}
}

// answerAndExit handles arguments that do not start a server. done reports whether the program ends.
func answerAndExit(argv []string, strict bool) (code int, done bool) {
	if slices.Contains(argv, "--sentinel") || isNamed(argv[0], "sentinel") {
		fmt.Fprintln(os.Stderr, "Sentinel mode is not supported by miniredisd: connect clients to the server itself")
		return 1, true
	}
	if len(argv) == 1 {
		return 0, false
	}
	switch argv[1] {
	case "-v", "--version":
		fmt.Print(serverVersion(strict))
		return 0, true
	case "-h", "--help":
		fmt.Fprint(os.Stderr, usage(argv[0], strict))
		return 1, true
	case "--test-memory", "--check-system":
		fmt.Fprintf(os.Stderr, "%s is not supported by miniredisd\n", argv[1])
		return 1, true
	}
	return 0, false
}
