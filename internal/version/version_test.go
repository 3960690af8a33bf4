package version

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABuildIsOneLine(t *testing.T) {
	b := Build{Version: "0.2.0", Commit: "1234abcd5678", Go: "go1.26.0", Platform: "linux/amd64"}
	require.Equal(t, "0.2.0 (commit 1234abcd, go1.26.0, linux/amd64)", b.String())
	b.Dirty = true
	require.Equal(t, "0.2.0 (commit 1234abcd with changes, go1.26.0, linux/amd64)", b.String())
	b.Commit, b.Dirty = "", false
	require.Equal(t, "0.2.0 (commit unknown, go1.26.0, linux/amd64)", b.String())
}

func TestTheRunningProgramKnowsItsVersionAndPlatform(t *testing.T) {
	b := Of()
	require.Equal(t, Version, b.Version)
	require.Equal(t, runtime.Version(), b.Go)
	require.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, b.Platform)
}
