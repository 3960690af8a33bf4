package documents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// In a sandbox, /tmp is a folder of its own. So the copy of the source has the same path in every run, and
// Go's build cache knows what it has compiled there.
const (
	sandboxTop  = "/tmp/miniredisd"
	sandboxHome = "/tmp/home"
	sandboxBin  = "/tmp/bin"
	sandboxWork = "/tmp/session"
)

// Exit codes of the process in the sandbox.
const (
	exitPlayed = iota
	exitFailed
	exitMissing
	exitNoSandbox
)

// quietLimit is how long a command may do nothing without an end.
const quietLimit = 20 * time.Second

// TestMain is also the first process of a sandbox.
func TestMain(m *testing.M) {
	if name := os.Getenv("MINIREDISD_PAGE"); name != "" {
		os.Exit(inside(name))
	}
	amount.SideBySide(8) // the tests mostly wait
	os.Exit(m.Run())
}

// sandbox plays a page in namespaces of its own: processes, mounts and network. When its first process
// ends, the kernel ends all others. tmp becomes /tmp.
func sandbox(t *testing.T, tmp, name string, quiet time.Duration) (output string, code int) {
	t.Helper()
	redistest.Need(t, "bash")
	for _, folder := range []string{sandboxTop, sandboxHome, sandboxBin, sandboxWork} {
		require.NoError(t, os.MkdirAll(filepath.Join(tmp, filepath.Base(folder)), 0o755))
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = environment(t, "MINIREDISD_PAGE="+name, "MINIREDISD_TMP="+tmp, "MINIREDISD_QUIET="+quiet.String())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC,
		Setsid:     true,
		Pdeathsig:  syscall.SIGKILL, // a test that is killed ends its sandbox
	}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return string(out), failed.ExitCode()
	}
	if err != nil {
		return "no sandbox: " + err.Error(), exitNoSandbox
	}
	return string(out), exitPlayed
}

// environment has what a person's shell has. Only Go's caches and the programs are shared with the machine. There is
// no network: Go takes a module from the cache of modules, or does not find it.
func environment(t *testing.T, more ...string) []string {
	t.Helper()
	needed := filepath.SplitList(os.Getenv("PATH"))
	env := []string{"PATH=" + sandboxBin + ":" + os.Getenv("PATH"), "HOME=" + sandboxHome, "TERM=dumb",
		"LANG=C.UTF-8", "GOSUMDB=off", "GOTOOLCHAIN=local"}
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOROOT", "GOFLAGS").Output()
	require.NoError(t, err)
	values := strings.Split(string(out), "\n")
	cache, modules, flags := values[0], values[1], values[3]
	needed = append(needed, values[:3]...)
	env = append(env, "GOCACHE="+cache, "GOMODCACHE="+modules, "GOPROXY=file://"+modules+"/cache/download",
		"GOFLAGS="+flags, shownVariable+"="+strings.Join(inTmp(needed), ":"))
	env = append(env, shownVariable+"="+strings.Join(inTmp(needed), ":"))
	return append(env, more...)
}

// shownVariable lists folders in the machine's /tmp that stay where they are in the sandbox, with colons between.
const shownVariable = "MINIREDISD_SHOWN"

// inTmp returns the folders that lie in /tmp, by their name or behind a link.
func inTmp(folders []string) (all []string) {
	for _, folder := range folders {
		behind, err := filepath.EvalSymlinks(folder)
		if err != nil {
			continue // there is none
		}
		for _, path := range []string{filepath.Clean(folder), behind} {
			if strings.HasPrefix(path+"/", "/tmp/") {
				all = append(all, path)
			}
		}
	}
	slices.Sort(all) // a folder comes before what it contains
	return slices.Compact(all)
}

// show makes folders of the machine's /tmp appear in tmp, which is going to be /tmp.
func show(tmp string, folders []string) error {
	for _, folder := range folders {
		name := strings.TrimPrefix(folder, "/tmp")
		if slices.Contains([]string{"", "/" + filepath.Base(sandboxTop), "/" + filepath.Base(sandboxHome),
			"/" + filepath.Base(sandboxBin), "/" + filepath.Base(sandboxWork)}, name) {
			return fmt.Errorf("the sandbox has a folder of its own at %s, which PATH or a cache of Go names", folder)
		}
		if err := os.MkdirAll(tmp+name, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(folder, tmp+name, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mount %s: %w", folder, err)
		}
	}
	return nil
}

// inside is the first process of a sandbox. It plays a page and returns its exit code.
func inside(name string) int {
	// The jobs of a script in the background ignore these signals, and so do their children. A child of a program that
	// handles a signal does what is usual.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGQUIT, unix.SIGHUP)
	if err := furnish(os.Getenv("MINIREDISD_TMP")); err != nil {
		fmt.Println("no sandbox:", err)
		return exitNoSandbox
	}
	quiet, err := time.ParseDuration(os.Getenv("MINIREDISD_QUIET"))
	if err == nil {
		for _, name := range []string{"MINIREDISD_PAGE", "MINIREDISD_TMP", "MINIREDISD_QUIET", shownVariable} {
			_ = os.Unsetenv(name)
		}
		err = playFile(name, quiet)
	}
	if err != nil {
		fmt.Println(err)
	}
	switch {
	case errors.Is(err, errMissing):
		return exitMissing
	case err != nil:
		return exitFailed
	}
	return exitPlayed
}

// furnish makes the namespaces of this process a machine: an empty /tmp, its processes alone in /proc, a
// loopback device. "ci-host", a name in the pages, is this machine.
func furnish(tmp string) error {
	hosts := filepath.Join(tmp, "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost ci-host\n::1 localhost\n"), 0o644); err != nil {
		return err
	}
	mounts := []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"proc", "/proc", "proc", 0},
		{hosts, "/etc/hosts", "", unix.MS_BIND},
		{tmp, "/tmp", "", unix.MS_BIND | unix.MS_REC},
	}
	for _, m := range mounts {
		if m.target == "/tmp" {
			if err := show(tmp, filepath.SplitList(os.Getenv(shownVariable))); err != nil {
				return err
			}
		}
		if err := unix.Mount(m.source, m.target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return os.Chdir(sandboxTop)
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	request := uintptr(unsafe.Pointer(lo))
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, request); errno != 0 {
		return errno
	}
	return nil
}

func playFile(name string, quiet time.Duration) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	p, err := read(name, string(text))
	if err != nil {
		return err
	}
	s := &session{page: p, log: os.Stdout, folder: sandboxWork, quiet: quiet, clis: map[string]*cli{}}
	return s.play()
}
