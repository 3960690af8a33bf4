package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rlog"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/server"
)

// announce tells other processes that the server listens. remove deletes the files that it wrote.
// The port file has the ports of TLS only if there are no others.
func announce(cfg *config.Config, log *rlog.Logger, masters node.Nodes) (remove func(), err error) {
	pidFile := cfg.PIDFile
	if pidFile == "" && isDaemon() {
		pidFile = "/var/run/redis.pid"
	}
	if pidFile != "" {
		pid := strconv.Itoa(os.Getpid()) + "\n"
		if err := os.WriteFile(pidFile, []byte(pid), 0o644); err != nil {
			log.Log('#', "Failed to write PID file: %s", config.ErrorText(err))
			pidFile = ""
		}
	}
	tlsPorts := ""
	if cfg.LabTLS != "" {
		tlsPorts = filepath.Join(cfg.Relative(cfg.LabTLS), "port")
	}
	type ports map[string]func(*server.Server) []string
	plain := (*server.Server).Addrs
	if cfg.Port <= 0 {
		plain = (*server.Server).TLSAddrs
	}
	for path, addrs := range (ports{cfg.PortFile: plain, tlsPorts: (*server.Server).TLSAddrs}) {
		if path == "" {
			continue
		}
		if err := writeWhole(path, portLines(cfg, masters, addrs)); err != nil {
			return nil, fmt.Errorf("writing the port file: %w", err)
		}
	}
	if cfg.LabHTTPFile != "" {
		if err := writeWhole(cfg.LabHTTPFile, labURL(cfg)+"\n"); err != nil {
			return nil, fmt.Errorf("writing lab-http-file: %w", err)
		}
	}
	return func() {
		notify(cfg, log, "STOPPING=1\n")
		if pidFile != "" {
			log.Log('*', "Removing the pid file.")
			_ = os.Remove(pidFile)
		}
		for _, path := range []string{cfg.PortFile, cfg.LabHTTPFile, tlsPorts} {
			if path != "" {
				_ = os.Remove(path)
			}
		}
	}, nil
}

// portLines has the port of each server on a line. That of a replica also names its master, as "7002 replica of 7001",
// and that of a Sentinel is "7003 sentinel".
func portLines(cfg *config.Config, masters node.Nodes, addrs func(*server.Server) []string) string {
	var lines strings.Builder
	for i, s := range masters {
		for _, port := range portsOf(addrs(s)) {
			lines.WriteString(port)
			if cfg.IsSentinel(i + 1) {
				lines.WriteString(" sentinel")
			} else if of := cfg.MasterOf(i + 1); of != i+1 {
				lines.WriteString(" replica of " + portsOf(addrs(masters[of-1]))[0])
			}
			lines.WriteString("\n")
		}
	}
	return lines.String()
}

// portsOf returns the ports of addresses, each once.
func portsOf(addrs []string) (ports []string) {
	for _, addr := range addrs {
		ap, err := netip.ParseAddrPort(addr)
		if err != nil {
			continue // a unix socket
		}
		if port := strconv.Itoa(int(ap.Port())); !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports
}

// writeWhole writes a file. A reader sees all of the text or no file.
func writeWhole(path, text string) error {
	part := path + ".part"
	if err := os.WriteFile(part, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// notify sends a state to systemd (sd_notify(3)).
func notify(cfg *config.Config, log *rlog.Logger, state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	switch cfg.Supervised {
	case "systemd":
		if socket == "" {
			log.Log('#', "systemd supervision requested, but NOTIFY_SOCKET not found")
			return
		}
	case "auto":
		if socket == "" {
			return
		}
	default:
		return
	}
	conn, err := net.Dial("unixgram", socket)
	if err == nil {
		_, err = io.WriteString(conn, state)
		_ = conn.Close()
	}
	if err != nil {
		log.Log('#', "Can't send notification to systemd: %v", err)
	}
}

// daemonMark is an environment variable that marks the second process of a daemon.
const daemonMark = "MINIREDISD_DAEMON"

func isDaemon() bool { return os.Getenv(daemonMark) != "" }

// daemonize starts the program again without a terminal, because a Go process cannot fork. input is
// what this process has read from standard input. It returns the exit code.
func daemonize(argv []string, input io.Reader) int {
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cmd := &exec.Cmd{
		Path: exe, Args: argv, Env: append(os.Environ(), daemonMark+"=1"),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = io.Copy(in, input)
		_ = in.Close()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "Can't start the daemon: %v\n", err)
		return 1
	}
	return 0
}
