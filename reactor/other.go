//go:build !linux

package reactor

// An undefined name makes the compiler print this message on every other system.
var _ = miniredisd_runs_on_Linux_only__it_needs_epoll
