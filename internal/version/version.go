// Package version has the version of miniredisd, and what the program was built from.
package version

import (
	"runtime"
	"runtime/debug"
)

// Version is the version of miniredisd. The version of Redis that it speaks is config.RedisVersion.
const Version = "0.2.0"

// Build is what a program was built from.
type Build struct {
	Version  string // of miniredisd
	Commit   string // 40 hex digits, "" if the build does not know it, as with go run
	Dirty    bool   // the source had changes that the commit does not have
	Go       string // such as go1.26.0
	Platform string // such as linux/amd64
}

// Of returns the build of the running program. go build notes the commit in a program if it builds
// inside a clone of the repository.
func Of() Build {
	b := Build{Version: Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	return b
}

// String returns a line such as "0.2.0 (commit 1234abcd, go1.26.0, linux/amd64)".
func (b Build) String() string {
	commit := "unknown"
	if b.Commit != "" {
		commit = b.Commit[:min(len(b.Commit), 8)]
	}
	if b.Dirty {
		commit += " with changes"
	}
	return b.Version + " (commit " + commit + ", " + b.Go + ", " + b.Platform + ")"
}
