package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// bin is the directory of the binary and its links; TestMain sets it.
var bin string

// TestMain is also the server: a copy of this test binary with the name of the program is the program. So nothing has
// to be built for the tests.
func TestMain(m *testing.M) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if filepath.Base(self) == "miniredisd" {
		main()
	}
	if os.Getenv(ownerVariable) != "" {
		ownLock()
		os.Exit(0)
	}
	os.Exit(func() int {
		if bin, err = os.MkdirTemp("", "miniredisd"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(bin)
		program, err := os.ReadFile(self)
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(bin, "miniredisd"), program, 0o755); err != nil {
			panic(err)
		}
		if err := os.Symlink("miniredisd", filepath.Join(bin, "redis-server")); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// process is a server under test.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	log   io.Closer // ends the reading of the log
	lines *bufio.Scanner
	out   strings.Builder
	errs  bytes.Buffer

	listening int // the port; 0 while it is unknown
}

func start(t *testing.T, name, stdin string, args ...string) *process {
	t.Helper()
	return startIn(t, t.TempDir(), name, stdin, args...)
}

func startIn(t *testing.T, dir, name, stdin string, args ...string) *process {
	t.Helper()
	return startProgram(t, dir, filepath.Join(bin, name), stdin, args...)
}

func startProgram(t *testing.T, dir, path, stdin string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(path, args...)}
	p.cmd.Dir = dir
	p.cmd.Stdin = strings.NewReader(stdin)
	p.cmd.Stderr = &p.errs
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.log, p.lines = out, bufio.NewScanner(out)
	return p
}

// waitFor reads lines up to one that contains text, and returns it.
func (p *process) waitFor(text string) string {
	p.t.Helper()
	for p.lines.Scan() {
		p.out.WriteString(p.lines.Text() + "\n")
		if strings.Contains(p.lines.Text(), text) {
			return p.lines.Text()
		}
	}
	require.FailNow(p.t, "the output ended", "waiting for %q in:\n%s%s", text, p.out.String(), p.errs.String())
	return ""
}

// exit reads the rest of the output and returns the exit code.
func (p *process) exit() int {
	p.t.Helper()
	for p.lines.Scan() {
		p.out.WriteString(p.lines.Text() + "\n")
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) port() int {
	p.t.Helper()
	var port int
	line := p.waitFor("port=")
	_, err := fmt.Sscanf(line[strings.Index(line, "port="):], "port=%d.", &port)
	require.NoError(p.t, err)
	p.waitFor("Ready to accept connections")
	p.listening = port
	return port
}

// addr waits until the server listens and returns its address.
func (p *process) addr() string {
	p.t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", p.port())
}

func ping(t *testing.T, network, addr string) {
	t.Helper()
	conn, err := net.Dial(network, addr)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "PING\r\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "+PONG\r\n", line)
}

func TestSignalsEndTheServerWithExitCodeZero(t *testing.T) {
	for sig, name := range map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT"} {
		p := start(t, "miniredisd", "", "--port", "0")
		ping(t, "tcp", fmt.Sprintf("127.0.0.1:%d", p.port()))
		require.NoError(t, p.cmd.Process.Signal(sig))
		p.waitFor("Received " + name + " scheduling shutdown...")
		p.waitFor("User requested shutdown...")
		p.waitFor("Redis is now ready to exit, bye bye...")
		require.Equal(t, 0, p.exit())
		require.Empty(t, p.errs.String())
	}
}

// The patterns are those of embedded-redis, redis-memory-server, testcontainers and Redis's own test
// suite.
func TestWrappersSeeTheServerIsReady(t *testing.T) {
	p := start(t, "redis-server", "", "--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--port", "0",
		"--always-show-logo", "yes")
	p.waitFor("Ready to accept connections")
	pid := p.cmd.Process.Pid
	for _, pattern := range []string{
		`.*[Rr]eady to accept connections.*`,
		`\* Ready to accept connections`,
		fmt.Sprintf(`(?s) PID: %d.*Server initialized`, pid),
		fmt.Sprintf(`(?m)^%d:M \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3} \* Ready to accept connections tcp$`,
			pid),
	} {
		require.Regexp(t, pattern, p.out.String())
	}
}

