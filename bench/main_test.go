package main

import (
	"os"
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
	code := m.Run()
	os.RemoveAll(testDir)
	os.Exit(code)
}
