package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/resp"
)

const cliUsage = "" +
	"These options of redis-cli are there: -h HOST, -p PORT, -a PASSWORD, --user NAME, -u URL, --tls,\n" +
	"--insecure, --cacert FILE and --no-auth-warning. The variable REDISCLI_AUTH may have the password.\n" +
	"There is no interactive mode.\n" +
	"The program does the same if its name is redis-cli or valkey-cli.\n" +
	"Exit codes, as in redis-cli: 0 the server has replied, even with an error, 1 it has not.\n"

// cli is what redis-cli is asked to do.
type cli struct {
	target
	user, password string
	db             string // "" for 0
	command        []string
}

// redisCLI is the subcommand redis-cli: it sends a command and prints the reply as redis-cli prints it into a pipe.
// Health checks of containers use redis-cli, and that is all it is for.
func redisCLI(args []string, out, errs io.Writer) int {
	c, err := cliOf(args, errs)
	if err != nil {
		if !errors.Is(err, errSaid) {
			fmt.Fprintln(errs, "redis-cli:", err)
		}
		return 1
	}
	conn, err := c.dial()
	if err == nil {
		err = conn.SetDeadline(time.Time{}) // a command may wait for ever
	}
	if err != nil {
		fmt.Fprintf(errs, "Could not connect to Redis at %s:%s: %s\n", c.host, c.port, config.ErrorText(err))
		return 1
	}
	defer conn.Close()
	if err := c.talk(respclient.New(conn, respclient.SmallBuffer), out, errs); err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}

// cliOf reads the options, and the command behind them.
func cliOf(args []string, errs io.Writer) (*cli, error) {
	c := &cli{target: target{host: "127.0.0.1", port: "6379"}, password: os.Getenv("REDISCLI_AUTH")}
	secure, insecure, authorities := false, false, ""
	flags := flag.NewFlagSet("redis-cli", flag.ContinueOnError)
	flags.StringVar(&c.host, "h", c.host, "")
	flags.StringVar(&c.port, "p", c.port, "")
	flags.StringVar(&c.password, "a", c.password, "")
	flags.StringVar(&c.password, "pass", c.password, "")
	flags.StringVar(&c.user, "user", "", "")
	flags.Func("u", "", func(at string) error { return c.at(at, &secure) })
	flags.BoolVar(&secure, "tls", false, "")
	flags.BoolVar(&insecure, "insecure", false, "")
	flags.StringVar(&authorities, "cacert", "", "")
	flags.Bool("no-auth-warning", false, "") // there is no such warning
	if !parseFlags(flags, args, errs) {
		return nil, errSaid
	}
	if c.command = flags.Args(); len(c.command) == 0 {
		return nil, errors.New("a command such as PING is missing: there is no interactive mode")
	}
	if !secure {
		return c, nil
	}
	c.tls = &tls.Config{InsecureSkipVerify: insecure}
	if authorities == "" {
		return c, nil
	}
	pem, err := os.ReadFile(authorities)
	if err != nil {
		return nil, err
	}
	c.tls.RootCAs = x509.NewCertPool()
	if !c.tls.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", authorities)
	}
	return c, nil
}

// at reads the URL of -u.
func (c *cli) at(at string, secure *bool) error {
	to, u, err := targetOf(at)
	if err != nil {
		return err
	}
	user, password := loginOf(u)
	c.host, c.port, *secure = to.host, to.port, *secure || to.tls != nil
	c.user, c.password = cmp.Or(user, c.user), cmp.Or(password, c.password)
	c.db = strings.TrimPrefix(u.Path, "/")
	return nil
}

// talk sends the command, and prints the reply. As redis-cli does, it continues if the server refuses the password or
// the database.
func (c *cli) talk(to *respclient.Conn, out, errs io.Writer) error {
	auth := []string{"AUTH", c.user, c.password}
	if c.user == "" {
		auth = []string{"AUTH", c.password}
	}
	if c.password != "" {
		if v, err := to.Do(auth...); err == nil && v.Kind == '-' {
			fmt.Fprintln(errs, "AUTH failed:", v.Str)
		}
	}
	if c.db != "" {
		if v, err := to.Do("SELECT", c.db); err == nil && v.Kind == '-' {
			fmt.Fprintf(errs, "SELECT %s failed: %s\n", c.db, v.Str)
		}
	}
	v, err := to.Do(c.command...)
	switch {
	case err == nil:
		_, err = io.WriteString(out, cliText(v)+lineEnd(c.command))
		return err
	case strings.EqualFold(c.command[0], "shutdown"):
		return nil // the server has gone
	case errors.Is(err, io.EOF):
		return errors.New("Error: Server closed the connection")
	}
	return fmt.Errorf("Error: %s", config.ErrorText(err))
}

// lineEnd is what follows a reply. That of some commands ends with a line break (redis-cli.c: cliSendCommand).
func lineEnd(command []string) string {
	switch strings.ToLower(strings.Join(command[:min(len(command), 2)], " ")) {
	case "client list", "client info", "cluster nodes", "cluster info", "latency graph", "latency doctor",
		"memory doctor", "memory malloc-stats":
		return ""
	}
	if first := command[0]; strings.EqualFold(first, "info") || strings.EqualFold(first, "lolwut") {
		return ""
	}
	return "\n"
}

// cliText is a reply as text (redis-cli.c: cliFormatReplyRaw).
func cliText(v resp.Value) string {
	switch v.Kind {
	case '-':
		return v.Str + "\n"
	case ':':
		return strconv.FormatInt(v.Int, 10)
	case '*':
		var lines []string
		for _, e := range v.Elems {
			lines = append(lines, cliText(e))
		}
		return strings.Join(lines, "\n")
	}
	return v.Str
}