// Redis's test suite waits for a server that refuses its file until the log has its process id.
func TestAServerThatCannotLoadWasInitialized(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dump.rdb"), []byte("REDIS0011 and no more"), 0o600))
	p := start(t, "redis-server", "", "--port", "0", "--dir", dir, "--always-show-logo", "yes")
	require.Equal(t, 1, p.exit())
	require.Regexp(t, fmt.Sprintf(`(?s) PID: %d.*Server initialized.*Fatal error loading the DB`, p.cmd.Process.Pid),
		p.out.String())
}

func TestUnderRedisNameNothingElseIsPrinted(t *testing.T) {
	p := start(t, "redis-server", "", "--port", "0", "--crash-log-enabled", "no")
	p.port()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.NotContains(t, p.out.String(), "miniredisd")
	require.NotContains(t, p.out.String(), "crash-log-enabled")
	own := start(t, "miniredisd", "", "--port", "0", "--crash-log-enabled", "no")
	own.waitFor("miniredisd version=")
	own.waitFor("The directive 'crash-log-enabled' is accepted but has no effect here")
}

func TestTheLogSaysWhatIsNotSaved(t *testing.T) {
	for _, name := range []string{"redis-server", "miniredisd"} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "appendonlydir"), 0o700))
		p := start(t, name, "", "--port", "0", "--dir", dir, "--save", "60", "1")
		p.waitFor("# WARNING: " + dir + "/appendonlydir is not loaded: appendonly is no.")
		p.port()
		c := p.dial()
		require.Equal(t, "no", c.Do("CONFIG", "GET", "appendonly").Elems[1].Str)
		require.Contains(t, c.Do("INFO", "persistence").Str, "\r\naof_enabled:0\r\n")
		require.Contains(t, c.Do("WAITAOF", "1", "0", "0").Str, "appendonly is disabled")
		require.Equal(t, "OK", c.Do("CONFIG", "SET", "save", "900 7").Str)
		require.Equal(t, "900 7", c.Do("CONFIG", "GET", "save").Elems[1].Str)
		require.NotContains(t, p.out.String(), "'save ", "save points have their effect")
		require.NoError(t, c.Send([]byte("SHUTDOWN NOSAVE\r\n")))
		require.Equal(t, 0, p.exit())
		require.NoFileExists(t, filepath.Join(dir, "dump.rdb"))
	}
}

func TestALabThatStrangersCanReachIsRefused(t *testing.T) {
	open := []string{"--port", "0", "--lab", "yes", "--bind", "*", "--protected-mode", "no"}
	p := start(t, "miniredisd", "", open...)
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), "# lab yes is refused: everyone who reaches 0.0.0.0:")
	require.Contains(t, p.out.String(), "or allow it with lab-open yes.")
	require.NotContains(t, p.out.String(), "Ready to accept")

	start(t, "miniredisd", "", append(open, "--requirepass", "x")...).port()
}

func TestALabThatIsOpenedToStrangersIsWarnedOf(t *testing.T) {
	const warning = "# WARNING: everyone who reaches 0.0.0.0:"
	p := start(t, "redis-server", "", "--port", "0", "--lab", "yes", "--lab-open", "yes", "--bind", "*",
		"--protected-mode", "no")
	p.waitFor(warning)
	closed := start(t, "redis-server", "", "--port", "0", "--lab", "yes", "--bind", "*")
	closed.port()
	c := closed.dial()
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "requirepass", "x").Str)
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "protected-mode", "no").Str)
	require.NotContains(t, closed.out.String(), "WARNING")
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "requirepass", "").Str)
	closed.waitFor(warning)
}

// This is how tempredis starts a server.
func TestConfigurationFromStdinAndUnixSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	p := start(t, "redis-server", "port 0\nrequirepass \"\"\nsave \"\"\nunixsocketperm 700\nunixsocket "+socket+"\n",
		"-")
	p.waitFor("Reading config from stdin")
	p.waitFor("Ready to accept connections unix")
	p.waitFor("The server is now ready to accept connections")
	require.NotContains(t, p.out.String(), "connections tcp")
	info, err := os.Stat(socket)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	ping(t, "unix", socket)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.NoFileExists(t, socket)
}

