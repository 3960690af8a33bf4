package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// driver is what bash runs on a terminal: files whose names come on descriptor 3. Behind each it writes
// two exit statuses between bytes 1E: that of the file, and that of the last command in it which failed,
// such as one inside a loop. If the shell ends, a full stop follows them: Ctrl-C may end it, when it ends a
// program. Job control is as in a shell that a person uses.
const driver = `
trap : INT
trap 'failed=$?' ERR
trap 'printf "\036%d %d.\036" "$?" "$failed"' EXIT
set -m -o pipefail
while IFS= read -r file <&3; do
	failed=0
	. "$file" 3<&-
	printf '\036%d %d\036' "$?" "$failed"
done`

// A shell is a terminal with bash. Between two commands it keeps its folder, variables and jobs.
type shell struct {
	*terminal
	orders  *os.File
	folder  string // for its scripts
	scripts int
	serving string // the command that serves in the foreground, and its page and line
}

func openShell(folder string) (*shell, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	t, err := open("bash", []string{"--norc", "--noprofile", "-c", driver}, r)
	if err != nil {
		return nil, err
	}
	folder, err = os.MkdirTemp(folder, "shell")
	return &shell{terminal: t, orders: w, folder: folder}, err
}

// A result is what a command did.
type result struct {
	output string
	status int
	failed int  // the status of the last command in it that failed
	serves bool // it has not ended: it is a server, and ready
	last   bool // the shell has ended, too
}

// saysGoodbye reports whether a server has ended in good order.
func (r result) saysGoodbye() bool { return strings.Contains(r.output, "bye bye") }

// run executes a command. It returns when the command has ended or serves. A command of several lines, such
// as a loop, does not serve: a server in it runs in its background.
func (s *shell) run(command string, quiet time.Duration) (result, error) {
	s.scripts++
	script := filepath.Join(s.folder, strconv.Itoa(s.scripts))
	if err := os.WriteFile(script, []byte(command+"\n"), 0o600); err != nil {
		return result{}, err
	}
	s.take(len(s.unread)) // what others have written since the last command
	if _, err := fmt.Fprintln(s.orders, script); err != nil {
		return result{}, fmt.Errorf("the program of this terminal has ended: %w", err)
	}
	serves, oneLine := false, !strings.Contains(command, "\n")
	err := s.await(quiet, func(text string) bool {
		_, ended := status(text)
		serves = !ended && oneLine && servesText(text)
		return ended || serves
	})
	if serves || err != nil {
		return result{output: s.take(len(s.unread)), serves: serves}, err
	}
	return s.ended(), nil
}

// status finds the exit status behind the output of a command.
func status(text string) (at []int, found bool) {
	at = regexp.MustCompile(`\x1e(\d+) (\d+)(\.?)\x1e`).FindStringSubmatchIndex(text)
	return at, at != nil
}

// ended takes the output of a command that has ended.
func (s *shell) ended() result {
	at, _ := status(s.unread)
	code, _ := strconv.Atoi(s.unread[at[2]:at[3]])
	failed, _ := strconv.Atoi(s.unread[at[4]:at[5]])
	last := at[6] < at[7]
	notices := regexp.MustCompile(`(?m)^\[\d+\][-+ ] .*\n`) // of bash, about the jobs in the background
	output := notices.ReplaceAllString(s.take(at[1])[:at[0]], "")
	return result{output: output, status: code, failed: failed, last: last}
}

// servesText reports whether a program says that it serves. A reader waits for these words, too.
func servesText(text string) bool {
	return strings.Contains(text, "Ready to accept connections") || strings.Contains(text, "(Ctrl-C ends this)")
}

// interrupt presses Ctrl-C and waits until the shell is free again. If the shell has ended, too, a new one
// takes its place.
func (s *shell) interrupt(quiet time.Duration) (result, error) {
	s.serving = ""
	if err := s.typeIn("\x03"); err != nil {
		return result{}, err
	}
	err := s.await(quiet, func(text string) bool { _, ended := status(text); return ended })
	if err != nil {
		return result{output: s.take(len(s.unread))}, err
	}
	r := s.ended()
	if r.status != 0 && !r.saysGoodbye() { // strace ends before the server
		_ = s.await(quiet/10, func(text string) bool { return result{output: text}.saysGoodbye() })
		r.output += s.take(len(s.unread))
	}
	if r.last {
		fresh, err := openShell(filepath.Dir(s.folder))
		if err != nil {
			return r, err
		}
		*s = *fresh
	}
	return r, nil
}
