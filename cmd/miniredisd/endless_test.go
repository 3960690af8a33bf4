package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// endless is a file that begins with some text and has another one for ever.
type endless struct {
	first, rest string
	at          int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.first != "" {
		n := copy(b, e.first)
		e.first = e.first[n:]
		return n, nil
	}
	n := copy(b, e.rest[e.at:])
	e.at = (e.at + n) % len(e.rest)
	return n, nil
}

// mostMemory is in bytes. It is what a subcommand may take to find out that its input has no end.
const mostMemory = 128 << 20

// refuses runs a subcommand over an input without an end. It wants an error and little memory.
func refuses(t *testing.T, why string, in *endless, args ...string) {
	t.Helper()
	var errs strings.Builder
	c := exec.Command(filepath.Join(bin, "miniredisd"), args...)
	c.Dir, c.Stderr = t.TempDir(), &errs
	if in != nil {
		c.Stdin = in
	}
	require.Error(t, c.Run())
	require.Contains(t, errs.String(), why, args)
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(t, ok)
	memory := usage.Maxrss
	if runtime.GOOS == "linux" {
		memory *= 1024 // macOS counts in bytes
	}
	require.Less(t, memory, int64(mostMemory), args)
}

func TestSubcommandsReadNoMoreThanTheyNeed(t *testing.T) {
	const head = `{"format":"miniredisd-history/1","master":1,"masters":1,"entries":`
	rest := strings.Repeat("x", 1<<16)
	for _, subcommand := range []string{"verdict", "doctor"} {
		refuses(t, subcommand+": -: is not a history: 1048576 bytes", &endless{first: `{"a":"`, rest: rest}, subcommand, "-")
		refuses(t, subcommand+": -: there are two histories of master 1",
			&endless{first: "[", rest: head + "[]},"}, subcommand, "-")
		refuses(t, subcommand+": -: is not a history: it has more than 65536 entries",
			&endless{first: head + "[", rest: `{"cmd":["GET","lock:a"],"key":"lock:a"},`}, subcommand, "-")
		refuses(t, subcommand+": /dev/zero: is not JSON", nil, subcommand, "/dev/zero")
	}
	refuses(t, "watch: /dev/zero: not a recording", nil, "watch", "/dev/zero")
	refuses(t, "watch: /dev/stdin: not a recording", &endless{rest: rest}, "watch", "/dev/stdin")
}
