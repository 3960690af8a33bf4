package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report"
	"github.com/miniredisd/miniredisd/lab/explore/trials"
)

const exploreUsage = `miniredisd explore [OPTION...] -- COMMAND...
miniredisd explore --stdio [OPTION...] NAME         for packages that run the test NAME themselves

COMMAND is a program or a test that uses locks. It runs again and again, each time with a new server and one
failure at one request. It finds the server by REDIS_URL, REDIS_HOST and REDIS_PORT, or MINIREDISD_PORT.

--budget TIME       how long to search, such as 60s; 5m without it
--fault NAME        try only this failure, such as reply-lost; several may be named
--pairs             also try two failures at once
--masters N         start N servers, as RedLock needs them: REDIS_URLS has all of them
--lab-disk WHEN     the servers have an append only file on a disk in memory, with appendfsync WHEN (always, everysec
                    or no), and failures of that disk are tried
--replica           each master has a replica that is half a second behind, and failovers are tried
--cluster           start a cluster: three masters, or N, with a replica each; promotions and slots that move are tried.
                    REDIS_URLS has the masters
--sentinels         start a master with a replica, and three Sentinels, which REDIS_SENTINELS has; promotions are tried,
                    and a Sentinel that does not hear of one
--port N            the port of the first server; a free one without it
--server COMMAND    explore at this server, through a proxy, such as 'redis-server --port {port} --save ""'. It
                    stays for many runs, and each of them finds it empty; CONFIG SET and ACL SETUSER stay
--dialect NAME      the server that they play, such as valkey-9.1; redis-7.2 without it
--invariant COMMAND runs in a shell after each trial that ended, with REDIS_URL: a lock is broken if it does not exit
                    with 0
--key GLOB          these keys are locks, whatever they look like
--limit KEY=N       KEY is a semaphore with N permits: the judge knows one holder, so only --invariant judges it
--strict            locks that are left behind count as broken; also lose the keys of one server, evict the lock and
                    move the clock: no client of one server can stand that
--seed N            decides the order of the pairs
--patience TIME     how much longer than without a failure the program may take; 5s without it
--jobs N            trials at a time; without it as many as there are processors, if two runs of the program stand each
                    other, and 1 with --invariant or --port
--json              print the report as JSON
--html FILE         write the report as a page
--junit FILE        write the report as XML for CI systems; --junit-xml, as pytest calls it, is the same
--lang en|zh

Exit codes: 0 all tried and no lock broken, 1 broken, 2 could not run, 3 not broken and some cells are undecided or
not judged, or a place was never reached, 4 not broken and the time was over before all was tried.
`

// The exit codes of explore.
const (
	exploreSafe      = 0
	exploreBroken    = 1
	exploreWrong     = 2
	exploreUndecided = 3
	exploreOutOfTime = 4
)

// exploreFlags are the words before the command.
type exploreFlags struct {
	trials.Options
	json bool
	html string
	xml  string // of --junit
	lang string
}

// exploreProgram is the subcommand explore: it finds the failure that breaks a lock.
func exploreProgram(args []string, out, errs io.Writer) int {
	runtime.UnlockOSThread() // each trial has a server in a goroutine of its own
	if len(args) > 0 && args[0] == "--stdio" {
		return exploreTest(args[1:], os.Stdin, out, errs)
	}
	f, err := exploreWords(args, errs)
	if err == nil {
		var code int
		if code, err = f.explore(out, errs); err == nil {
			return code
		}
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprintln(errs, "explore:", err)
	}
	return exploreWrong
}

// exploreWords reads the options, and the command behind them. What is wrong with an option is said even if there is no
// command.
func exploreWords(args []string, errs io.Writer) (f exploreFlags, err error) {
	options, command := args, []string(nil)
	if at := slices.Index(args, "--"); at >= 0 {
		options, command = args[:at], args[at+1:]
	}
	f.Program, f.Alone = command, true
	flags := f.flags()
	switch {
	case len(options)+len(command) == 0:
		fmt.Fprint(errs, exploreUsage)
		return f, errSaid
	case !parseFlags(flags, options, errs):
		return f, errSaid
	case flags.NArg() > 0:
		return f, fmt.Errorf("'%s' is unexpected: the command of your program follows --", flags.Arg(0))
	}
	if err := f.check(); err != nil || len(command) > 0 {
		return f, err
	}
	return f, errors.New("the command of your program is missing: it follows --")
}

