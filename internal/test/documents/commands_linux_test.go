package documents

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A command is a line of a block, or several that belong together, such as those of a loop.
type command struct {
	line int // behind the fence, from 1
	text string
}

// complete joins the lines of a block to commands: bash says whether one is complete.
func complete(lines []string) (commands []command, err error) {
	var part []string
	for i, line := range lines {
		if bare(line) == "" && len(part) == 0 {
			continue
		}
		part = append(part, line)
		c := command{i + 2 - len(part), strings.Join(part, "\n")}
		check := exec.Command("bash", "-n", "-c", c.text)
		if complaint, err := check.CombinedOutput(); err == nil && len(complaint) == 0 && !strings.HasSuffix(line, `\`) {
			commands, part = append(commands, c), nil
		}
	}
	if len(part) > 0 {
		return nil, fmt.Errorf("this is not a complete command: %s", strings.Join(part, "\n"))
	}
	return commands, nil
}

// inBackground returns a command. If it ends with &, its output goes to a file, and its job is noted.
func inBackground(text string, line int, folder string) string {
	end := bare(text[strings.LastIndex(text, "\n")+1:])
	if !strings.HasSuffix(end, "&") || strings.HasSuffix(end, "&&") {
		return text
	}
	return fmt.Sprintf("{\n%s\n} >>%s 2>&1\ndocumented+=(\"$!:%d\")", text, filepath.Join(folder, "background"), line)
}

// endedJobs prints a line for each job in the background that has ended with an error. One that was killed
// has ended because the page wanted it.
const endedJobs = `for job in "${documented[@]}"; do
	if ! kill -0 "${job%%:*}" 2>/dev/null; then
		wait "${job%%:*}" 2>/dev/null
		code=$?
		case $code in
		0 | 130 | 137 | 143) ;;
		*) echo "${job#*:}: the command in the background has ended with exit status $code" ;;
		esac
	fi
done`

// endJobs ends what runs in the background.
const endJobs = `for job in $(jobs -p); do
	kill -- "-$job" 2>/dev/null
	kill -CONT -- "-$job" 2>/dev/null
done
wait`

// listening returns the TCP ports on which somebody listens, in this network namespace.
func listening() (ports []int) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table)
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 4 || fields[3] != "0A" {
				continue
			}
			_, hex, _ := strings.Cut(fields[1], ":")
			if port, err := strconv.ParseInt(hex, 16, 32); err == nil {
				ports = append(ports, int(port))
			}
		}
	}
	return ports
}

// anyAnswers reports whether one of the ports that were not there before answers a PING.
func anyAnswers(ports, before []int) bool {
	return slices.ContainsFunc(ports, func(port int) bool {
		return !slices.Contains(before, port) && ping(port) == nil
	})
}

func ping(port int) error {
	c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(c, "PING\r\n"); err != nil {
		return err
	}
	reply := make([]byte, 7)
	if _, err := io.ReadFull(c, reply); err != nil {
		return err
	}
	if s := string(reply); s != "+PONG\r\n" && s != "-NOAUTH" {
		return errors.New(s)
	}
	return nil
}
