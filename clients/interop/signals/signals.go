// Package signals ends a tool when its user wants that, or has left.
//
//	SIGINT, SIGTERM ──────────────────────────────> the context is done, and the tool ends its servers
//	SIGPIPE ──> has the output a reader? ──> no ──> the same
//	                                     └─> yes ─> nothing: the tool wrote to a client that has ended
//
// The signals of "run redlock | head" and of a client that was killed are the same one.
package signals

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Context returns a context for a tool that prints to out. Nothing catches the signals after stop.
func Context(out *os.File) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	go obey(signals, out, cancel)
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}

func obey(signals <-chan os.Signal, out *os.File, end func()) {
	for s := range signals {
		if s != syscall.SIGPIPE || !hasReader(out) {
			end()
		}
	}
}

// hasReader reports whether somebody may still read what is written to out.
func hasReader(out *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(out.Fd())}}
	_, err := unix.Poll(fds, 0)
	return err != nil || fds[0].Revents&(unix.POLLERR|unix.POLLHUP) == 0
}
