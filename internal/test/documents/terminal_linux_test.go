package documents

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A terminal is a pseudo terminal with a program on it, which sees what it would see under a person's
// hands: redis-cli formats its replies, and Ctrl-C reaches the job in the foreground.
type terminal struct {
	master, slave *os.File
	chunks        chan []byte // what the program writes
	unread        string      // written, and not yet looked at
	ended         chan struct{}
	state         string // of the program, once it has ended
	pid           int
}

// open starts a program on a new terminal. extra become descriptors 3 and up.
func open(name string, args []string, extra ...*os.File) (*terminal, error) {
	master, slave, err := pair()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = slave, slave, slave, extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &terminal{master: master, slave: slave, chunks: make(chan []byte, 16), ended: make(chan struct{}),
		pid: cmd.Process.Pid}
	go func() {
		for {
			chunk := make([]byte, 64<<10)
			n, err := master.Read(chunk)
			if err != nil {
				return
			}
			t.chunks <- chunk[:n]
		}
	}()
	go func() {
		_ = cmd.Wait()
		t.state = cmd.ProcessState.String()
		close(t.ended)
	}()
	return t, nil
}

// pair opens a pseudo terminal that neither echoes what is typed nor changes what is written.
func pair() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	mode, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		return nil, nil, err
	}
	mode.Oflag &^= unix.OPOST
	mode.Lflag &^= unix.ECHO
	mode.Lflag |= unix.NOFLSH // Ctrl-C does not throw away what was written before it
	return master, slave, unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, mode)
}

// await reads until enough says yes about what is unread. It is an error if the program ends before. It is
// an error if the whole sandbox does nothing for the time quiet, or if all takes fifteen times as long.
func (t *terminal) await(quiet time.Duration, enough func(unread string) bool) error {
	timeout := time.After(15 * quiet)
	look := time.NewTicker(5 * time.Millisecond) // enough may depend on more than the text
	defer look.Stop()
	idle, ended := watchIdle(), t.ended
	for !enough(t.unread) {
		select {
		case chunk := <-t.chunks:
			if t.unread += string(chunk); len(t.unread) > maxUnread {
				return fmt.Errorf("it writes without end: %d bytes", len(t.unread))
			}
			idle = watchIdle()
		case <-look.C:
			if idle.since(time.Now()) > quiet {
				return fmt.Errorf("it neither ends nor serves: nothing has happened for %v", quiet)
			}
		case <-ended:
			ended = nil
			timeout = time.After(2 * time.Second) // for what it wrote last
		case <-timeout:
			if ended == nil {
				return fmt.Errorf("the program of this terminal has ended: %s", t.state)
			}
			return fmt.Errorf("it neither ends nor serves, for %v", 15*quiet)
		}
	}
	return nil
}

const maxUnread = 4 << 20

// take returns what is unread up to the end of a text, and forgets it.
func (t *terminal) take(end int) string {
	text := t.unread[:end]
	t.unread = t.unread[end:]
	return text
}

func (t *terminal) typeIn(text string) error {
	_, err := io.WriteString(t.master, text)
	return err
}

// naps returns how often the program has gone to sleep, and whether it sleeps now.
func (t *terminal) naps() (n int, asleep bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.pid))
	if err != nil {
		return 0, false
	}
	if at := strings.Index(string(text), "\nvoluntary_ctxt_switches:"); at >= 0 {
		_, _ = fmt.Sscanf(string(text[at:]), "\nvoluntary_ctxt_switches: %d", &n)
	}
	return n, strings.Contains(string(text), "\nState:\tS")
}
