package main

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// healthLimit is how long a server may take to answer. A check that waits longer is no help.
const healthLimit = 3 * time.Second

// health is the subcommand health: it sends a PING. The exit code is 0 if the server answers, and
// 1 if it does not. A server that asks for a password answers.
func health(args []string, out, errs io.Writer) int {
	at := "redis://127.0.0.1:6379"
	switch {
	case len(args) == 1:
		at = args[0]
	case len(args) > 1:
		fmt.Fprintf(errs, "health expects one URL, not '%s' as well\n", args[1])
		return 1
	}
	reply, err := pingAt(at)
	if u, err := url.Parse(at); err == nil {
		at = u.Redacted() // Docker shows the output of a health check
	}
	switch {
	case err != nil:
		fmt.Fprintf(errs, "%s does not answer: %v\n", at, err)
		return 1
	case reply != "+PONG" && !strings.HasPrefix(reply, "-NOAUTH "):
		fmt.Fprintf(errs, "%s is not well: %s\n", at, strings.TrimPrefix(reply, "-"))
		return 1
	}
	fmt.Fprintln(out, reply[1:])
	return 0
}

// pingAt sends a PING to a URL, redis:// or rediss://, and returns the first line of the reply.
func pingAt(at string) (string, error) {
	to, _, err := targetOf(at)
	if err != nil {
		return "", err
	}
	if to.tls != nil {
		to.tls.InsecureSkipVerify = true // the check asks whether somebody answers, and sends no secret
	}
	conn, err := to.dial()
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(io.LimitReader(conn, 1<<10)).ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

// target is a server to connect to.
type target struct {
	host, port string
	tls        *tls.Config // nil without TLS
}

// targetOf reads a URL, redis:// or rediss://.
func targetOf(at string) (target, *url.URL, error) {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "redis" && u.Scheme != "rediss" {
		return target{}, nil, fmt.Errorf("it is not a URL such as redis://127.0.0.1:6379 or rediss://127.0.0.1:6380")
	}
	to := target{host: u.Hostname(), port: cmp.Or(u.Port(), "6379")}
	if u.Scheme == "rediss" {
		to.tls = &tls.Config{}
	}
	return to, u, nil
}

// loginOf returns the user and the password in a URL. A single word is the password, as for redis-cli.
func loginOf(u *url.URL) (user, password string) {
	user = u.User.Username()
	password, both := u.User.Password()
	if !both {
		return "", user
	}
	return user, password
}

// dial connects. healthLimit is the deadline of the connection.
func (to target) dial() (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(to.host, to.port), healthLimit)
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(healthLimit))
	}
	if err != nil || to.tls == nil {
		return conn, err
	}
	to.tls.ServerName = to.host
	shaken := tls.Client(conn, to.tls)
	if err := shaken.Handshake(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return shaken, nil
}
