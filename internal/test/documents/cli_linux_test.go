package documents

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"
)

// A cli is a terminal with an interactive redis-cli.
type cli struct {
	*terminal
	prompt string // as it stands there now
}

// openCLI starts a redis-cli by its prompt: "A" goes to the server on 6379, "127.0.0.1:7001" to that one.
func openCLI(name string, quiet time.Duration) (*cli, error) {
	var args []string
	if host, port, err := net.SplitHostPort(name); err == nil {
		args = []string{"-h", host, "-p", port}
	}
	t, err := open("redis-cli", args)
	if err != nil {
		return nil, err
	}
	c := &cli{terminal: t}
	if text, err := c.reply(quiet); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return c, nil
}

// reply waits for the next prompt and returns what stands before it. A subscriber gets no prompt: its reply is
// complete with the number of its channels.
func (c *cli) reply(quiet time.Duration) (string, error) {
	prompts := regexp.MustCompile(`(?m)^(not connected|[\w.-]+:\d+(?:\[\d+\])?(?:\([A-Za-z ]+\))?)> $|` +
		`^Reading messages\.\.\. (?:.*\n)*?3\) \(integer\) \d+\n`)
	var at []int
	err := c.await(quiet, func(text string) bool {
		at = prompts.FindStringSubmatchIndex(text)
		return at != nil && (at[2] < 0 || at[1] == len(text))
	})
	if err != nil {
		return c.take(len(c.unread)), err
	}
	if at[2] >= 0 {
		c.prompt = c.unread[at[2]:at[3]]
	}
	return c.take(at[1])[:at[0]], nil
}

// do types a command and returns the reply. Without a reply on the page it waits until redis-cli has sent
// the command and sleeps: then another terminal may go on.
func (c *cli) do(s step, quiet time.Duration) (string, error) {
	if strings.Contains(s.prompt, ":") && s.prompt != c.prompt {
		return "", fmt.Errorf("the prompt of redis-cli is %s>", c.prompt)
	}
	before, _ := c.naps()
	if err := c.typeIn(s.text + "\n"); err != nil {
		return "", err
	}
	if len(s.want) > 0 {
		return c.reply(quiet)
	}
	return "", c.await(quiet, func(string) bool {
		naps, asleep := c.naps()
		return asleep && naps > before
	})
}
