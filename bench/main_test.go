package main

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// testDir holds the programs that several tests start.
var testDir string

// builtServer builds miniredisd once for all tests.
var builtServer = sync.OnceValues(func() (string, error) { return build(testDir, "cmd/miniredisd") })

func TestMain(m *testing.M) {
	var err error
	if testDir, err = os.MkdirTemp("", "bench"); err != nil {
		panic(err)
	}
	// Programs that are built as go test builds its packages share these with it.
	if cgo, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err == nil {
		os.Setenv("CGO_ENABLED", strings.TrimSpace(string(cgo)))
	}
	code := m.Run()
	os.RemoveAll(testDir)
	os.Exit(code)
}