// flags returns the options of explore, which are written to f.
func (f *exploreFlags) flags() *flag.FlagSet {
	f.Limits = map[string]int{}
	flags := flag.NewFlagSet("explore", flag.ContinueOnError)
	flags.DurationVar(&f.Budget, "budget", 5*time.Minute, "")
	flags.BoolVar(&f.Pairs, "pairs", false, "")
	flags.IntVar(&f.Masters, "masters", 1, "")
	flags.StringVar(&f.Disk, "lab-disk", "", "")
	flags.BoolVar(&f.Replica, "replica", false, "")
	flags.BoolVar(&f.Cluster, "cluster", false, "")
	flags.BoolVar(&f.Sentinels, "sentinels", false, "")
	flags.IntVar(&f.Port, "port", 0, "")
	flags.StringVar(&f.Foreign, "server", "", "")
	flags.StringVar(&f.Dialect, "dialect", os.Getenv(dialect.Variable), "")
	flags.StringVar(&f.Invariant, "invariant", "", "")
	flags.BoolVar(&f.Strict, "strict", false, "")
	flags.Uint64Var(&f.Seed, "seed", 1, "")
	flags.DurationVar(&f.Patience, "patience", 5*time.Second, "")
	flags.IntVar(&f.Jobs, "jobs", 0, "")
	flags.BoolVar(&f.json, "json", false, "")
	flags.StringVar(&f.html, "html", "", "")
	flags.StringVar(&f.xml, "junit", "", "")
	flags.StringVar(&f.xml, "junit-xml", "", "")
	flags.StringVar(&f.lang, "lang", "en", "")
	flags.Func("key", "", func(glob string) error {
		f.Keys = append(f.Keys, glob)
		return nil
	})
	flags.Func("limit", "", f.limit)
	flags.Func("fault", "", func(name string) error {
		f.Only = append(f.Only, name)
		return nil
	})
	return flags
}

// errSaid is an error that is already printed.
const errSaid = said("")

type said string

func (s said) Error() string { return string(s) }

// limit reads KEY=N.
func (f *exploreFlags) limit(word string) error {
	at := strings.LastIndexByte(word, '=')
	n, err := strconv.Atoi(word[at+1:])
	if at < 1 || err != nil || n < 1 {
		return fmt.Errorf("--limit expects KEY=N with N from 1, not '%s'", word)
	}
	f.Limits[word[:at]] = n
	return nil
}

// check refuses numbers that make no sense.
func (f *exploreFlags) check() error {
	if f.Cluster && f.Masters == 1 {
		f.Masters = 3
	}
	switch {
	case f.Cluster && f.Masters < 3:
		return errors.New("--cluster needs three masters or more: two cannot agree on a failover")
	case f.Cluster && f.Sentinels:
		return errors.New("--cluster does not go with --sentinels: a cluster has none")
	case f.Sentinels && f.Masters > 1:
		return errors.New("--sentinels does not go with --masters: they watch one master")
	case f.Replica && (f.Cluster || f.Sentinels):
		return errors.New("--replica does not go with --cluster and --sentinels: they have replicas that are not behind")
	case f.lang != "en" && f.lang != "zh":
		return fmt.Errorf("--lang is en or zh, not '%s'", f.lang)
	case f.Masters < 1 || f.Masters > 99:
		return fmt.Errorf("--masters is from 1 to 99, not %d", f.Masters)
	case f.Disk != "" && !slices.Contains(explore.Fsyncs(), f.Disk):
		return fmt.Errorf("--lab-disk expects %s, not '%s'", strings.Join(explore.Fsyncs(), ", "), f.Disk)
	case f.Foreign != "" && (f.Disk != "" || f.Replica || f.Cluster || f.Sentinels):
		return errors.New("--lab-disk, --replica, --cluster and --sentinels need miniredisd, not --server")
	case f.Port < 0 || f.Port+f.Masters > 65536:
		return fmt.Errorf("--port is from 1 to 65535, not %d", f.Port)
	case f.Jobs < 0 || f.Jobs > 64:
		return fmt.Errorf("--jobs is from 1 to 64, not %d", f.Jobs)
	case f.Port > 0 && f.Jobs > 1:
		return errors.New("--jobs does not go with --port: each trial has a server of its own")
	case f.Budget <= 0 || f.Patience <= 0:
		return errors.New("--budget and --patience are times above 0, such as 60s")
	case slices.Contains(f.Keys, ""):
		return errors.New("--key expects a glob")
	}
	for _, name := range f.Only {
		if !slices.Contains(explore.FaultNames(), name) {
			return noFailure(name)
		}
		if lacks := f.Lacks(name); lacks != "" {
			return fmt.Errorf("--fault %s needs %s", name, lacks)
		}
	}
	return nil
}

