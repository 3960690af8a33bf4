package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// mayTrace skips the test where strace is missing, or the kernel forbids it.
func mayTrace(t *testing.T) {
	t.Helper()
	redistest.Need(t, "strace")
	out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("strace: %v: %s", err, out)
	}
	require.NoError(t, err, "%s", out)
}

// fsyncOrder follows the system calls of a server whose clients do nothing but INCR n.
type fsyncOrder struct {
	appended, durable int64 // numbers in the append only file, and those that an fsync covers
	begun             map[string]int64
	replies           int
}

var (
	calledAs = regexp.MustCompile(`^(\d+) +(\w+)\((\d+)<([^>]*)>`)
	resumed  = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>`)
	number   = regexp.MustCompile(`:(\d+)\\r\\n`)
)

// line reads a line of strace. A reply with a number that is not durable is an error.
func (o *fsyncOrder) line(text string) error {
	if r := resumed.FindStringSubmatch(text); r != nil && strings.HasSuffix(r[2], "sync") {
		if covers, ours := o.begun[r[1]]; ours && strings.HasSuffix(text, "= 0") {
			o.durable = max(o.durable, covers)
		}
		delete(o.begun, r[1])
		return nil
	}
	call := calledAs.FindStringSubmatch(text)
	if call == nil {
		return nil
	}
	thread, name, file := call[1], call[2], call[4]
	switch inFile := strings.HasSuffix(file, ".incr.aof"); {
	case inFile && strings.HasSuffix(name, "sync"):
		o.begun[thread] = o.appended
		if strings.HasSuffix(text, "= 0") {
			o.durable = o.appended
		}
	case inFile:
		o.appended += int64(strings.Count(text, "INCR"))
	case !strings.Contains(file, "socket:") && !strings.Contains(file, "TCP"):
	default:
		for _, reply := range number.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.ParseInt(reply[1], 10, 64)
			if o.replies++; n > o.durable {
				return fmt.Errorf("the reply %d comes after the fsync of %d: %s", n, o.durable, text)
			}
		}
	}
	return nil
}

// With appendfsync always, every reply to a write comes after the fsync that covers it. kill -9 cannot show that,
// because the page cache survives it.
func TestEachReplyComesAfterTheFsyncThatCoversIt(t *testing.T) {
	mayTrace(t)
	for _, more := range []string{
		"", "--io-threads 3 --io-threads-do-reads yes", "--exec queue", "--multiplexer poll",
	} {
		t.Run(more, func(t *testing.T) {
			dir := t.TempDir()
			calls := filepath.Join(dir, "calls")
			args := append([]string{"-f", "-y", "-s", "1000000", "-o", calls, "-e",
				"trace=write,writev,pwrite64,sendto,sendmsg,fsync,fdatasync", filepath.Join(bin, "miniredisd"),
				"--port", "0", "--dir", dir, "--appendonly", "yes", "--appendfsync", "always"}, strings.Fields(more)...)
			p := startProgram(t, dir, "strace", "", args...)
			addr := fmt.Sprintf("127.0.0.1:%d", p.port())
			var clients sync.WaitGroup
			for range 4 {
				clients.Go(func() {
					c, err := redistest.Connect(addr)
					for i := 0; i < 20 && err == nil; i++ {
						_, err = c.Conn.Do("INCR", "n")
					}
				})
			}
			clients.Wait()
			require.NoError(t, p.dial().Send([]byte("SHUTDOWN NOSAVE\r\n")))
			p.exit()
			text, err := os.ReadFile(calls)
			require.NoError(t, err)
			o := fsyncOrder{begun: map[string]int64{}}
			for _, line := range strings.Split(string(text), "\n") {
				require.NoError(t, o.line(line))
			}
			require.Equal(t, 80, o.replies)
			require.Equal(t, int64(80), o.durable)
		})
	}
}

func TestTheOrderOfCallsFindsAReplyBeforeTheFsync(t *testing.T) {
	const (
		write = `7 write(5<appendonly.aof.1.incr.aof>, "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", 21) = 21`
		reply = `7 write(9<socket:[1]>, ":1\r\n", 4) = 4`
		begin = `8 fsync(5<appendonly.aof.1.incr.aof> <unfinished ...>`
		end   = `8 <... fsync resumed>) = 0`
		eio   = `8 <... fsync resumed>) = -1 EIO (Input/output error)`
	)
	for _, c := range []struct {
		lines []string
		ok    bool
	}{
		{[]string{write, begin, end, reply}, true},
		{[]string{write, begin, reply, end}, false},
		{[]string{reply, write, begin, end}, false},
		{[]string{begin, write, end, reply}, false},
		{[]string{write, begin, eio, reply}, false},
	} {
		o := fsyncOrder{begun: map[string]int64{}}
		var err error
		for _, line := range c.lines {
			if err == nil {
				err = o.line(line)
			}
		}
		require.Equal(t, c.ok, err == nil, c.lines)
	}
}
