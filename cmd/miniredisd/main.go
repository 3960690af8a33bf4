// Command miniredisd is the server, with redis-server's command line, log lines
// and exit codes.
//
// Under the name redis-server or valkey-server, through a link, it prints
// nothing that redis-server would not, so that wrappers which read its output
// work unmodified.
//
//	main.go     arguments to a server that runs; signals to its Stop
//	console.go  what is printed: version, usage, logo
//	process.go  what other processes see: pid file, port file, daemon, systemd
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/miniredisd/miniredisd/config"
	"github.com/miniredisd/miniredisd/internal/collector"
	"github.com/miniredisd/miniredisd/rlog"
	"github.com/miniredisd/miniredisd/server"
)

func main() {
	stayOnFirstThread()
	os.Exit(run(os.Args))
}

// run is the whole program; it returns the exit code.
func run(argv []string) int {
	args := argv[1:]
	strict := isStrict(argv[0])
	if code, done := answerAndExit(argv, strict); done {
		return code
	}
	log := rlog.New(os.Stdout)
	var input bytes.Buffer // what was read from standard input, for the daemon
	if config.ReadsStdin(args) {
		log.Log('*', "Reading config from stdin")
	}
	cfg, err := config.Parse(args, io.TeeReader(os.Stdin, &input))
	var open *config.OpenError
	switch {
	case errors.As(err, &open):
		log.Log('#', "%v", err)
		return 1
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
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

// isStrict tells whether the program was started in the place of another
// server.
func isStrict(argv0 string) bool {
	name := filepath.Base(argv0)
	return strings.HasPrefix(name, "redis-server") || strings.HasPrefix(name, "valkey-server")
}

func serve(cfg *config.Config, log *rlog.Logger, argv []string, strict bool) int {
	collector.Pace()
	greet(cfg, log, argv, strict)
	log.SetRole(rlog.Master)
	s, err := server.New(cfg, log.Log)
	var line *config.LineError
	if errors.As(err, &line) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err != nil {
		log.Log('#', "%v", err)
		return 1
	}
	s.Dedicated()
	makeRoom(cfg.IOThreads)
	s.Reconfigured = func(name string) {
		if name == "loglevel" {
			log.SetLevel(cfg.LogLevel)
		}
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	go obeySignals(signals, s, log)

	remove, err := announce(cfg, log, s.Addrs())
	if err != nil {
		log.Log('#', "%v", err)
		return 1
	}
	ready(cfg, log)
	err = s.Run()
	if err != nil {
		log.Log('#', "%v", err)
	} else {
		log.Log('*', "User requested shutdown...")
	}
	remove()
	if err != nil {
		return 1
	}
	log.Log('#', "Redis is now ready to exit, bye bye...")
	return 0
}

// greet writes the lines before anything can go wrong.
func greet(cfg *config.Config, log *rlog.Logger, argv []string, strict bool) {
	log.Log('*', "oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo")
	log.Log('*', "Redis version=%s, bits=64, commit=00000000, modified=0, pid=%d, just started", config.RedisVersion, os.Getpid())
	if len(argv) == 1 {
		log.Log('#', "Warning: no config file specified, using the default config. In order to specify a config file use %s /path/to/redis.conf", argv[0])
	} else {
		log.Log('*', "Configuration loaded")
	}
	level := byte('#')
	if strict {
		level = '-'
	} else {
		log.Log('*', "miniredisd version=%s", config.Version)
	}
	for _, name := range cfg.Inert() {
		log.Log(level, "The directive '%s' is accepted but has no effect here", name)
	}
}

// ready writes the lines that wrappers wait for. The server listens already.
func ready(cfg *config.Config, log *rlog.Logger) {
	if cfg.AlwaysShowLogo {
		log.Text(logo(cfg))
	} else {
		log.Log('*', "Running mode=standalone, port=%d.", max(cfg.Port, 0))
	}
	log.Log('*', "Server initialized")
	if cfg.Port > 0 {
		log.Log('*', "Ready to accept connections tcp")
	}
	if cfg.UnixSocket != "" {
		log.Log('*', "Ready to accept connections unix")
		// Redis had this wording for sockets until 7.0, and tempredis, which
		// always uses one, may wait for it.
		log.Log('*', "The server is now ready to accept connections at %s", cfg.UnixSocket)
	}
}

// obeySignals ends the server at the first SIGTERM or SIGINT and the process at the
// second SIGINT; SIGUSR1 has the trace written.
func obeySignals(signals <-chan os.Signal, s *server.Server, log *rlog.Logger) {
	asked := false
	for sig := range signals {
		switch {
		case sig == syscall.SIGUSR1:
			s.SaveTrace()
			continue
		case sig == syscall.SIGINT && asked:
			log.Signal("You insist... exiting now.")
			os.Exit(1)
		case sig == syscall.SIGINT:
			log.Signal("Received SIGINT scheduling shutdown...")
		default:
			log.Signal("Received SIGTERM scheduling shutdown...")
		}
		asked = true
		s.Stop()
	}
}

// answerAndExit handles the arguments that do not start a server.
func answerAndExit(argv []string, strict bool) (code int, done bool) {
	if slices.Contains(argv, "--sentinel") || strings.Contains(filepath.Base(argv[0]), "redis-sentinel") {
		fmt.Fprintln(os.Stderr, "Sentinel mode is not supported by miniredisd")
		return 1, true
	}
	if len(argv) == 1 {
		return 0, false
	}
	switch argv[1] {
	case "-v", "--version":
		fmt.Print(version(strict))
		return 0, true
	case "-h", "--help":
		fmt.Fprint(os.Stderr, usage(argv[0]))
		return 1, true
	case "--test-memory", "--check-system":
		fmt.Fprintf(os.Stderr, "%s is not supported by miniredisd\n", argv[1])
		return 1, true
	}
	return 0, false
}