// noFailure says which failure may be meant, and which ones there are.
func noFailure(name string) error {
	text, line := fmt.Sprintf("there is no failure '%s'.", name), "\n "
	if nearest := ascii.Nearest(name, explore.FaultNames()); nearest != "" {
		text += fmt.Sprintf(" Did you mean %s?", nearest)
	}
	text += " --fault expects one of:"
	for _, known := range explore.FaultNames() {
		if len(line)+len(known) > 78 {
			text, line = text+line, "\n "
		}
		line += " " + known
	}
	return errors.New(text + line)
}

// explore runs the trials and prints the report.
func (f *exploreFlags) explore(out, errs io.Writer) (int, error) {
	// These would end explore and leave the program behind.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	clearLine := func() {}
	f.Progress = progressLog(errs)
	if isTerminal(errs) {
		f.Progress = func(p trials.Progress) { fmt.Fprintf(errs, "\r\x1b[K%s", progressLine(p)) }
		clearLine = func() { fmt.Fprint(errs, "\r\x1b[K") }
	}
	f.Finds = f.Invariant == "" // its command may look at what all runs share
	r, err := trials.Run(ctx, f.Options)
	clearLine()
	if ctx.Err() != nil {
		err = errors.New("a signal has ended it")
	}
	if err := errors.Join(err, f.writeXML(r, err), f.print(out, r, err)); err != nil {
		return exploreWrong, err
	}
	return exploreCode(r), nil
}

// logEach is how often a log shows the progress.
const logEach = 30 * time.Second

// progressLog returns what writes the progress to a log, where lines stay.
func progressLog(errs io.Writer) func(trials.Progress) {
	next := logEach
	return func(p trials.Progress) {
		if p.Passed >= next {
			next = p.Passed.Truncate(logEach) + logEach
			fmt.Fprintf(errs, "explore: after %v: %s\n", p.Passed.Round(time.Second), progressLine(p))
		}
	}
}

// progressLine says what is being tried, and how long the rest will take.
func progressLine(p trials.Progress) string {
	line := fmt.Sprintf("%d runs done, %d left", p.Done, p.Left)
	if p.Done > 3 {
		left := p.Passed / time.Duration(p.Done) * time.Duration(p.Left)
		line += fmt.Sprintf(", about %v", left.Round(time.Second))
	}
	return line + ": " + p.Trial
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// exploreCode returns the exit code of a report.
func exploreCode(r *explore.Report) int {
	marks := map[explore.Mark]int{}
	for _, row := range r.Cells {
		for _, c := range row {
			marks[c.Mark]++
		}
	}
	for _, p := range r.Pairs {
		marks[p.Mark]++
	}
	switch {
	case marks[explore.Broken] > 0 || r.Itself != nil:
		return exploreBroken
	case r.OutOfTime:
		return exploreOutOfTime
	case marks[explore.Undecided]+marks[explore.NotJudged]+r.Unreached() > 0:
		return exploreUndecided
	}
	return exploreSafe
}

// writeXML writes the report for CI systems, or why there is none.
func (f *exploreFlags) writeXML(r *explore.Report, failed error) error {
	if f.xml == "" {
		return nil
	}
	return report.WriteJUnit(f.xml, func(w io.Writer) error {
		if failed != nil {
			return report.JUnitError(w, f.Program, failed, f.lang)
		}
		return report.JUnit(w, r, f.lang)
	})
}

// print writes the report, if there is one. It prints it even if the page cannot be written: it took long to make.
func (f *exploreFlags) print(out io.Writer, r *explore.Report, failed error) (err error) {
	if failed != nil {
		return nil
	}
	var files []string
	if f.html != "" {
		if err = report.WriteHTML(f.html, r, f.lang); err == nil {
			files = append(files, f.html)
		}
	}
	if f.json {
		return errors.Join(err, report.JSON(out, r))
	}
	return errors.Join(err, report.Text(out, r, f.lang, files...))
}
