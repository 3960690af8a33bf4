package orphans

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Orphans finds and ends the processes that programs leave behind, whatever group, session or environment
// they have. This process becomes the parent of each process below it whose own parent has ended. So every
// process of a program is a child of this one in the end, and none can leave.
type Orphans struct {
	mu     sync.Mutex // the goroutine of Adopt reaps
	others []int      // children that somebody else waits for: those from before, and the programs
}

// Adopt makes this process the parent of orphans, until it ends. A goroutine reaps those that end, until
// the caller calls stop.
func Adopt() (o *Orphans, stop func(), err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, nil, err
	}
	o = &Orphans{}
	if o.others, err = children(); err != nil {
		return nil, nil, err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			_, _ = o.living() // End reports the error
		}
	}()
	return o, func() { signal.Stop(ended); close(ended) }, nil
}

// Start starts a program, for which the caller waits.
func (o *Orphans) Start(cmd *exec.Cmd) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := cmd.Start()
	if err == nil {
		o.others = append(o.others, cmd.Process.Pid)
	}
	return err
}

// Over tells that the caller has waited for a program. Its number may come again.
func (o *Orphans) Over(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.others = slices.DeleteFunc(o.others, func(other int) bool { return other == pid })
}

// living reaps the orphans that have ended, and returns the others.
func (o *Orphans) living() ([]int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all, err := children()
	return slices.DeleteFunc(all, func(pid int) bool {
		if slices.Contains(o.others, pid) {
			return true
		}
		ended, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		return ended == pid || err != nil
	}), err
}

// End kills orphans until there are none. The children of a killed process become orphans, too. It returns
// how many orphans were outside of the groups, and which ones still live after the limit.
func (o *Orphans) End(groups []int, limit time.Duration) (strays int, alive []int, err error) {
	killed, none := map[int]bool{}, 0
	for deadline := time.Now().Add(limit); ; {
		alive, err = o.living()
		if none++; len(alive) > 0 {
			none = 0
		}
		if err != nil || none == looks || none > 0 && isChildless() || time.Now().After(deadline) {
			return strays, alive, err
		}
		waits := true
		for _, pid := range alive {
			if killed[pid] {
				continue
			}
			waits, killed[pid] = false, true
			if group, err := syscall.Getpgid(pid); err == nil && !slices.Contains(groups, group) {
				strays++
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // a process of another user stays among the living
		}
		if waits {
			time.Sleep(moment)
		}
	}
}

const (
	// moment is the pause between two looks at processes that are being killed.
	moment = 2 * time.Millisecond
	// looks is how often no orphan must be found. /proc has the children of each thread in a file of its own, so one
	// look can miss a process that gets this one as its parent meanwhile.
	looks = 10
)

// isChildless reports whether this process has no child at all, which the kernel knows in one look.
func isChildless() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == unix.ECHILD
}

// children returns the children of this process, also those that have ended and that nobody has waited
// for.
func children() ([]int, error) {
	pids, threads := childrenOf("self")
	if threads == 0 {
		return nil, fmt.Errorf("/proc/self/task/*/children: %w", os.ErrNotExist)
	}
	return pids, nil
}

// childrenOf returns the children of a process, and how many threads it has.
func childrenOf(process string) (pids []int, threads int) {
	paths, _ := filepath.Glob("/proc/" + process + "/task/*/children") // the pattern is right
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended, and its children belong to another one
		}
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil { // the kernel writes numbers
				pids = append(pids, pid)
			}
		}
	}
	return pids, len(paths)
}

// Below returns a process and all that come from it, as long as their parents live.
func Below(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		pids, _ := childrenOf(strconv.Itoa(all[i]))
		all = append(all, pids...)
	}
	return all
}

// Marked returns the processes that have mark, a variable with its value, in their environment.
func Marked(mark string) (pids []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // Glob would list each folder as well
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue // it is no process
		}
		environ, err := os.ReadFile("/proc/" + name + "/environ")
		if err != nil || !bytes.Contains(environ, []byte(mark+"\x00")) {
			continue // it has ended, or is somebody else's
		}
		pids = append(pids, pid)
	}
	return pids
}

// Seclude keeps other processes of the same user away from the memory, the descriptors and the environment of this
// one: /proc and ptrace(2) refuse them. It does not keep them from sending signals. Root gets everywhere.
func Seclude() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