func TestFilesAreWrittenWhenReadyAndRemovedAtExit(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--port-file", "the.port", "--pidfile", "the.pid", "--bind",
		"127.0.0.1", "-::1")
	port := p.port()
	text, err := os.ReadFile(filepath.Join(p.cmd.Dir, "the.port"))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d\n", port), string(text))
	text, err = os.ReadFile(filepath.Join(p.cmd.Dir, "the.pid"))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d\n", p.cmd.Process.Pid), string(text))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "Removing the pid file.")
	left, err := os.ReadDir(p.cmd.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestLogFileAndLevel(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "miniredisd", "", "--dir", dir, "--logfile", "log", "--loglevel", "warning", "--port", "0",
		"--bind", "10.255.255.1")
	require.Equal(t, 1, p.exit())
	require.Empty(t, p.out.String())
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Contains(t, string(text), "Failed listening on port 0 (tcp), aborting.")
	require.NotContains(t, string(text), "Redis is starting")
}

func TestDaemon(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "log")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	log, err := os.OpenFile(fifo, os.O_RDWR, 0)
	require.NoError(t, err)
	defer log.Close()
	p := start(t, "miniredisd", "daemonize yes\nport 0\ndir "+dir+"\npidfile the.pid\nlogfile log\n", "-")
	require.Equal(t, 0, p.exit())

	d := &process{t: t, lines: bufio.NewScanner(log)}
	port := d.port()
	ping(t, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	text, err := os.ReadFile(filepath.Join(dir, "the.pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	sid, err := unix.Getsid(pid)
	require.NoError(t, err)
	require.Equal(t, pid, sid)
	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	d.waitFor("bye bye")
}

func TestSystemdIsToldWhenReady(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	start(t, "miniredisd", "", "--port", "0", "--supervised", "systemd")
	buf := make([]byte, 256)
	n, err := conn.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "READY=1\nSTATUS=Ready to accept connections\n", string(buf[:n]))
}

func TestVersion(t *testing.T) {
	redis := regexp.MustCompile(`^Redis server v=7\.2\.\d+ sha=[0-9a-f]{8}:[01] malloc=\S+ bits=64 build=[0-9a-f]+\n$`)
	for _, flag := range []string{"-v", "--version"} {
		p := start(t, "redis-server", "", flag)
		require.Equal(t, 0, p.exit())
		require.Regexp(t, redis, p.out.String())
	}
	p := start(t, "miniredisd", "", "-v")
	require.Equal(t, 0, p.exit())
	first, second, _ := strings.Cut(p.out.String(), "\n")
	require.Regexp(t, redis, first+"\n")
	require.Regexp(t, `^miniredisd v=\d+\.\d+\.\d+\n$`, second)
}

func TestArgumentsThatStartNoServer(t *testing.T) {
	for args, want := range map[string]string{
		"-h":                "Usage: ",
		"--help":            "Usage: ",
		"--test-memory 10":  "--test-memory is not supported by miniredisd",
		"--check-system":    "--check-system is not supported by miniredisd",
		"a.conf --sentinel": "Sentinel mode is not supported by miniredisd",
		"--tls-cluster yes": "not supported by miniredisd: its nodes live in one process",
	} {
		p := start(t, "miniredisd", "", strings.Fields(args)...)
		require.Equal(t, 1, p.exit(), args)
		require.Contains(t, p.errs.String(), want)
		require.Empty(t, p.out.String())
	}
}

func TestASignalThatCrashesIsReported(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGABRT, syscall.SIGSEGV} {
		p := start(t, "redis-server", "", "--port", "0")
		p.port()
		require.NoError(t, p.cmd.Process.Signal(sig))
		p.waitFor(fmt.Sprintf("# Redis 7.2.6 crashed by signal: %d", sig))
		p.waitFor("------ STACK TRACE ------")
		p.waitFor("node.Nodes.Run")
		require.NotEqual(t, 0, p.exit())
	}
}
