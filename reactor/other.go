//go:build !linux && !darwin

package reactor

// An undefined name makes the compiler print this message on every other system.
var _ = miniredisd_runs_on_Linux_and_macOS_only
