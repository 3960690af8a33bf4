//go:build !linux

package reactor

// An undefined name is the one way to have the compiler say something.
var _ = miniredisd_runs_on_Linux_only__it_needs_epoll
