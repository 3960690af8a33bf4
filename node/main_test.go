package node_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

func TestMain(m *testing.M) {
	amount.SideBySide(16)   // many tests wait most of their time
	debug.SetGCPercent(400) // a hundred small heaps in turn: collecting them was an eighth of the time
	os.Exit(m.Run())
}
